"""Options before the command, a store's path that cannot be one, Ctrl-C: as real processes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NOTES, Ekr


def test_quiet_before_the_command_is_quiet_after_it(ekr: Ekr, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "note.txt").write_text(NOTES["people/lovelace.txt"], encoding="utf-8")
    done = ekr("-q", "ingest", tmp_path / "notes", "--extractor", "none", "--store", tmp_path / "s")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert ekr("-q", "recipes").stderr == ekr("recipes", "list", "-q").stderr == ""
    assert "case-sensitively" in ekr("recipes").stderr


def test_one_chunk_is_no_plural(ekr: Ekr, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text(NOTES["people/lovelace.txt"], encoding="utf-8")
    done = ekr("ingest", tmp_path / "note.txt", "--extractor", "none", "--store", tmp_path / "s")
    assert "; 1 chunk is new." in done.stdout


@pytest.mark.parametrize(
    "arguments", [("-q", "-v", "status"), ("-v", "status", "-q"), ("-q", "status", "-v"), ("status", "-v", "-q")]
)
def test_quiet_and_verbose_together_are_a_usage_error(ekr: Ekr, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = ekr(*arguments, "--store", tmp_path / "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ekr: -q and -v contradict each other; give one of them\n"


@pytest.mark.parametrize("command", [("status",), ("query", "x"), ("ingest", "README.md"), ("doctor",)])
def test_a_file_is_no_store(ekr: Ekr, tmp_path: Path, command: tuple[str, ...]) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    done = ekr(*command, "--store", file)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"ekr: the store {file} is not a directory; name one with --store\n"
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    "arguments",
    [
        ("documents",),
        ("documents", "--json"),
        ("graph", "export"),
        ("query", "mill", "--recipe", "chunk", "--context-only"),
        ("query", "-", "--recipe", "bypass", "--context-only"),
        ("--help",),
    ],
)
def test_output_that_is_full_is_a_one_line_failure(notes_store: Path, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "ekr", *arguments, *(() if "--help" in arguments else ("--store", notes_store))]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, input="x\n", stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "ekr: cannot write to standard output: No space left on device\n"


def test_closed_output_is_refused_before_a_file_takes_its_place(notes_store: Path) -> None:
    command = f'"{sys.executable}" -m ekr documents --store "{notes_store}" >&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ekr: standard output is closed; send it to /dev/null instead\n"


def test_ctrl_c_says_in_one_line_what_has_become_of_the_work(notes_store: Path) -> None:
    command = [sys.executable, "-m", "ekr", "query", "-", "--recipe", "bypass", "--context-only"]
    pipe = subprocess.PIPE
    # A shell that starts the tests in the background lets them ignore Ctrl-C, and whatever they start as well.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        [*command, "--store", notes_store], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        signal.signal(signal.SIGINT, before)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("x\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith('{"question": "x"')
        process.send_signal(signal.SIGINT)
        # Not `communicate`: closing the input would end the command by itself.
        assert process.wait(timeout=30) == 130
        assert process.stderr is not None
        assert process.stderr.read() == "ekr: stopped; what was published stays; run it again to go on\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\u2028", "\x0b"])
def test_a_name_with_a_line_end_does_not_make_two_lines_of_a_message(
    ekr: Ekr, notes_store: Path, tmp_path: Path, end: str
) -> None:
    missing = ekr("delete", f"one{end}two", "--store", notes_store)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert len(missing.stderr.splitlines()) == 1
    assert "one two" in missing.stderr
    file = tmp_path / f"one{end}two"
    file.write_text("mine")
    refused = ekr("status", "--store", file)
    assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)
    assert "name " in refused.stderr


def test_each_problem_of_a_questions_file_has_a_line(ekr: Ekr, notes_store: Path, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text("[1]\n[2]\n")
    failed = ekr("bench", "check", file, "--store", notes_store)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert len(failed.stderr.splitlines()) == 2
    assert all(line.startswith("ekr: ") for line in failed.stderr.splitlines())
