from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from ekr.bench.directory import RunDirectory, RunInfo
from ekr.bench.errors import BenchUsageError
from ekr.bench.grading import Row, rows_as_jsonl
from ekr.bench.metrics import BY_KEY, METRICS
from ekr.bench.questions import Question, fingerprint
from ekr.bench.report import Part, Report, build, report, save, schema_text
from ekr.bench.runs import RunOptions, run
from ekr.bench.tables import cell, csv_text, difference_text, json_text, markdown, number_text, rich_table
from tests.bench.library import Library, engine, questions


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    directory = RunDirectory(tmp_path_factory.mktemp("run"))
    options = RunOptions(("bm25", "bm25:limit=1", "bypass"), repeat=2, generator="quoting", questions_file="lib.jsonl")
    run(directory, questions(), Library(), options, engine=engine())
    return report(directory)[0]


def rows_of(*figures: tuple[int, str, float | None]) -> list[Row]:
    """Rows with one metric, as (repeat, question, value)."""
    return [
        Row("r", repeat, q, "c", {**dict.fromkeys(BY_KEY), "facts_in_answer": value}) for repeat, q, value in figures
    ]


def info(repeat: int = 1) -> RunInfo:
    return RunInfo(("r",), repeat, False, "sha", 2)


def printed(made: Report, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    for part in rich_table(made, width):
        console.print(part)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_the_figures_of_a_real_run_are_those_worked_out_by_hand(made: Report) -> None:
    bm25 = {key: figure.value for key, figure in made.recipes[0].metrics.items()}
    assert bm25["evidence_top_5"] == 1.0
    assert bm25["traps_handled"] == 1.0  # q4 quotes Hollerith, q5 is refused
    assert bm25["page_cited"] == pytest.approx(1.0)  # q1 page 1, q2 pages 2-3, q4 page 8 for gold 10
    assert bm25["page_exact"] == pytest.approx(2 / 3)
    bypass = {key: figure.value for key, figure in made.recipes[2].metrics.items()}
    assert bypass["evidence_top_5"] == bypass["facts_in_context"] == bypass["page_cited"] == bypass["mrr"] == 0.0
    assert bypass["traps_handled"] == 0.5
    assert bypass["passages_sent"] == 0.0


def test_denominators_count_the_questions_with_the_field(made: Report) -> None:
    over = {key: figure.over for key, figure in made.recipes[0].metrics.items()}
    assert over["evidence_top_5"] == 4
    assert over["facts_in_context"] == over["facts_in_answer"] == 5
    assert over["facts_in_context_no_traps"] == over["page_cited"] == 3
    assert over["traps_handled"] == over["exact_match"] == 2
    assert over["recall_at_5"] == 4
    assert over["latency_p50"] == 6
    assert over["correctness"] == 0


def test_repeats_give_a_range_and_their_mean() -> None:
    scored = rows_of((0, "a", 1.0), (0, "b", 0.5), (1, "a", 1.0), (1, "b", 0.0))
    figure = build(info(2), scored, 2).recipes[0].metrics["facts_in_answer"]
    assert figure.repeats == [0.75, 0.5]
    assert (figure.value, figure.low, figure.high, figure.over) == (0.625, 0.5, 0.75, 2)
    assert cell(BY_KEY["facts_in_answer"], figure) == "50.0 – 75.0 %"


def test_an_absent_figure_is_a_dash_and_null_and_never_zero() -> None:
    made = build(info(), rows_of((0, "a", None)), 1)
    figure = made.recipes[0].metrics["facts_in_answer"]
    assert (figure.value, figure.over) == (None, 0)
    assert cell(BY_KEY["facts_in_answer"], figure) == "–"
    zero = build(info(), rows_of((0, "a", 0.0)), 1).recipes[0].metrics["facts_in_answer"]
    assert cell(BY_KEY["facts_in_answer"], zero) == "0.0 %"


def test_traps_are_shown_as_counts(made: Report) -> None:
    trap = BY_KEY["traps_handled"]
    assert [cell(trap, recipe.metrics["traps_handled"]) for recipe in made.recipes] == ["2/2", "2/2", "1/2"]


def test_the_json_is_valid_and_its_schema_file_is_current(made: Report) -> None:
    stored = files("ekr.bench").joinpath("schema", "bench.json").read_text(encoding="utf-8")
    assert stored == schema_text()
    schema = json.loads(stored)
    jsonschema.Draft202012Validator.check_schema(schema)
    data = json.loads(json_text(made))
    jsonschema.validate(data, schema)
    assert [column["key"] for column in data["columns"]] == [metric.key for metric in METRICS]
    data["recipes"][0]["metrics"]["mrr"]["over"] = -1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema)


