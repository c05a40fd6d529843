from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from ekr.bench.compare import as_data, compare, compare_rows, paired_bootstrap, rich_comparison
from ekr.bench.directory import RunDirectory
from ekr.bench.errors import BenchError, BenchUsageError
from ekr.bench.grading import Row, mean, rows
from ekr.bench.metrics import BY_KEY, PERCENTILES, percentile
from ekr.bench.report import report
from ekr.bench.runs import RunOptions, run
from tests.bench.library import Library, engine, questions


def rows_of(key: str, values: dict[str, list[float | None]]) -> list[Row]:
    """Rows of one metric: values by question, one a repeat."""
    return [
        Row("r", repeat, question, None, {**dict.fromkeys(BY_KEY), key: value})
        for question, repeats in values.items()
        for repeat, value in enumerate(repeats)
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, recipes in {"a": ("bm25", "bypass"), "b": ("bm25", "bm25:limit=1"), "c": ("bypass",)}.items():
        run(RunDirectory(folder / name), questions(), Library(), RunOptions(recipes, generator="q"), engine=engine())
    return folder


def test_a_constant_difference_has_an_interval_of_no_width() -> None:
    low, high = paired_bootstrap([0.1, 0.4, 0.7], [0.3, 0.6, 0.9])
    assert (low, high) == (pytest.approx(0.2), pytest.approx(0.2))


def test_the_interval_is_that_of_all_possible_samples() -> None:
    # Differences 0 and 1: a sample of two has mean 0, 0.5 or 1 with probabilities 1/4, 1/2, 1/4.
    assert paired_bootstrap([0, 0], [0, 1]) == (0.0, 1.0)
    # Of four differences, one 1 and three 0, the mean is k/4 with k ~ Binomial(4, 1/4): P(k >= 3) = 0.0508 and
    # P(k = 4) = 0.0039, so the 97.5th percentile is 3/4 and the 2.5th is 0.
    assert paired_bootstrap([0, 0, 0, 0], [1, 0, 0, 0]) == (0.0, 0.75)


def test_pairing_takes_out_how_hard_the_questions_are() -> None:
    dice = np.random.default_rng(5)
    hardness = dice.normal(0, 10, 200)
    a, b = hardness + dice.normal(0, 0.1, 200), hardness + 0.2 + dice.normal(0, 0.1, 200)
    low, high = paired_bootstrap(list(a), list(b))
    assert 0.15 < low < 0.2 < high < 0.25
    unpaired_low, _ = paired_bootstrap(list(a), list(dice.permutation(b)))
    assert unpaired_low < 0


def test_the_same_seed_gives_the_same_interval() -> None:
    dice = np.random.default_rng(5)
    a, b = list(dice.random(30)), list(dice.random(30))
    assert paired_bootstrap(a, b, seed=1) == paired_bootstrap(a, b, seed=1)
    assert paired_bootstrap(a, b, seed=1) != paired_bootstrap(a, b, seed=2)


def test_large_inputs_are_resampled_in_blocks_to_the_same_effect() -> None:
    low, high = paired_bootstrap([0.0] * 5000, [0.0, 1.0] * 2500, resamples=2000)
    assert low == pytest.approx(0.5 - 1.96 * 0.5 / 5000**0.5, abs=0.004)
    assert high == pytest.approx(0.5 + 1.96 * 0.5 / 5000**0.5, abs=0.004)


def test_latency_compares_percentiles_and_not_means() -> None:
    a = rows_of("latency_p50", {"x": [1.0], "y": [2.0], "z": [90.0]})
    b = rows_of("latency_p50", {"x": [1.5], "y": [2.5], "z": [3.0]})
    (found,) = compare_rows(a, b)
    assert (found.a, found.b, found.difference) == (2.0, 2.5, 0.5)


def test_latency_is_that_of_the_report_with_repeats_and_failures(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    run(directory, questions(), Library(), RunOptions(("bm25",), 3, generator="q"), engine=engine())
    lines = [json.loads(line) for line in directory.results_file.read_text().splitlines()]
    seconds = [0.5, 1.0, 9.0, 2.0, 3.0, 7.0, 4.0, 0.1, 6.0, 1.5, 8.0, 2.5, 0.2, 5.0, 0.7, 3.5, 0.9, 4.5]
    for line, value in zip(lines, seconds, strict=True):
        line["seconds"] = value
    lines[7] |= {"seconds": None, "result": None, "error": {"type": "E", "message": "no"}}
    directory.results_file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = report(directory)[0].recipes[0].metrics
    (one,) = compare(directory, directory)
    found = {d.metric.key: d for d in one.differences}
    for key in ("latency_p50", "latency_p95"):
        assert found[key].a == found[key].b == pytest.approx(shown[key].value)
        assert (found[key].low, found[key].high) == (0.0, 0.0)
        assert shown[key].value != pytest.approx(percentile(by_question(scored=rows(directory)), PERCENTILES[key]))


def by_question(scored: list[Row]) -> list[float]:
    """Mean seconds of each question over its repeats."""
    return [mean([v for r in scored if r.id == q.id and (v := r.values["latency_p50"])]) for q in questions()]


def test_only_pairs_count_and_repeats_are_averaged_first() -> None:
    a = rows_of("facts_in_answer", {"x": [0.0, 1.0], "y": [1.0, 1.0], "only a": [0.0, 0.0]})
    b = rows_of("facts_in_answer", {"x": [1.0, 1.0], "y": [0.5, 0.5], "absent": [None, None]})
    (found,) = compare_rows(a, b)
    assert (found.pairs, found.a, found.b) == (2, 0.75, 0.75)
    assert (found.gained, found.lost) == (("x",), ("y",))


def test_questions_change_side_for_the_better_whichever_way_a_metric_points() -> None:
    values: dict[str, list[float | None]] = {"x": [1.0], "y": [0.0]}
    flipped: dict[str, list[float | None]] = {"x": [0.0], "y": [1.0]}
    (evidence,) = compare_rows(rows_of("evidence_top_5", values), rows_of("evidence_top_5", flipped))
    (invented,) = compare_rows(rows_of("hallucinated", values), rows_of("hallucinated", flipped))
    assert (evidence.gained, evidence.lost) == (("y",), ("x",))
    assert (invented.gained, invented.lost) == (("x",), ("y",))


def test_one_pair_has_no_interval() -> None:
    (found,) = compare_rows(rows_of("mrr", {"x": [0.5]}), rows_of("mrr", {"x": [1.0]}))
    assert (found.difference, found.low, found.high, found.sure) == (0.5, None, None, False)


def test_two_runs_are_compared_on_the_recipe_they_share(runs: Path) -> None:
    (one,) = compare(RunDirectory(runs / "a"), RunDirectory(runs / "b"))
    assert (one.a, one.b) == ("a, bm25", "b, bm25")
    quality = [d for d in one.differences if d.metric.unit != "seconds"]
    assert quality
    assert all(d.difference == d.low == d.high == 0 for d in quality)


def test_two_recipes_of_one_run_can_be_compared(runs: Path) -> None:
    a = RunDirectory(runs / "a")
    (one,) = compare(a, a, recipe_a="bypass", recipe_b="bm25")
    by_key = {d.metric.key: d for d in one.differences}
    assert by_key["evidence_top_5"].gained == ("q1", "q2", "q3", "q4")
    assert by_key["evidence_top_5"].sure
    assert by_key["traps_handled"].gained == ("q4",)
    screen = Console(file=io.StringIO(), width=100)
    for part in rich_comparison(one):
        screen.print(part)
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "Evidence in top 5, gained by B: q1, q2, q3, q4" in shown
    assert "+100.0 points" in shown
    assert " 100.0 to 100.0 points" in shown
    assert "+100.0 %" not in shown
    data = as_data([one])[0]["metrics"]
    assert next(m for m in data if m["metric"] == "evidence_top_5")["interval"] == [1.0, 1.0]


def test_the_two_recipes_of_one_run_need_no_names(runs: Path) -> None:
    b = RunDirectory(runs / "b")
    (one,) = compare(b, b)
    assert (one.a, one.b) == ("b, bm25", "b, bm25:limit=1")
    with pytest.raises(BenchUsageError, match="name --recipe-a and --recipe-b; the run has bm25, bm25:limit=1"):
        compare(b, b, recipe_a="bm25")


def test_recipes_that_only_one_run_has_are_named(runs: Path) -> None:
    (one,) = compare(RunDirectory(runs / "a"), RunDirectory(runs / "b"))
    assert {"not compared: bypass of A", "not compared: bm25:limit=1 of B"} <= set(one.notes)


def test_runs_without_a_common_recipe_need_them_named(runs: Path) -> None:
    b, c = RunDirectory(runs / "b"), RunDirectory(runs / "c")
    with pytest.raises(BenchUsageError, match="--recipe-a"):
        compare(b, c)
    with pytest.raises(BenchUsageError, match="run A has no recipe mix; it has bm25, bm25:limit=1"):
        compare(b, c, recipe_a="mix")
    with pytest.raises(BenchError, match="holds no run"):
        compare(b, RunDirectory(runs / "nowhere"))


def test_a_question_that_was_reworded_is_left_out_and_named(runs: Path, tmp_path: Path) -> None:
    changed = [q.model_copy(update={"question": "Census of 1890?"}) if q.id == "q4" else q for q in questions()]
    other = [q for q in changed if q.id != "q6"]
    run(RunDirectory(tmp_path), other, Library(), RunOptions(("bm25",), generator="q"), engine=engine())
    (one,) = compare(RunDirectory(runs / "c"), RunDirectory(tmp_path))
    assert one.notes == ("left out, the same id but another question: q4", "only in A, left out: q6")
    assert next(d for d in one.differences if d.metric.key == "evidence_top_5").pairs == 3
    reworded = replace(one, notes=())
    assert reworded.differences == one.differences


def test_a_run_that_was_stopped_is_said_to_be_incomplete(runs: Path, tmp_path: Path) -> None:
    stopped = RunDirectory(tmp_path)
    run(stopped, questions(), Library(), RunOptions(("bm25", "bypass"), generator="q"), engine=engine())
    lines = stopped.results_file.read_text().splitlines(keepends=True)
    stopped.results_file.write_text("".join(lines[:8]))
    bm25, bypass = compare(RunDirectory(runs / "a"), stopped)
    assert bm25.notes == ()
    assert bypass.notes == ("B is incomplete: 2 of 6 queries of bypass are done",)


def test_unlike_runs_say_in_what(runs: Path, tmp_path: Path) -> None:
    options = RunOptions(("bm25",), retrieval_only=True)
    run(RunDirectory(tmp_path), questions(), Library(), options, engine=engine() | {"store": "elsewhere"})
    (one,) = compare(RunDirectory(runs / "b"), RunDirectory(tmp_path))
    assert any("B measured retrieval alone" in note for note in one.notes)
    assert "another store: library in A, elsewhere in B" in as_data([one])[0]["notes"]
    screen = Console(file=io.StringIO(), width=100)
    for part in rich_comparison(one):
        screen.print(part)
    assert "another store" in screen.file.getvalue()  # type: ignore[attr-defined]
