"""The command: over the small collection for its options, over a real store for the whole way."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime, tzinfo
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from ekr.bench.errors import BenchUsageError, QuestionsError
from ekr.cli import bench
from ekr.cli.bench_progress import duration
from ekr.errors import EkrError, ModelError, StoreEmpty
from ekr.recipes import Recipe
from tests.bench.library import QUESTIONS, Library, engine

SCHEMA = json.loads(files("ekr.bench").joinpath("schema", "bench.json").read_text(encoding="utf-8"))


class LibraryAnswerer(Library):
    """The small collection where the command opens an engine."""

    def __init__(self, _open_engine: object) -> None:
        super().__init__()

    def describe(self) -> dict[str, Any]:
        return engine()

    def document_names(self) -> set[str]:
        return {"engines", "lovelace", "menabrea", "hollerith"}

    def recipe(self, spec: str) -> Recipe:
        return Recipe(name=spec.partition(":")[0])

    def warm_up(self, specs: list[str], *, context_only: bool) -> None:
        return

    def close(self) -> None:
        return


class EmptyAnswerer(LibraryAnswerer):
    def describe(self) -> dict[str, Any]:
        raise StoreEmpty("the store holds no passage to measure; run: ekr ingest PATH")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A questions file in an empty working directory."""
    monkeypatch.setattr(bench, "EngineAnswerer", LibraryAnswerer)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "library.jsonl"
    path.write_text(QUESTIONS, encoding="utf-8")
    return path


def call(*arguments: str | Path, code: int = 0) -> Result:
    result = CliRunner().invoke(bench.app, [str(argument) for argument in arguments], env={"COLUMNS": "130"})
    if isinstance(result.exception, EkrError):
        assert result.exception.exit_code == code
    else:
        assert result.exit_code == code, result.output
    return result


def test_a_questions_file_begins_a_run_and_the_command_names_still_work(file: Path) -> None:
    assert "Overview" in call(file, "--recipe", "bm25").stdout
    assert "Overview" in call("--recipe", "bm25", file, "--out", "other").stdout
    assert "B − A" in call("compare", "other", "other").stdout
    assert "did you mean" in call("comapre", "a", "b", code=2).stderr.lower()
    assert "Usage" in call("-h").stdout


def test_each_format_goes_to_stdout_alone(file: Path) -> None:
    made = json.loads(call(file, "-r", "bm25", "-r", "bypass", "--format", "json", "--out", "a").stdout)
    jsonschema.validate(made, SCHEMA)
    assert [r["recipe"] for r in made["recipes"]] == ["bm25", "bypass"]
    rows = list(csv.DictReader(io.StringIO(call(file, "-r", "bm25", "--format", "csv", "--out", "b").stdout)))
    assert float(rows[0]["mrr"]) == 1.0
    assert call(file, "-r", "bm25", "--format", "markdown", "--out", "c").stdout.startswith("| Recipe |")


def test_a_run_keeps_enough_to_be_graded_again_without_its_questions_file(file: Path) -> None:
    first = call(file, "-r", "bm25", "--repeat", "2", "--format", "json", "--out", "run").stdout
    file.unlink()
    assert json.loads(call("grade", "run", "--format", "json").stdout) == json.loads(first)
    assert {p.name for p in Path("run").iterdir()} >= {"results.jsonl", "rows.jsonl", "report.json", "report.md"}


def test_grading_with_corrected_questions_changes_the_figures(file: Path) -> None:
    call(file, "-r", "bm25", "--out", "run")
    file.write_text(QUESTIONS.replace('"facts": ["1822"]', '"facts": ["1999"]'), encoding="utf-8")
    made = json.loads(call("grade", "run", "--questions", file, "--only", "id=q1", "--format", "json").stdout)
    assert made["recipes"][0]["metrics"]["facts_in_answer"]["value"] == 0.0
    assert made["run"]["questions"] == 1


def test_filters_and_retrieval_only_narrow_what_is_asked(file: Path) -> None:
    made = json.loads(
        call(file, "-r", "bm25", "--only", "category=person", "--retrieval-only", "--format", "json").stdout
    )
    assert made["run"]["questions"] == 2
    assert made["recipes"][0]["metrics"]["facts_in_answer"]["value"] is None
    assert made["recipes"][0]["metrics"]["evidence_top_5"]["value"] == 1.0


