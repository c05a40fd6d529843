"""A report for people and for programs: a terminal table, Markdown, CSV, JSON."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ekr.bench.metrics import METRICS, Metric
from ekr.bench.report import Figure, RecipeReport, Report

if TYPE_CHECKING:
    from rich.console import RenderableType

ABSENT = "–"
_NARROW, _ROOMY, _WIDE = 76, 100, 124
_NAME = 16
_GROUPS = {"main": "Overview", "answers": "Answers", "ranking": "Ranking of gold passages"}
_SHORT = {
    "correctness": "Correct\n/5",
    "hallucinated": "Halluci-\nnated",
    "traps_handled": "Traps",
    "evidence_top_5": "Evidence\ntop 5",
    "facts_in_context": "Facts in\ncontext",
    "page_cited": "Page\ncited",
    "latency_p50": "p50",
    "latency_p95": "p95",
    "page_exact": "Exact\npage",
    "facts_in_answer": "Facts in\nanswer",
    "facts_in_context_no_traps": "Facts in\ncontext,\ntraps apart",
    "passages_sent": "Passages\nsent",
}


def cell(metric: Metric, figure: Figure) -> str:
    """One cell: the figure, or its range over the repeats; `–` where nothing was measured.

    Shares of trap questions are counts out of the number of traps, as people compare them, where that is the same
    in every repeat.
    """
    if figure.low is None or figure.high is None:
        return ABSENT
    if metric.key == "traps_handled" and set(figure.overs) <= {0, figure.over}:
        low, high = (_number(value * figure.over) for value in (figure.low, figure.high))
        return f"{low}/{figure.over}" if low == high else f"{low} – {high}/{figure.over}"
    number, suffix = _FORMATS[metric.unit]
    low, high = number(figure.low), number(figure.high)
    return (low if low == high else f"{low} – {high}") + suffix


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _seconds(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


_FORMATS: Mapping[str, tuple[Callable[[float], str], str]] = {
    "share": (lambda value: f"{100 * value:.1f}", " %"),
    "score": (lambda value: f"{value:.2f}", ""),
    "ratio": (lambda value: f"{value:.3f}", ""),
    "number": (lambda value: f"{value:.1f}", ""),
    "seconds": (_seconds, " s"),
}


def number_text(unit: str, value: float) -> str:
    """One figure with its unit; negative ones (differences) too."""
    number, suffix = _FORMATS[unit]
    return ("-" if value < 0 else "") + number(abs(value)) + suffix


def difference_text(unit: str, value: float) -> str:
    """A difference of two figures with its unit; that of two shares is in points, not in percent of either."""
    return number_text(unit, value).replace(" %", " points")


def interval_text(unit: str, low: float, high: float) -> str:
    """An interval of differences, with its unit once."""
    return f"{difference_text(unit, low).partition(' ')[0]} to {difference_text(unit, high)}"


def rich_table(report: Report, width: int) -> list[RenderableType]:
    """What to print on a terminal of `width` columns: a table a group of columns, then the notes.

    A group in which nothing was measured is left out, the first one excepted. A narrow terminal gets one
    list of figures a recipe.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for group, title in _GROUPS.items():
        metrics = [metric for metric in METRICS if metric.group == group]
        measured = any(recipe.metrics[m.key].value is not None for recipe in report.recipes for m in metrics)
        if not measured and group != "main":
            continue
        if width < _NARROW:
            parts += _lists(report, metrics)
            continue
        table = Table(
            title=title,
            title_justify="left",
            title_style="bold",
            box=SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1 if width >= _ROOMY else 0),
        )
        headings, rows, names = _layout(report, metrics, width)
        table.add_column("Recipe", overflow="fold", width=names)
        for heading in headings:
            table.add_column(heading, justify="right", overflow="fold")
        for recipe, cells in zip(report.recipes, rows, strict=True):
            table.add_row(Text(recipe.recipe), *cells)
        parts.append(table)
    return parts + [Text(note, style="dim") for note in report.notes]


def _layout(report: Report, metrics: Sequence[Metric], width: int) -> tuple[list[str], list[list[str]], int]:
    """Headings, cells and the width of names: short headings where there is no room, then ranges on two lines.

    What is left over is for names, which have the columns of a short one at least.
    """
    whole = [[cell(metric, recipe.metrics[metric.key]) for metric in metrics] for recipe in report.recipes]
    broken = [[text.replace(" – ", " –\n") for text in cells] for cells in whole]
    titles = [textwrap.fill(metric.title, 13) for metric in metrics]
    short = [_SHORT.get(metric.key, metric.title) for metric in metrics]
    longest = max(map(len, ("Recipe", *(recipe.recipe for recipe in report.recipes))))
    gap = 3 if width >= _ROOMY else 1  # the divider, and padding on both sides of it
    for headings, rows in ((titles, whole), (short, whole), (short, broken)):
        columns = zip(headings, *rows, strict=True)
        room = width - sum(gap + max(len(line) for text in column for line in text.split("\n")) for column in columns)
        if room >= min(longest, _NAME) and (headings is short or width >= _WIDE):
            break
    return headings, rows, min(longest, max(room, _NAME))


def _lists(report: Report, metrics: Sequence[Metric]) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = []
    for recipe in report.recipes:
        parts.append(Text(recipe.recipe, style="bold"))
        parts += [Text(f"  {m.title}: {cell(m, recipe.metrics[m.key])}") for m in metrics]
    return parts


def markdown(report: Report) -> str:
    """All columns in one table, the table by category, and the notes."""
    whole = [(recipe.recipe, recipe.metrics) for recipe in report.recipes]
    parts = [
        (f"{recipe.recipe}, {category}", figures)
        for recipe in report.recipes
        for category, figures in recipe.categories.items()
    ]
    lines = _markdown_table("Recipe", whole)
    if parts:
        lines += ["", *_markdown_table("Recipe, category", parts)]
    lines += ["", *(f"- {note}" for note in report.notes)]
    return "\n".join(lines) + "\n"


def _markdown_table(first: str, entries: Sequence[tuple[str, Mapping[str, Figure]]]) -> list[str]:
    lines = [
        "| " + " | ".join([first, *(metric.title for metric in METRICS)]) + " |",
        "|---" + "|---:" * len(METRICS) + "|",
    ]
    for name, figures in entries:
        cells = [name.replace("|", "\\|"), *(cell(metric, figures[metric.key]) for metric in METRICS)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def csv_text(report: Report) -> str:
    """One line a recipe; each metric as mean, lowest, highest and denominator; empty where not measured.

    The columns are the same for every run.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    parts = ("", "_low", "_high", "_over")
    header = ["recipe", "repeats", "queries", "failed", "degraded", "judgements_missing"]
    writer.writerow([*header, *(metric.key + part for metric in METRICS for part in parts)])
    for recipe in report.recipes:
        writer.writerow([*_counts(recipe, report.run.repeat), *_values(recipe)])
    return out.getvalue()


def _counts(recipe: RecipeReport, repeats: int) -> list[object]:
    return [recipe.recipe, repeats, recipe.queries, recipe.failed, recipe.degraded, recipe.judgements_missing]


def _values(recipe: RecipeReport) -> list[object]:
    figures = (recipe.metrics[metric.key] for metric in METRICS)
    return [value for f in figures for value in (f.value, f.low, f.high, f.over)]


def json_text(report: Report) -> str:
    """The report as JSON; schema in ekr/bench/schema/bench.json."""
    return report.model_dump_json(indent=2)
