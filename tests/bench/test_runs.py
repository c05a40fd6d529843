from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ekr.bench.directory import RunDirectory
from ekr.bench.errors import BenchError, BenchUsageError
from ekr.bench.grading import Row, rows
from ekr.bench.report import Report, report
from ekr.bench.runs import Progress, RunOptions, run
from ekr.errors import ModelMissing, RecipeError, StoreEmpty
from tests.bench.library import Library, engine, questions
from tests.bench.slow_run import RECIPES

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = RunOptions(("bm25", "bypass"), generator="quoting")


def start(directory: Path, *more: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-m", "tests.bench.slow_run", str(directory), *more], env=environment)


def wait_for_lines(file: Path, count: int) -> int:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if file.exists() and (lines := file.read_bytes().count(b"\n")) >= count:
            return lines
        time.sleep(0.005)
    raise AssertionError(f"{file} never had {count} lines")


def timeless(made: Report) -> dict[str, Any]:
    """A report without what a clock measured."""
    data = made.model_dump()
    data["run"]["created"] = ""
    for recipe in data["recipes"]:
        for figures in (recipe["metrics"], *recipe["categories"].values()):
            for key in ("latency_p50", "latency_p95"):
                figures[key] = figures[key]["over"]
    return data


def timeless_rows(scored: list[Row]) -> list[Row]:
    clock = ("latency_p50", "latency_p95")
    return [replace(r, values={k: v for k, v in r.values.items() if k not in clock}) for r in scored]


def test_a_killed_run_resumes_to_the_table_of_an_undisturbed_one(tmp_path: Path) -> None:
    calm = start(tmp_path / "calm")
    killed = start(tmp_path / "killed")
    wait_for_lines(tmp_path / "killed" / "results.jsonl", 9)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    results = tmp_path / "killed" / "results.jsonl"
    done = wait_for_lines(results, 9)
    assert done < 36
    with results.open("ab") as file:
        file.write(b'{"recipe": "bm25", "repeat": 1, "id": "q')  # what a crash in mid-write leaves
    before = results.read_bytes()[: -len(b'{"recipe": "bm25", "repeat": 1, "id": "q')]
    assert start(tmp_path / "killed", "--resume").wait() == 0
    assert calm.wait() == 0
    assert results.read_bytes().startswith(before), "what was done was done again"
    assert results.read_bytes().count(b"\n") == 36
    calm_report, calm_rows = report(RunDirectory(tmp_path / "calm"))
    resumed_report, resumed_rows = report(RunDirectory(tmp_path / "killed"))
    assert calm_report.run.complete
    assert timeless(resumed_report) == timeless(calm_report)
    assert timeless_rows(resumed_rows) == timeless_rows(calm_rows)
    assert len(calm_rows) == len(RECIPES) * 2 * 6


def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    class Impatient(Library):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            if len(self.asked) == 4:
                raise KeyboardInterrupt
            return super().query(question, recipe, context_only=context_only)

    directory = RunDirectory(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(directory, questions(), Impatient(), OPTIONS, engine=engine())
    partial, scored = report(directory)
    assert (len(scored), partial.run.complete) == (4, False)
    assert "4 of 12 queries are done" in " ".join(partial.notes)
    library = Library()
    run(directory, questions(), library, OPTIONS, engine=engine(), resume=True)
    assert len(library.asked) == 8
    assert report(directory)[0].run.complete


def test_an_interrupt_inside_a_question_of_several_jobs_is_never_a_result(tmp_path: Path) -> None:
    class Impatient(Library):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            if question == questions()[3].question:
                raise KeyboardInterrupt
            return super().query(question, recipe, context_only=context_only)

    directory = RunDirectory(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(directory, questions(), Impatient(), replace(OPTIONS, jobs=2), engine=engine())
    stored = list(directory.results())
    assert 2 <= len(stored) < 12
    assert all(one.error is None and one.id != "q4" for one in stored)
    run(directory, questions(), Library(), replace(OPTIONS, jobs=2), engine=engine(), resume=True)
    assert report(directory)[0].run.complete


def test_what_other_jobs_have_answered_is_kept_when_one_is_interrupted(tmp_path: Path) -> None:
    texts = [question.question for question in questions()[:5]]
    all_at_work = threading.Barrier(len(texts))

    class Together(Library):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            all_at_work.wait(10)
            if question != texts[0]:
                time.sleep(0.05)
            if question == texts[1]:
                raise KeyboardInterrupt
            return super().query(question, recipe, context_only=context_only)

    directory = RunDirectory(tmp_path)
    options = RunOptions(("bm25",), jobs=5, generator="q")
    # While the first result is reported all others end, so that one round finds the interrupt among them.
    with pytest.raises(KeyboardInterrupt):
        run(directory, questions()[:5], Together(), options, engine=engine(), on_progress=lambda _: time.sleep(0.5))
    assert sorted(one.id for one in directory.results()) == ["q1", "q3", "q4", "q5"]


def test_ctrl_c_keeps_what_the_other_jobs_are_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both_at_work = threading.Barrier(2)

    class Together(Library):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            both_at_work.wait(10)
            if question == questions()[0].question:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)
            return super().query(question, recipe, context_only=context_only)

    directory = RunDirectory(tmp_path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(directory, questions(), Together(), RunOptions(("bm25",), jobs=2, generator="q"), engine=engine())
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(one.id for one in directory.results()) == ["q1", "q2"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_thread_prepares_itself_before_its_first_question_and_outside_its_time(tmp_path: Path, jobs: int) -> None:
    prepared: list[int] = []

    def prepare() -> None:
        prepared.append(threading.get_ident())
        time.sleep(0.2)

    class Watched(Library):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            assert threading.get_ident() in prepared
            return super().query(question, recipe, context_only=context_only)

    directory = RunDirectory(tmp_path)
    library = Watched(seconds=0.05)
    run(directory, questions(), library, replace(OPTIONS, jobs=jobs), engine=engine(), prepare=prepare)
    assert len(prepared) == len(set(prepared)) == jobs
    assert max(one.seconds or 0 for one in directory.results()) < 0.2


def test_a_failed_preparation_ends_the_run_also_with_several_jobs(tmp_path: Path) -> None:
    def prepare() -> None:
        raise ModelMissing("no generator; run: ekr models pull")

    with pytest.raises(ModelMissing):
        run(
            RunDirectory(tmp_path), questions(), Library(), replace(OPTIONS, jobs=3), engine=engine(), prepare=prepare
        )  # fmt: skip


def test_a_resumed_run_tells_the_jobs_and_machines_of_all_its_sessions(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    run(directory, questions(), Library(), replace(OPTIONS, jobs=4), engine=engine())
    info = directory.info()
    directory.save_info(replace(info, machine={**info.machine, "processor": "another"}))
    more = replace(OPTIONS, recipes=("bm25:limit=3",))
    for _ in range(2):
        run(directory, questions(), Library(), more, engine=engine(), resume=True)
    resumed = directory.info()
    assert resumed.jobs == 4
    assert (resumed.machine["processor"], resumed.machine["also"]) == ("another", info.machine)
    assert any("another machine" in note for note in report(directory)[0].notes)


def test_jobs_run_side_by_side_and_give_the_same_rows(tmp_path: Path) -> None:
    all_at_work = threading.Barrier(4)

    class Together(Library):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            all_at_work.wait(10)  # raises where fewer than four run at the same time
            return super().query(question, recipe, context_only=context_only)

    one, four = RunDirectory(tmp_path / "1"), RunDirectory(tmp_path / "4")
    run(one, questions(), Library(), OPTIONS, engine=engine())
    run(four, questions(), Together(), replace(OPTIONS, jobs=4), engine=engine())
    assert timeless_rows(rows(four)) == timeless_rows(rows(one))
    assert any("4 queries ran at the same time" in note for note in report(four)[0].notes)


def test_a_failed_question_is_recorded_counts_as_nothing_and_is_asked_again(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    broken = Library(broken=frozenset({questions()[0].question}))
    run(directory, questions(), broken, OPTIONS, engine=engine())
    made, scored = report(directory)
    assert scored[0].error == "RuntimeError: the index fell over"
    assert made.recipes[0].failed == 1
    assert made.recipes[0].metrics["latency_p50"].over == 5
    assert made.recipes[0].metrics["evidence_top_5"].over == 4
    assert any("1 of 6 queries failed" in note for note in made.notes)
    library = Library()
    run(directory, questions(), library, OPTIONS, engine=engine(), resume=True)
    assert [question for _, question in library.asked] == [questions()[0].question] * 2
    assert report(directory)[0].recipes[0].failed == 0


@pytest.mark.parametrize("error", [RecipeError("unknown recipe"), ModelMissing("pull it"), StoreEmpty("empty")])
def test_what_would_fail_every_question_stops_the_run(tmp_path: Path, error: Exception) -> None:
    class Refusing(Library):
        def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
            raise error

    with pytest.raises(type(error)):
        run(RunDirectory(tmp_path), questions(), Refusing(), OPTIONS, engine=engine())


def test_an_empty_store_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(StoreEmpty, match="ekr ingest"):
        run(RunDirectory(tmp_path / "run"), questions(), Library(), OPTIONS, engine={"chunks": 0})
    assert not (tmp_path / "run").exists()


def test_a_run_is_neither_overwritten_nor_mixed_with_another(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)

    def go(options: RunOptions = OPTIONS, *, resume: bool = True, some: int = 6, **engine_changes: Any) -> None:
        changed = {**engine(), **engine_changes}
        values = {"bm25": {"limit": engine_changes.get("generation", 8)}}
        run(directory, questions()[:some], Library(), options, engine=changed, recipe_values=values, resume=resume)

    go()
    with pytest.raises(BenchUsageError, match="--resume"):
        go(resume=False)
    for expected, call in {
        "differs in its questions": lambda: go(some=3),
        r"its generator \(quoting\)": lambda: go(replace(OPTIONS, generator="another")),
        "--retrieval-only": lambda: go(replace(OPTIONS, retrieval_only=True)),
        r"its generation \(None\), the values of recipe bm25": lambda: go(generation=4),
    }.items():
        with pytest.raises(BenchUsageError, match=expected):
            call()
    assert len(rows(directory)) == 12


def test_a_resumed_run_may_grow_by_recipes_and_repeats(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    run(directory, questions(), Library(), OPTIONS, engine=engine())
    library = Library()
    run(
        directory,
        questions(),
        library,
        RunOptions(("bm25:limit=1",), 2, generator="quoting"),
        engine=engine(),
        resume=True,
    )
    assert len(library.asked) == 6 * (2 * 3 - 2)
    made, _ = report(directory)
    assert [recipe.recipe for recipe in made.recipes] == ["bm25", "bypass", "bm25:limit=1"]
    assert made.run.complete


def test_two_benches_do_not_write_to_one_directory(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    with directory.locked(), pytest.raises(BenchError, match="another bench"):
        run(RunDirectory(tmp_path), questions(), Library(), OPTIONS, engine=engine())


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    run(directory, questions(), Library(), OPTIONS, engine=engine())
    lines = directory.results_file.read_text().splitlines(keepends=True)
    directory.results_file.write_text("".join([*lines[:2], "}{\n", *lines[3:]]))
    with pytest.raises(BenchError, match=r"results\.jsonl:3 is damaged"):
        rows(directory)


@pytest.mark.parametrize("content", [None, "{", '{"format": 1}', '{"format": 99}', "[]"])
def test_a_directory_without_a_readable_run_is_one_line(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(BenchError) as caught:
        RunDirectory(tmp_path).info()
    assert "\n" not in str(caught.value)


def test_progress_counts_up_and_its_time_left_goes_to_zero(tmp_path: Path) -> None:
    seen: list[Progress] = []
    run(RunDirectory(tmp_path), questions(), Library(seconds=0.02), OPTIONS, engine=engine(), on_progress=seen.append)
    assert [p.done for p in seen] == list(range(1, 13))
    assert seen[-1].seconds_left == 0
    first = seen[0].seconds_left
    assert first is not None
    assert first == pytest.approx(11 * seen[0].seconds, rel=0.01)


def test_a_run_directory_is_enough_to_read_every_answer(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    run(directory, questions(), Library(), OPTIONS, engine=engine())
    lines = [json.loads(line) for line in directory.results_file.read_text().splitlines()]
    assert lines[0]["result"]["answer"].endswith("[1]")
    assert "<chunk" in lines[0]["result"]["trace"]["context"]
    assert directory.info().machine["cores"] >= 1


def test_repeat_and_jobs_of_nothing_are_refused(tmp_path: Path) -> None:
    for options in (replace(OPTIONS, repeat=0), replace(OPTIONS, jobs=0), replace(OPTIONS, recipes=())):
        with pytest.raises(BenchUsageError):
            run(RunDirectory(tmp_path), questions(), Library(), options, engine=engine())
