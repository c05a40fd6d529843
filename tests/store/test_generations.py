"""Commit, pinning, collection: old generations stay as they were, and go when nobody reads them."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from ekr.errors import StoreError
from ekr.store import Store, generations
from ekr.store.check import check
from tests.store.builders import MANIFEST, contents, ingest, numbered, put


def hashes(directory: Path) -> dict[str, str]:
    return {
        str(file.relative_to(directory)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(directory.rglob("*"))
        if file.is_file() and not file.name.endswith(".lock")
    }


def on_disk(store: Store) -> list[str]:
    return sorted(entry.name for entry in (store.path / "generations").iterdir())


def test_a_pinned_generation_stays_byte_identical_through_every_kind_of_write(store: Store) -> None:
    ingest(store, *(numbered(number) for number in range(12)))
    with store.snapshot() as snapshot:
        before, seen = hashes(snapshot.directory), len(snapshot.documents())
        with store.writer(MANIFEST) as writer:
            put(writer, *(numbered(number) for number in range(12, 20)))
            writer.publish()
            writer.delete([numbered(number).record.id for number in range(3)])
            writer.publish()
            put(writer, numbered(5, chunks=4))
            writer.publish()
            writer.compact()
        assert hashes(snapshot.directory) == before
        assert len(snapshot.documents()) == seen == 12
        assert snapshot.search_bm25("report", 50)
    assert check(store) == []


def test_a_generation_is_collected_once_its_last_reader_has_gone(store: Store) -> None:
    ingest(store, numbered(1))
    first, second = store.snapshot(), store.snapshot()
    ingest(store, numbered(2))
    assert on_disk(store) == ["1", "2"]
    first.close()
    ingest(store, numbered(3))
    assert on_disk(store) == ["1", "3"]
    second.close()
    with store.writer(MANIFEST):
        assert on_disk(store) == ["3"]


def test_readers_in_a_loop_see_whole_generations_while_a_writer_publishes(store: Store) -> None:
    ingest(store, numbered(0))
    stop, seen, failures = threading.Event(), set[int](), list[BaseException]()

    def read() -> None:
        while not stop.is_set():
            try:
                with store.snapshot() as snapshot:
                    counts = snapshot.counts()
                    assert counts["documents"] == snapshot.generation
                    assert counts["chunks"] == 3 * snapshot.generation
                    assert len(snapshot.search_bm25("report", 100)) == 3 * snapshot.generation
                    seen.add(snapshot.generation)
            except BaseException as error:
                failures.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    with store.writer(MANIFEST) as writer:
        for number in range(1, 8):
            put(writer, numbered(number))
            writer.publish()
    stop.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert len(seen) > 1


def test_leftovers_of_a_crash_are_removed_by_the_next_writer(store: Store) -> None:
    ingest(store, numbered(1))
    for name in ("2", "7", ".removed-1-99"):
        shutil.copytree(store.path / "generations" / "1", store.path / "generations" / name)
    (store.path / "generations" / "7" / "pin").unlink()
    (store.path / "CURRENT.new").write_text("7\n")
    with store.writer(MANIFEST):
        assert on_disk(store) == ["1"]
    assert not (store.path / "CURRENT.new").exists()


def test_a_file_system_without_hard_links_gets_copies(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    ingest(store, numbered(1))
    monkeypatch.setattr(os, "link", refuse)
    ingest(store, numbered(2))
    files = [file for file in (store.path / "generations" / "2").rglob("*") if file.is_file()]
    assert files and all(file.stat().st_nlink == 1 for file in files)
    assert check(store) == []


def test_unchanged_files_of_vectors_and_postings_are_shared_but_never_their_locks(store: Store) -> None:
    ingest(store, numbered(1))
    with store.snapshot():
        ingest(store, numbered(2))
        shared = {
            file.name
            for file in (store.path / "generations" / "2").rglob("*")
            if file.is_file() and file.stat().st_nlink > 1
        }
    assert any(name.endswith(".lance") for name in shared)
    assert any(name.endswith(".term") for name in shared)
    assert not any(name.endswith(".lock") for name in shared)


@pytest.mark.parametrize("text", ["", "nonsense", "7\n"])
def test_a_damaged_or_dangling_current_is_one_line(store: Store, text: str) -> None:
    ingest(store, numbered(1))
    (store.path / "CURRENT").write_text(text)
    with pytest.raises(StoreError, match="ekr doctor --repair") as raised:
        store.snapshot()
    assert "\n" not in str(raised.value)
    assert [finding.engine for finding in check(store)] == ["store"]


@pytest.mark.parametrize(
    ("pattern", "engine"),
    [("graph.duckdb", "duckdb"), ("vectors/chunks.lance/data/*.lance", "lancedb"), ("bm25/chunk-en/*.term", "tantivy")],
)
@pytest.mark.parametrize("harm", ["truncated", "missing"])
def test_a_damaged_engine_is_named_and_never_an_empty_result(
    store: Store, pattern: str, engine: str, harm: str
) -> None:
    ingest(store, *(numbered(number) for number in range(5)))
    for file in (store.path / "generations" / "1").glob(pattern):
        if harm == "missing":
            file.unlink()
        else:
            os.truncate(file, file.stat().st_size // 3)
    findings = check(store)
    assert engine in {finding.engine for finding in findings} or findings[0].engine == "store"
    assert all("\n" not in finding.message for finding in findings)
    with pytest.raises(StoreError, match="ekr doctor"):
        contents(store)


READ_ONLY = """
import os, sys
from pathlib import Path
import duckdb, lancedb, numpy, pyarrow, tantivy
from ekr.errors import StoreError
from ekr.store import Store
from tests.store.builders import MANIFEST, DIMENSION
from ekr.store.check import check
from tests.store.builders import contents
import shutil, tempfile
# Once as the owner, so that every module is imported before it is out of reach.
with tempfile.TemporaryDirectory() as folder:
    copy = Store(Path(shutil.copytree(sys.argv[1], folder + "/copy")))
    assert contents(copy) and check(copy) == []
    try:
        copy.writer(MANIFEST, wait_seconds=0).close()
    except StoreError:
        pass
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
store = Store(Path(sys.argv[1]))
assert not os.access(store.path / "generations/1/bm25/chunk-en", os.W_OK)
with store.snapshot() as snapshot:
    assert len(snapshot.search_bm25("report", 9)) == 3
    assert len(snapshot.search_vectors("chunks", numpy.ones(DIMENSION, numpy.float32), 9)) == 3
    assert len(snapshot.documents()) == 1