def test_a_run_without_a_name_goes_to_a_new_directory_and_resume_finds_it(file: Path) -> None:
    call("--resume", file, "-r", "bm25", code=2)
    call(file, "-r", "bm25", "--quiet")
    (made,) = (Path(".ekr-bench")).iterdir()
    lines = (made / "results.jsonl").read_bytes().splitlines(keepends=True)
    (made / "results.jsonl").write_bytes(b"".join(lines[:2]))
    assert "is in" in call(file, "-r", "bm25", "--resume").stderr
    assert (made / "results.jsonl").read_bytes().count(b"\n") == 6
    assert list(Path(".ekr-bench").iterdir()) == [made]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_says_how_to_go_on(file: Path, monkeypatch: pytest.MonkeyPatch, jobs: str) -> None:
    class Impatient(LibraryAnswerer):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            if question.startswith("What is the capital"):
                raise KeyboardInterrupt
            return super().query(question, recipe, context_only=context_only)

    monkeypatch.setattr(bench, "EngineAnswerer", Impatient)
    stopped = call(file, "-r", "bm25", "--out", "run", "--jobs", jobs, code=130)
    kept = [json.loads(line) for line in Path("run/results.jsonl").read_text().splitlines()]
    assert len(kept) >= 3
    assert all(one["error"] is None and one["id"] != "q5" for one in kept)
    assert f"stopped; {len(kept)} results are in run" in stopped.stderr
    assert "--resume --out run" in stopped.stderr
    assert not Path("run/report.json").exists()


def test_gold_that_is_no_document_of_the_store_is_named(file: Path) -> None:
    assert "gold_passages" not in call(file, "-r", "bm25", "--out", "a").stderr
    file.write_text(QUESTIONS.replace('"menabrea"', '"menabrea.html"'), encoding="utf-8")
    assert "no document of the store: menabrea.html;" in call(file, "-r", "bm25", "--out", "b").stderr


def test_resuming_where_no_run_is_says_so(file: Path) -> None:
    assert "no run in typo yet" in call(file, "-r", "bm25", "--resume", "--out", "typo").stderr


def test_resuming_a_run_that_is_complete_says_so(file: Path) -> None:
    call(file, "-r", "bm25", "--out", "run")
    again = call(file, "--resume", "--out", "run")
    assert "the run was complete: nothing was asked" in again.stderr
    assert "Overview" in again.stdout


def test_a_resumed_run_without_recipes_asks_those_it_has(file: Path) -> None:
    call(file, "-r", "bm25", "-r", "bm25: limit = 3", "--out", "run")
    call(file, "--resume", "--out", "run")
    call(file, "--resume", "--out", "run", "-r", "bm25:limit=3")
    made = json.loads(Path("run/run.json").read_text(encoding="utf-8"))
    assert made["recipes"] == ["bm25", "bm25:limit=3"]


