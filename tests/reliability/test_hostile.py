"""Three hundred hostile files beside good ones, in one ingest: each is named with its reason, the good ones are in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ekr.reading.files import discover
from tests.conftest import Ekr
from tests.reliability.hostile_files import hostile_files
from tests.reliability.hostile_run import HostileResult, ingest_hostile


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def result(base: Path) -> HostileResult:
    return ingest_hostile(base, heavy=False, extractor="none")


def test_there_are_three_hundred_files_of_many_kinds() -> None:
    files = hostile_files()
    assert len({file.name for file in files}) == len(files) >= 300


def test_every_file_is_in_or_named_with_its_reason_within_its_time_and_memory(result: HostileResult) -> None:
    assert result.problems == []


def test_nothing_that_a_file_or_its_name_holds_reaches_the_terminal_as_a_command(
    ekr: Ekr, base: Path, result: HostileResult
) -> None:
    for command in (["documents"], ["status"], ["query", "Where is the mill?", "--context-only"]):
        done = ekr(*command, "--store", base / "store", env={"EKR_RERANKER": "none"})
        assert done.returncode == 0, done.stderr
        shown = done.stdout + done.stderr
        assert not [sign for sign in "\x1b\x07\0\u202e\u2066" if sign in shown]


def test_a_loop_of_links_and_a_pipe_do_not_end_the_walk_of_their_folder(tmp_path: Path) -> None:
    (tmp_path / "a-loop").symlink_to("a-loop")
    os.mkfifo(tmp_path / "b-pipe.jsonl")
    os.mkfifo(tmp_path / ".ekrignore")
    (tmp_path / "c.txt").write_text("The mill stands.")
    found = discover([tmp_path])
    assert [file.display for file in found.files] == ["c.txt"]
    assert {error.reason for error in found.errors} == {"not a regular file"}
    assert {skipped.display for skipped in found.skipped} == {"a-loop"}
