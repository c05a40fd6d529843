"""What DuckDB spills goes with its process, at the latest when the next command writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ekr.store import Store, spill
from tests.store.builders import contents, ingest, numbered

SPILLING = r"""
import sys
from collections.abc import Iterator
from pathlib import Path
from ekr.store.schema import connect
connection = connect(Path(sys.argv[1]), read_only=False)
connection.execute("SET memory_limit = '40MB'")
connection.execute("SET threads = 1")
connection.execute("CREATE TEMP TABLE t AS SELECT range AS n, repeat(md5(range::VARCHAR), 40) AS s FROM range(100000)")
print("spilt", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory of the test's own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    spill._named.cache_clear()
    yield folder
    spill._named.cache_clear()
    monkeypatch.undo()
    tempfile.tempdir = None


def test_what_a_killed_command_spilled_is_removed_by_the_next_that_writes(store: Store, temporary: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SPILLING, str(temporary.parent / "rows.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "spilt\n"
        (folder,) = temporary.glob("ekr-*")
        assert list(folder.iterdir())
        ingest(store, numbered(1))
        assert list(folder.iterdir())
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert list(folder.iterdir())
    ingest(store, numbered(2))
    assert not folder.exists()


def test_nothing_else_in_the_temporary_directory_is_touched(store: Store, temporary: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    (temporary / "elsewhere").mkdir()
    link = temporary / f"ekr-{ended.pid}-{'0' * 16}"
    link.symlink_to(temporary / "elsewhere")
    others = [f"ekr-{ended.pid}-mine", f"ekr-{os.getpid()}-{'0' * 16}", f"ekr-crash-{ended.pid}"]
    for name in others:
        (temporary / name).mkdir()
    ingest(store, numbered(1))
    assert {entry.name for entry in temporary.iterdir()} >= {link.name, "elsewhere", *others}


def test_a_name_is_the_same_for_a_file_and_cannot_be_known_before(tmp_path: Path) -> None:
    one = spill.spill_directory(tmp_path / "a")
    assert one == spill.spill_directory(tmp_path / "a") != spill.spill_directory(tmp_path / "b")
    spill._named.cache_clear()
    assert spill.spill_directory(tmp_path / "a") != one


def test_without_a_temporary_directory_the_store_is_read_and_written(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(store, numbered(1))

    def none() -> str:
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    spill._named.cache_clear()
    try:
        ingest(store, numbered(2))
        assert len(contents(store)["documents"]) == 2
        with store.snapshot() as snapshot:
            row = snapshot.connection.execute("SELECT current_setting('temp_directory')").fetchone()
            assert row == ("",)
    finally:
        spill._named.cache_clear()