def test_csv_has_the_same_columns_for_every_run_and_empty_cells_for_what_is_absent(made: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(made))))
    other = list(csv.DictReader(io.StringIO(csv_text(build(info(), rows_of((0, "a", 1.0)), 1)))))
    assert list(rows[0]) == list(other[0])
    assert [row["recipe"] for row in rows] == ["bm25", "bm25:limit=1", "bypass"]
    assert (rows[0]["correctness"], rows[0]["correctness_over"]) == ("", "0")
    assert float(rows[0]["evidence_top_5"]) == 1.0


def test_markdown_has_every_column_and_a_row_a_recipe_and_category(made: Report) -> None:
    lines = markdown(made).splitlines()
    assert all(metric.title in lines[0] for metric in METRICS)
    widths = {line.count("|") for line in lines if line.startswith("|")}
    assert widths == {len(METRICS) + 2}
    assert any(line.startswith("| bypass | – | – | 1/2 |") for line in lines)
    assert any(line.startswith("| bm25, person |") for line in lines)


def test_a_wide_terminal_gets_tables_and_a_narrow_one_lists(made: Report) -> None:
    wide, narrow = printed(made, 100), printed(made, 40)
    assert "Overview" in wide
    assert "Ranking of gold passages" in wide
    assert "Evidence in top 5: 100.0 %" in narrow
    assert max(map(len, narrow.splitlines())) <= 40
    assert max(map(len, printed(made, 80).splitlines())) <= 80


def test_groups_in_which_nothing_was_measured_are_left_out() -> None:
    assert "Ranking" not in printed(build(info(), rows_of((0, "a", 1.0)), 1), 100)


def test_recipe_names_are_text_and_not_markup() -> None:
    named = RunInfo(("[red]r[/]",), 1, False, "sha", 1)
    assert "[red]r[/]" in printed(build(named, [], 1), 100)


def test_notes_say_over_what_and_what_was_not_measured(made: Report) -> None:
    notes = " ".join(made.notes)
    assert "questions with evidence 4" in notes
    assert "No judge" in notes


def test_repeats_that_all_score_the_same_are_no_measure_of_noise(made: Report) -> None:
    notes = " ".join(made.notes)
    assert "All 2 runs scored the same on every question" in notes
    assert "a generator with a seed repeats itself" in notes
    assert "`ekr bench compare` gives intervals" in notes
    assert "noise" not in notes
    retrieval = build(replace(info(2), retrieval_only=True), rows_of((0, "a", 1.0), (1, "a", 1.0)), 1).notes
    assert any("what is found is always the same" in note for note in retrieval)


@pytest.mark.parametrize(
    "scored",
    [
        rows_of((0, "a", 1.0), (0, "b", 0.0), (1, "a", 0.0), (1, "b", 1.0)),  # the same figure, other answers
        rows_of((0, "a", 1.0), (0, "b", 0.0)),  # stopped in the first of the runs
    ],
)
def test_repeats_that_differ_or_are_not_done_give_ranges_of_noise(scored: list[Row]) -> None:
    assert "Ranges over 2 runs; a difference inside a range is noise." in build(info(2), scored, 2).notes


def test_where_recipes_count_over_unlike_questions_the_denominator_is_a_span() -> None:
    two = replace(info(), recipes=("r", "s"))
    short = [replace(row, recipe="s") for row in rows_of((0, "a", 1.0), (0, "b", None), (0, "c", None))]
    made = build(two, rows_of((0, "a", 1.0), (0, "b", 0.0), (0, "c", 0.0)) + short, 3)
    assert made.notes[0] == "Over: questions with facts 1 – 3."
    repeated = build(info(2), rows_of((0, "a", 1.0), (0, "b", 0.0), (1, "a", 1.0)), 2)
    assert repeated.recipes[0].metrics["facts_in_answer"].overs == [2, 1]
    assert repeated.notes[0] == "Over: questions with facts 1 – 2."
    begun = build(info(2), rows_of((0, "a", 1.0), (0, "b", 0.0)), 2)
    assert begun.recipes[0].metrics["facts_in_answer"].overs == [2, 0]
    assert begun.notes[0] == "Over: questions with facts 2."


def test_traps_are_a_share_where_repeats_had_unlike_many() -> None:
    def shown(*figures: tuple[int, str, float | None]) -> str:
        scored = [
            replace(row, values={**row.values, "traps_handled": row.values["facts_in_answer"]})
            for row in rows_of(*figures)
        ]
        return cell(BY_KEY["traps_handled"], build(info(2), scored, 3).recipes[0].metrics["traps_handled"])

    first: list[tuple[int, str, float | None]] = [(0, "a", 1.0), (0, "b", 1.0), (0, "c", 0.0)]
    assert shown(*first, (1, "a", 1.0)) == "66.7 – 100.0 %"
    assert shown(*first) == "2/3"
    assert shown(*first, (1, "a", 1.0), (1, "b", 1.0), (1, "c", 1.0)) == "2 – 3/3"


