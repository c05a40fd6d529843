from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ekr.bench.directory import RunDirectory, RunInfo
from ekr.bench.errors import BenchError, BenchUsageError
from ekr.bench.grading import rows
from ekr.bench.runs import RunOptions, run
from tests.bench.library import Library, engine, questions

OPTIONS = RunOptions(("bm25",), generator="quoting")


def go(path: Path, *, resume: bool = False) -> RunInfo:
    return run(RunDirectory(path), questions(), Library(), OPTIONS, engine=engine(), resume=resume)


def contents(folder: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize(
    "own",
    [
        {"questions.jsonl": '{"x": 1}\n', "results.jsonl": '{"x": 1}\n', "report.md": "mine"},
        {"letter.txt": "mine"},
        {"run.json": '{"speed": 3}'},
        {"run.json": '{"format": 99}', "results.jsonl": ""},
    ],
)
def test_a_directory_of_other_files_is_refused_and_left_as_it_is(
    tmp_path: Path, own: dict[str, str], resume: bool
) -> None:
    for name, text in own.items():
        (tmp_path / name).write_text(text)
    before = contents(tmp_path)
    with pytest.raises(BenchUsageError) as caught:
        go(tmp_path, resume=resume)
    assert "--out" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert contents(tmp_path) == before


def test_a_directory_that_is_new_empty_or_only_locked_takes_a_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / ".lock").touch()
    for name in ("new/deep", "empty", "locked"):
        go(tmp_path / name)
        assert len(rows(RunDirectory(tmp_path / name))) == 6


def test_a_run_that_was_stopped_before_its_questions_were_written_goes_on(tmp_path: Path) -> None:
    go(tmp_path)
    (tmp_path / "questions.jsonl").unlink()
    (tmp_path / "results.jsonl").unlink()
    go(tmp_path, resume=True)
    assert len(rows(RunDirectory(tmp_path))) == 6


def test_a_path_that_cannot_be_a_directory_is_one_typed_line(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text("mine")
    for path in (file, file / "below", Path("/proc/ekr-run")):
        with pytest.raises(BenchUsageError, match="--out") as caught:
            go(path)
        assert str(path) in str(caught.value)
    assert file.read_text() == "mine"


GOOD = {"recipe": "bm25", "repeat": 0, "id": "q1", "seconds": 0.1, "result": {}, "error": None}


@pytest.mark.parametrize(
    "line",
    [
        {"x": 1},
        [],
        5,
        GOOD | {"x": 1},
        GOOD | {"repeat": "0"},
        GOOD | {"result": None},
        GOOD | {"seconds": "fast"},
        GOOD | {"result": None, "error": {"type": "E"}},
        GOOD | {"result": None, "error": "E"},
    ],
)
def test_a_result_of_another_shape_is_named_with_file_and_line(tmp_path: Path, line: object) -> None:
    go(tmp_path)
    directory = RunDirectory(tmp_path)
    with directory.results_file.open("a") as file:
        file.write(json.dumps(line) + "\n")
    with pytest.raises(BenchError, match=r"results\.jsonl:7 is no result of ekr") as caught:
        rows(directory)
    assert "\n" not in str(caught.value)


def test_a_judgement_of_another_shape_is_named_with_file_and_line(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    directory.save_info(replace(go(tmp_path), judge="someone"))
    directory.judgements_file.write_text('{"judge": "someone"}\n')
    with pytest.raises(BenchError, match=r"judgements\.jsonl:1 is no judgement of ekr"):
        rows(directory)
