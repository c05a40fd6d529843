"""A picture of a report: quality against latency, one point a recipe, and quality by category."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ekr.bench.errors import BenchError, BenchUsageError
from ekr.bench.metrics import BY_KEY, PERCENTILES, Metric
from ekr.bench.report import Figure, RecipeReport, Report, counts_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")
_PREFERRED = (
    "correctness",
    "facts_in_answer",
    "f1",
    "facts_in_context",
    "evidence_top_5",
    "recall_at_5",
)
# Colour-blind safe (Wong 2011), the yellow left out: it is faint on white. Three more for long tables.
_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F", "#6A3D9A", "#8C510A",
)  # fmt: skip
_MARKERS = "osD^vP*X"


def check_plot(path: Path, key: str | None = None) -> None:
    """To be called before hours are spent on a run.

    Raises BenchUsageError for a file that is neither PNG nor SVG, a folder that is not there or an unknown
    metric, BenchError without matplotlib.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise BenchUsageError(f"--plot {path}: name a file that ends in {' or '.join(SUFFIXES)}")
    if key is not None and (key not in BY_KEY or key in PERCENTILES):
        drawable = ", ".join(name for name in BY_KEY if name not in PERCENTILES)
        raise BenchUsageError(f"unknown metric {key!r}; one of {drawable}")
    if not path.parent.is_dir():
        raise BenchUsageError(f"--plot {path}: there is no directory {path.parent}")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise BenchError("a plot needs matplotlib; run: pip install 'ekr[plot]'") from None


def quality_metric(report: Report, key: str | None = None) -> Metric:
    """The metric to draw: `key`, else the first of a fixed order that was measured. Raises BenchUsageError."""
    for name in (key,) if key else _PREFERRED:
        if any(recipe.metrics[name].value is not None for recipe in report.recipes):
            return BY_KEY[name]
    raise BenchUsageError(f"nothing to draw: {key or 'no metric of quality'} was not measured in this run")


def plot(report: Report, path: Path, key: str | None = None) -> None:
    """Draws a report into a PNG or SVG file; bars show lowest and highest of the repeats.

    Raises BenchError and BenchUsageError, see `check_plot` and `quality_metric`.
    """
    check_plot(path, key)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Picture

    metric = quality_metric(report, key)
    categories = list(dict.fromkeys(name for recipe in report.recipes for name in recipe.categories))
    measured = [c for c in categories if any(_category(r, c, metric) for r in report.recipes)]
    height = max(4.6, 1.6 + 0.24 * len(measured) * (1 + len(report.recipes) / 3))
    picture = Picture(figsize=(13.5 if measured else 7.5, height), layout="constrained")
    FigureCanvasAgg(picture)
    panels = picture.subplots(1, 2 if measured else 1, squeeze=False)[0]
    _against_latency(panels[0], report, metric)
    if measured:
        _by_category(panels[1], report, metric, measured)
    columns = min(4, len(report.recipes)) if measured else min(2, len(report.recipes))
    handles, labels = panels[0].get_legend_handles_labels()
    markers = [handle[0] for handle in handles]  # without the bars, which would stick out of the keys
    picture.legend(markers, labels, loc="outside lower center", ncols=columns, frameon=False)
    questions = f"{report.run.questions} questions"
    picture.suptitle(" · ".join(filter(None, (Path(report.run.questions_file).name, questions))))
    try:
        picture.savefig(path, dpi=150)
    except OSError as error:
        raise BenchError(f"cannot write {path}: {error.strerror or error}") from None


def _style(index: int) -> dict[str, Any]:
    return {
        "color": _COLOURS[index % len(_COLOURS)],
        "marker": _MARKERS[index % len(_MARKERS)],
        "markerfacecolor": "none",
        "markeredgewidth": 1.6,
        "linestyle": "none",
    }


def _size(index: int, count: int, largest: float) -> float:
    """Falls from recipe to recipe, so that of equal points each is seen in the one below it."""
    return largest * (1 - 0.5 * index / max(1, count - 1))