@pytest.mark.parametrize("width", [76, 80, 99, 100, 110, 124, 160])
def test_names_and_figures_keep_together_while_ranges_break(width: int) -> None:
    named = RunInfo(("hybrid_mix", "naive"), 2, False, "sha", 1)
    rows = []
    for recipe in named.recipes:
        for repeat, factor in enumerate((0.9167, 1.0)):
            values = {
                m.key: factor * {"seconds": 137.8, "score": 5.0, "number": 12.0}.get(m.unit, 1.0) for m in METRICS
            }
            rows.append(Row(recipe, repeat, "a", None, values))
    made = build(named, rows, 1)
    tables = printed(made.model_copy(update={"notes": []}), width)
    lines = [line.rstrip() for line in tables.splitlines()]
    assert max(map(len, lines)) <= width
    assert sum(line.startswith("hybrid_mix ") for line in lines) == 3
    assert tables.count("100.0 %") == 2 * sum(m.unit == "share" and m.key != "traps_handled" for m in METRICS)
    assert tables.count("137.8 s") == 4
    assert "Hallucinate\n" not in tables
    if width == 160:
        assert "91.7 – 100.0 %" in tables


def test_degraded_queries_are_counted_and_the_part_that_failed_is_named(tmp_path: Path) -> None:
    class Lame(Library):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            result = super().query(question, recipe, context_only=context_only)
            failed = [{"stage": "method", "name": "chunk", "error": "the index is broken"}]
            return {**result, "degraded": failed * 2 if "engine" in question.lower() else []}

    directory = RunDirectory(tmp_path)
    run(directory, questions(), Lame(), RunOptions(("bm25", "bypass"), generator="q"), engine=engine())
    made, scored = report(directory)
    assert [(r.failed, r.degraded) for r in made.recipes] == [(0, 2), (0, 2)]
    assert [row.id for row in scored if row.degraded] == ["q1", "q2"] * 2
    expected = "bm25: degraded queries, in which a part failed: 2 of 6 (method chunk in 2); they count as they are."
    assert expected in made.notes
    assert expected in " ".join(printed(made, 200).split())
    assert next(csv.DictReader(io.StringIO(csv_text(made))))["degraded"] == "2"
    assert json.loads(rows_as_jsonl(scored).splitlines()[0])["degraded"] == ["method chunk"]


@pytest.mark.parametrize(
    ("values", "asks"),
    [
        ({"query_decomposition": True, "keywords": "nlp", "methods": ["chunk"]}, True),
        ({"query_decomposition": False, "keywords": "llm", "methods": ["local"]}, True),
        ({"query_decomposition": False, "keywords": "nlp", "methods": ["text2cypher"]}, True),
        ({"query_decomposition": False, "keywords": "nlp", "methods": ["chunk"]}, False),
    ],
)
def test_recipes_that_ask_the_generator_first_are_said_to_be_faster_when_repeated(
    values: dict[str, Any], asks: bool
) -> None:
    described = replace(info(2), recipe_values={"r": values})
    notes = build(described, rows_of((0, "a", 1.0), (1, "a", 1.0)), 1).notes
    assert any("each repeat after the first" in note for note in notes) is asks


def test_a_part_says_over_what_it_is(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    run(directory, questions(), Library(), RunOptions(("bm25",), generator="q", questions_file="lib"), engine=engine())
    asked = [questions()[0], Question(id="new", question="?")]
    made, scored = report(directory, Part(asked, "q2.jsonl", ("trap=false",)))
    assert [row.id for row in scored] == ["q1"]
    assert made.notes[0] == "Graded on 1 of the 6 questions of the run, as q2.jsonl has them."
    assert made.notes[1] == "Without a result in the run: new."
    assert (made.run.questions_file, made.run.only, made.run.questions) == ("q2.jsonl", ["trap=false"], 2)
    assert made.run.questions_sha256 == fingerprint(asked)
    with pytest.raises(BenchUsageError, match="no result of these questions"):
        report(directory, Part(asked[1:]))


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("seconds", 0.0042, "0.004 s"),
        ("seconds", 4.7, "4.70 s"),
        ("seconds", 13.33, "13.3 s"),
        ("share", -0.125, "-12.5 %"),
    ],
)
def test_figures_carry_their_unit(unit: str, value: float, text: str) -> None:
    assert number_text(unit, value) == text
    assert difference_text(unit, value) == text.replace("%", "points")


def test_the_report_is_saved_beside_the_results(tmp_path: Path, made: Report) -> None:
    save(RunDirectory(tmp_path), made, rows_of((0, "a", 1.0)), markdown(made))
    assert Report.model_validate_json((tmp_path / "report.json").read_text()) == made
    assert json.loads((tmp_path / "rows.jsonl").read_text())["values"]["facts_in_answer"] == 1.0
    assert (tmp_path / "report.md").read_text() == markdown(made)
