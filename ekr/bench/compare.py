"""Two runs of the same questions: what differs, by how much, how surely, and on which questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ekr.bench.directory import RunDirectory, RunInfo
from ekr.bench.errors import BenchUsageError
from ekr.bench.grading import Row, mean, rows
from ekr.bench.likeness import differences, question_differences, recipe_differences, shortfalls
from ekr.bench.metrics import METRICS, PERCENTILES, Metric

if TYPE_CHECKING:
    from rich.console import RenderableType

RESAMPLES = 10_000
CONFIDENCE = 0.95
_BLOCK = 2_000_000  # resampled figures held at a time

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric, B minus A, over the questions that have it in both runs.

    A share or score of a question is its mean over the repeats. A latency is as in the report: the percentile of
    each repeat, then their mean.
    `low` and `high` bound the paired bootstrap interval; None with fewer than two pairs. `gained` and `lost`
    are the questions that B has right and A has not, and the reverse: yes or no for a two-sided metric,
    complete or not for a share; empty for other metrics.
    """

    metric: Metric
    pairs: int
    a: float
    b: float
    low: float | None
    high: float | None
    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def difference(self) -> float:
        """B minus A."""
        return self.b - self.a

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two recipes, each of a run, on their common questions; `notes` say how the runs are unlike otherwise."""

    a: str
    b: str
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]


def paired_bootstrap(
    a: npt.ArrayLike, b: npt.ArrayLike, q: float | None = None, *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """The percentile interval of the difference B − A at 95 %: of means, or of q-th percentiles.

    `a` and `b` hold a value a question, or a row of them a repeat, NaN where a repeat has none; the figure is
    then the mean over the repeats, as in the report. Questions are drawn with replacement, each with all of its
    values (Efron and Tibshirani 1993, chapter 13). The same seed gives the same interval. Raises ValueError
    with fewer than two pairs.
    """
    left, right = (np.atleast_2d(np.asarray(side, dtype=np.float64)) for side in (a, b))
    count = left.shape[1]
    if right.shape[1] != count or count < 2:
        raise ValueError("a paired bootstrap needs two lists of the same length, of two or more values")
    generator = np.random.default_rng(seed)
    block = max(1, _BLOCK // (count * max(len(left), len(right))))
    found: list[Floats] = []
    for start in range(0, resamples, block):
        drawn = generator.integers(0, count, (min(block, resamples - start), count))
        found.append(_figures(right[:, drawn], q) - _figures(left[:, drawn], q))
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(np.concatenate(found), [tail, 100 - tail])
    return float(low), float(high)


def _figures(samples: Floats, q: float | None) -> Floats:
    """Shape (repeats, samples, questions) to (samples,): a figure a repeat, then their mean; NaN counts nowhere."""
    if q is None:
        means: Floats = np.nanmean(samples, axis=(0, 2))
        return means
    present = (~np.isnan(samples)).sum(axis=2, keepdims=True)
    places = np.maximum(np.rint(q * (present - 1)), 0).astype(np.intp)  # halves to even; NaN is sorted last
    figures: Floats = np.nanmean(np.take_along_axis(np.sort(samples, axis=2), places, axis=2)[:, :, 0], axis=0)
    return figures


def _by_question(scored: Sequence[Row], key: str) -> dict[str, float]:
    """Mean over the repeats of one metric, by question id."""
    values: dict[str, list[float]] = {}
    for row in scored:
        value = row.values.get(key)
        if value is not None:
            values.setdefault(row.id, []).append(value)
    return {question: mean(list_) for question, list_ in values.items()}


def _by_repeat(scored: Sequence[Row], key: str, questions: Sequence[str]) -> Floats:
    """One metric, shape (repeats, questions): NaN where a repeat has no value, repeats without any left out."""
    places = {question: place for place, question in enumerate(questions)}
    repeats: dict[int, Floats] = {}
    for row in scored:
        value = row.values.get(key)
        if value is not None and row.id in places:
            repeats.setdefault(row.repeat, np.full(len(questions), np.nan))[places[row.id]] = value
    return np.stack(list(repeats.values()))


def compare_rows(a: Sequence[Row], b: Sequence[Row], *, seed: int = 0) -> list[Difference]:
    """Every metric that both sides have, in the order of the table; rows of one recipe each."""
    found: list[Difference] = []
    for metric in METRICS:
        left, right = _by_question(a, metric.key), _by_question(b, metric.key)
        common = [question for question in left if question in right]
        if not common:
            continue
        q = PERCENTILES.get(metric.key)
        if q is None:
            xs, ys = (np.array([[side[c] for c in common]]) for side in (left, right))
        else:
            xs, ys = (_by_repeat(side, metric.key, common) for side in (a, b))
        low, high = paired_bootstrap(xs, ys, q, seed=seed) if len(common) > 1 else (None, None)
        before, after = _point(xs, q), _point(ys, q)
        gained, lost = _changed(metric, common, left, right)
        found.append(Difference(metric, len(common), before, after, low, high, gained, lost))
    return found


def _point(values: Floats, q: float | None) -> float:
    return float(_figures(values[:, np.newaxis, :], q)[0])


def _changed(
    metric: Metric, common: Sequence[str], left: Mapping[str, float], right: Mapping[str, float]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if metric.unit != "share":
        return (), ()
    bound = 0.5 if metric.yes_or_no else 1.0
    changed = [c for c in common if (left[c] >= bound) != (right[c] >= bound)]
    up = tuple(c for c in changed if right[c] >= bound)
    down = tuple(c for c in changed if left[c] >= bound)
    return (up, down) if metric.higher_is_better else (down, up)


def compare(
    a: RunDirectory,
    b: RunDirectory,
    *,
    recipe_a: str | None = None,
    recipe_b: str | None = None,
    seed: int = 0,
) -> list[Comparison]:
    """The recipes that both runs have; one recipe against another where both are named, or each run has one.

    Of one run given twice, its two recipes, or the two that are named.

    Raises BenchError for a directory without a run, BenchUsageError when there is nothing to compare.
    """
    info_a, info_b = a.info(), b.info()
    same_run = a.path.resolve() == b.path.resolve()
    pairs = _pairs(info_a.recipes, info_b.recipes, recipe_a, recipe_b, same=same_run)
    asked_a, asked_b = a.questions(), b.questions()
    texts = {q.id: q.question for q in asked_b}
    same = {q.id for q in asked_a if texts.get(q.id) == q.question}
    notes = [
        *differences(info_a, info_b),
        *question_differences(asked_a, asked_b),
        *_left_out("A", info_a, {first for first, _ in pairs}),
        *_left_out("B", info_b, {second for _, second in pairs}),
    ]
    all_a, all_b = rows(a), rows(b)
    rows_a, rows_b = ([row for row in side if row.id in same] for side in (all_a, all_b))
    if not rows_a or not rows_b:
        raise BenchUsageError("the two runs share no answered question, so there is nothing to compare")
    found = []
    for first, second in pairs:
        of_a, of_b = [r for r in rows_a if r.recipe == first], [r for r in rows_b if r.recipe == second]
        own = [
            *recipe_differences(info_a, info_b, first, second),
            *_incomplete("A", info_a, first, all_a),
            *_incomplete("B", info_b, second, all_b),
            *shortfalls("A", of_a),
            *shortfalls("B", of_b),
        ]
        names = (f"{a.path.name}, {first}", f"{b.path.name}, {second}")
        found.append(Comparison(*names, tuple(compare_rows(of_a, of_b, seed=seed)), (*notes, *own)))
    return found


def _incomplete(side: str, info: RunInfo, recipe: str, scored: Sequence[Row]) -> list[str]:
    done, expected = sum(row.recipe == recipe for row in scored), info.questions_count * info.repeat
    return [f"{side} is incomplete: {done} of {expected} queries of {recipe} are done"] if done < expected else []


def _left_out(side: str, info: RunInfo, compared: set[str]) -> list[str]:
    others = [recipe for recipe in info.recipes if recipe not in compared]
    return [f"not compared: {', '.join(others)} of {side}"] if others else []


def _pairs(
    a: Sequence[str], b: Sequence[str], recipe_a: str | None, recipe_b: str | None, *, same: bool
) -> list[tuple[str, str]]:
    for named, there, side in ((recipe_a, a, "A"), (recipe_b, b, "B")):
        if named is not None and named not in there:
            raise BenchUsageError(f"run {side} has no recipe {named}; it has {', '.join(there)}")
    left = [recipe_a] if recipe_a else list(a)
    right = [recipe_b] if recipe_b else list(b)
    if len(left) == len(right) == 1:
        return [(left[0], right[0])]
    if same and not recipe_a and not recipe_b and len(left) == 2:
        return [(left[0], left[1])]
    if same:
        raise BenchUsageError(f"name --recipe-a and --recipe-b; the run has {', '.join(a)}")
    common = [(recipe, recipe) for recipe in left if recipe in right]
    if not common:
        raise BenchUsageError("the runs have no recipe in common; name --recipe-a and --recipe-b")
    return common


def as_data(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """The comparisons as plain data, for JSON."""
    return [
        {
            "a": one.a,
            "b": one.b,
            "notes": list(one.notes),
            "metrics": [
                {
                    "metric": d.metric.key,
                    "pairs": d.pairs,
                    "a": d.a,
                    "b": d.b,
                    "difference": d.difference,
                    "interval": None if d.low is None else [d.low, d.high],
                    "gained": list(d.gained),
                    "lost": list(d.lost),
                }
                for d in one.differences
            ],
        }
        for one in comparisons
    ]


def rich_comparison(one: Comparison) -> list[RenderableType]:
    """A table of differences, the questions that changed side, and the notes."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from ekr.bench.tables import difference_text, interval_text, number_text

    table = Table(
        title=f"A = {one.a}; B = {one.b}", title_justify="left", title_style="bold", box=SIMPLE_HEAD, show_edge=False
    )
    for title in ("Metric", "Pairs", "A", "B", "B − A", "95 % interval"):
        table.add_column(title, justify="left" if title == "Metric" else "right")
    for d in one.differences:
        show, apart = (partial(text, d.metric.unit) for text in (number_text, difference_text))
        interval = "–" if d.low is None or d.high is None else interval_text(d.metric.unit, d.low, d.high)
        style = "bold" if d.sure else ""
        sign = "+" if d.difference > 0 else ""
        table.add_row(
            d.metric.title, str(d.pairs), show(d.a), show(d.b), sign + apart(d.difference), interval, style=style
        )
    lines = [Text("Bold: the interval leaves out 0. Pairs are questions.", style="dim")]
    for d in one.differences:
        for what, ids in (("gained", d.gained), ("lost", d.lost)):
            if ids:
                lines.append(Text(f"{d.metric.title}, {what} by B: {', '.join(ids)}"))
    return [table, *lines, *(Text(note, style="dim") for note in one.notes)]