def _scale(metric: Metric) -> float:
    return 100.0 if metric.unit == "share" else 1.0


def _spread(figure: Figure, scale: float) -> tuple[float, list[list[float]] | None]:
    """The mean, and how far its bar goes to each side; None for no bar, whose ends would fill a hollow marker."""
    value, low, high = (scale * (part or 0.0) for part in (figure.value, figure.low, figure.high))
    return value, [[max(0.0, value - low)], [max(0.0, high - value)]] if high > low else None


def _label(metric: Metric) -> str:
    label = f"{metric.title} (%)" if metric.unit == "share" else metric.title
    return label if metric.higher_is_better else f"{label}, lower is better"


def _limits(metric: Metric, report: Report) -> tuple[float, float]:
    """The ends of the metric's axis: all it can be, for a number 0 and the largest; markers at the ends are whole."""
    if metric.unit == "number":
        parts = [recipe.metrics for recipe in report.recipes]
        parts += [figures for recipe in report.recipes for figures in recipe.categories.values()]
        top = max((figures[metric.key].high or 0.0 for figures in parts), default=0.0) or 1.0
        return -0.03 * top, 1.05 * top
    return {"share": (-3, 103), "score": (0.9, 5.1)}.get(metric.unit, (-0.03, 1.03))


def _against_latency(axes: Axes, report: Report, metric: Metric) -> None:
    fastest: list[float] = []
    slowest: list[float] = []
    for index, recipe in enumerate(report.recipes):
        quality, latency = recipe.metrics[metric.key], recipe.metrics["latency_p50"]
        if quality.value is None or latency.value is None:
            continue
        y, y_error = _spread(quality, _scale(metric))
        x, x_error = _spread(latency, 1.0)
        fastest.append(latency.low or 0.0)
        slowest.append(latency.high or 0.0)
        size = _size(index, len(report.recipes), 12)
        axes.errorbar(
            [x], [y], xerr=x_error, yerr=y_error, label=recipe.recipe, markersize=size, capsize=4, **_style(index)
        )
    if fastest and min(fastest) > 0 and max(slowest) / min(fastest) > 8:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        axes.set_xscale("log")
        decades = math.log10(max(slowest) / min(fastest))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(left=0, right=1.1 * max(slowest, default=1.0))
    axes.set_ylim(*_limits(metric, report))
    axes.set_xlabel("Latency p50 (s)")
    axes.set_ylabel(_label(metric))
    axes.set_title("Quality against latency" + (", ranges over repeats" if report.run.repeat > 1 else ""))
    axes.grid(alpha=0.3)


def _category(recipe: RecipeReport, category: str, metric: Metric) -> Figure | None:
    figure = recipe.categories.get(category, {}).get(metric.key)
    return figure if figure is not None and figure.value is not None else None


def _by_category(axes: Axes, report: Report, metric: Metric, categories: list[str]) -> None:
    step = 0.7 / max(1, len(report.recipes))
    for index, recipe in enumerate(report.recipes):
        for row, category in enumerate(categories):
            figure = _category(recipe, category, metric)
            if figure is None:
                continue
            x, x_error = _spread(figure, _scale(metric))
            y = row + (index - (len(report.recipes) - 1) / 2) * step
            axes.errorbar([x], [y], xerr=x_error, markersize=6, capsize=3, **_style(index))
    counts = [counts_text(f for r in report.recipes if (f := _category(r, c, metric))) for c in categories]
    axes.set_yticks(
        range(len(categories)), [f"{name} ({count})" for name, count in zip(categories, counts, strict=True)]
    )
    for line in range(1, len(categories)):
        axes.axhline(line - 0.5, color="0.85", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlim(*_limits(metric, report))
    axes.set_xlabel(_label(metric))
    axes.set_title("By category (number of questions)")
    axes.grid(axis="x", alpha=0.3)