assert check(store) == []
try:
    store.writer(MANIFEST)
except StoreError as error:
    print(error)
"""


def test_a_read_only_store_can_be_queried_and_writing_is_one_line(tmp_path: Path) -> None:
    # Not below pytest's own folder, which only its owner may enter.
    with tempfile.TemporaryDirectory(prefix="ekr-read-only-") as folder:
        store = Store(Path(folder) / "store")
        ingest(store, numbered(1))
        for directory, _, names in os.walk(folder):
            for name in names:
                Path(directory, name).chmod(0o444)
            Path(directory).chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(store.path)], capture_output=True, text=True, check=False
        )
        for directory, _, _ in os.walk(folder):
            Path(directory).chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cannot write to the store") and done.stdout.count("\n") == 1


def test_a_generation_counts_from_one_and_numbers_are_never_reused_by_leftovers(store: Store) -> None:
    assert ingest(store, numbered(1)) == 1
    assert ingest(store, numbered(2)) == 2
    assert generations.generations(store.path) == [2]
    assert generations.current(store.path) == 2


def test_a_generation_is_committed_once_it_is_current(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "COMMITTED", "no such folder/committed")
    assert ingest(store, numbered(1)) == 1
    assert ingest(store, numbered(2)) == 2
    assert check(store) == []


@pytest.mark.parametrize("where", ["generations/7", "generations/1/pin", "CURRENT.new"])
def test_what_does_not_belong_there_is_no_crash(store: Store, where: str) -> None:
    ingest(store, numbered(1))
    place = store.path / where
    if where == "generations/7":
        place.write_text("a file")
    else:
        place.unlink(missing_ok=True)
        place.mkdir()
    if where == "CURRENT.new":
        with pytest.raises(StoreError, match=r"CURRENT\.new.*what was published before is intact"):
            ingest(store, numbered(2))
    else:
        ingest(store, numbered(2))
    assert check(store) == []
    assert place.exists()


def test_a_current_of_thousands_of_digits_is_damaged(store: Store) -> None:
    ingest(store, numbered(1))
    (store.path / "CURRENT").write_text("1" * 5000)
    with pytest.raises(StoreError, match="is damaged; run: ekr doctor --repair"):
        store.generation()
    assert [finding.repair for finding in check(store)] == ["current"]