def test_a_run_with_a_failed_query_ends_with_1_and_shows_the_table(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(LibraryAnswerer):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            if question.startswith("What is the capital"):
                raise ModelError("the endpoint is gone")
            return super().query(question, recipe, context_only=context_only)

    monkeypatch.setattr(bench, "EngineAnswerer", Broken)
    shown = call(file, "-r", "bm25", "--out", "run", "--format", "markdown", code=1)
    assert "1 of 6 queries failed" in shown.stdout
    monkeypatch.setattr(bench, "EngineAnswerer", LibraryAnswerer)
    assert "failed" not in call(file, "--resume", "--out", "run", "--format", "markdown").stdout


def test_resuming_finds_the_runs_of_this_file_alone(file: Path) -> None:
    other = file.with_name("library-1-20260101-000000.jsonl")
    odd = file.with_name("q[1].jsonl")
    for path in (other, odd):
        path.write_text(QUESTIONS, encoding="utf-8")
        call(path, "-r", "bm25", "--quiet")
    call(file, "--resume", code=2)
    call(odd, "--resume")
    assert len(list(Path(".ekr-bench").iterdir())) == 2


def test_runs_that_begin_in_the_same_second_have_directories_of_their_own(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Stopped:
            return cls(2026, 1, 2, 3, 4, 5, tzinfo=tz)

    monkeypatch.setattr(bench, "datetime", Stopped)
    call(file, "-r", "bm25", "--quiet")
    call(file, "-r", "bm25", "--quiet")
    assert sorted(path.name for path in Path(".ekr-bench").iterdir()) == [
        "library-20260102-030405",
        "library-20260102-030405-2",
    ]


def test_files_of_the_user_are_never_written_over(file: Path) -> None:
    own = Path("own")
    own.mkdir()
    for name in ("questions.jsonl", "results.jsonl", "report.md"):
        (own / name).write_text('{"x": 1}\n')
    for out in (own, file, file / "below"):
        error = call(file, "-r", "bm25", "--out", out, code=2).exception
        assert isinstance(error, BenchUsageError)
    assert {entry.name: entry.read_text() for entry in own.iterdir()} == dict.fromkeys(
        ("questions.jsonl", "results.jsonl", "report.md"), '{"x": 1}\n'
    )
    assert file.read_text(encoding="utf-8") == QUESTIONS


def test_a_part_that_is_graded_leaves_the_report_of_the_run_alone(file: Path) -> None:
    call(file, "-r", "bm25", "--out", "run")
    saved = {name: Path("run", name).read_bytes() for name in ("report.json", "report.md", "rows.jsonl", "run.json")}
    for more in (["--only", "id=q1"], ["--questions", file], ["--questions", file, "--only", "trap=true"]):
        graded = call("grade", "run", *more, "--format", "json")
        assert json.loads(graded.stdout)["notes"][0].startswith("Graded on ")
        assert "not replaced" in graded.stderr
        assert {name: Path("run", name).read_bytes() for name in saved} == saved
    assert json.loads(call("grade", "run", "--only", "id=q1", "--format", "json").stdout)["run"]["only"] == ["id=q1"]


def test_bad_requests_are_refused_before_anything_is_asked(file: Path) -> None:
    for more in (
        ["--judge", "qwen2.5-coder-0.5b", "--generator", "qwen2.5-coder-1.5b"],
        ["--judge", "gpt-x", "--retrieval-only"],
        ["--judge", "nonsuch"],
        ["--plot", "picture.png", "--plot-metric", "facts_in_answer", "--retrieval-only"],
        ["--plot", "picture.gif"],
        ["--only", "category=nobody"],
        ["-r", "bm25:limit="],
    ):
        call(file, "--out", "run", *(["-r", "bm25"] if "-r" not in more else []), *more, code=2)
        assert not Path("run").exists(), more


def test_every_problem_of_a_questions_file_is_in_the_error(file: Path) -> None:
    file.write_text('{"id": "a", "question": "?", "facts": ["("]}\n{"id": "a"}\n', encoding="utf-8")
    error = call(file, code=2).exception
    assert isinstance(error, QuestionsError)
    assert [line.split(": ")[0].rsplit(":", 1)[1] for line in str(error).splitlines()] == ["1", "2"]


def test_an_empty_store_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "EngineAnswerer", EmptyAnswerer)
    assert isinstance(call(file, "-r", "bm25", "--out", "run", code=1).exception, StoreEmpty)
    assert not Path("run").exists()


def test_one_run_is_enough_to_compare_its_two_recipes(file: Path) -> None:
    call(file, "-r", "bm25", "-r", "bypass", "--out", "a")
    assert "A = a, bm25; B = a, bypass" in call("compare", "a").stdout


def test_comparing_prints_json_too(file: Path) -> None:
    call(file, "-r", "bm25", "--out", "a")
    call(file, "-r", "bypass", "--out", "b")
    (one,) = json.loads(call("compare", "a", "b", "--json").stdout)
    evidence = next(m for m in one["metrics"] if m["metric"] == "evidence_top_5")
    assert (evidence["difference"], evidence["lost"]) == (-1.0, ["q1", "q2", "q3", "q4"])


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (600, "10 min"), (5400, "1 h 30 min"), (11100, "3 h 05 min")]
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.models
def test_a_real_store_is_measured_and_checked(notes_store: Path, tmp_path: Path) -> None:
    loom = "What was the Analytical Engine programmed with?"
    asked = [
        {"id": "loom", "question": loom, "evidence": ["punched cards"], "facts": ["Jacquard"]},
        {"id": "art7", "question": "Quelle sanction ?", "evidence": ["Article 7 Sanctions Le non-respect"]},
        {"id": "none", "question": "Who built the ENIAC?", "evidence": ["Eckert"]},
    ]
    path = tmp_path / "asked.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in asked), encoding="utf-8")

    def ekr_bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from ekr.cli.bench import app; app()", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))

    recipes = ["-r", "chunk:rerank=none", "-r", "bypass"]
    done = ekr_bench(
        path, *recipes, "--retrieval-only", "--store", notes_store, "--format", "json", "--out", tmp_path / "run"
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    jsonschema.validate(made, SCHEMA)
    chunk, bypass = (recipe["metrics"] for recipe in made["recipes"])
    assert chunk["evidence_top_5"]["value"] == pytest.approx(2 / 3)
    assert chunk["facts_in_context"]["value"] == 1.0
    assert bypass["evidence_top_5"]["value"] == bypass["facts_in_context"]["value"] == 0.0
    assert made["run"]["engine"]["chunks"] > 0
    checked = ekr_bench("check", path, "--store", notes_store)
    assert checked.returncode == 1
    assert re.search(r"none: no passage matches 'Eckert'", checked.stdout)
    assert "2 of 3 questions" in checked.stdout
