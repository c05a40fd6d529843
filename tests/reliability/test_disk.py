"""Disks that are full, cannot be written, or have no hard links: what was published stays, and one line says why."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ekr.ingestion.pipeline import IngestOptions
from ekr.store import Store
from ekr.store.check import check
from tests.conftest import Ekr
from tests.reliability import shelves

COUNT = 6
ASK = ("query", "Who works at the Halden Institute?", "--recipe", "mix", "--set", "rerank=none", "--context-only")


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shelves.write(tmp_path_factory.mktemp("disk") / "notes", COUNT)


@pytest.fixture(scope="module")
def sound(notes: Path) -> Path:
    """A store of all the notes; tests work on copies of it."""
    shelves.make(notes.parent / "store", notes)
    return notes.parent / "store"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a file system cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def fill(disk: Path, leave: int) -> Path:
    free = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(bytes(free.f_bavail * free.f_frsize - leave))
    return filler


def asked(ekr: Ekr, store: Path) -> list[str]:
    done = ekr(*ASK, "--json", "--store", store)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["degraded"] == []
    return [item["id"] for item in found["items"]]


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("leave", [100_000, 3_000_000])
def test_a_full_disk_fails_the_ingest_and_keeps_what_was_published(
    ekr: Ekr, notes: Path, sound: Path, disk: Path, leave: int
) -> None:
    store = disk / "store"
    first = ekr("ingest", notes / "note-0.md", "--store", store)
    assert first.returncode == 0, first.stderr
    before = asked(ekr, store)
    filler = fill(disk, leave)
    said = one_line(ekr("ingest", notes, "--json", "--store", store))
    assert "intact" in said
    assert asked(ekr, store) == before
    assert ekr("doctor", "--store", store).returncode == 0
    filler.unlink()
    assert ekr("ingest", notes, "--store", store).returncode == 0
    assert check(Store(store)) == []
    assert shelves.rows(store) == shelves.rows(sound)
    assert shelves.vectors(store) == shelves.vectors(sound)


@pytest.mark.parametrize("command", [("delete", "note-0.md"), ("compact",), ("reindex",)])
def test_a_limit_on_the_size_of_files_fails_like_a_full_disk(
    ekr: Ekr, sound: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    store = shutil.copytree(sound, tmp_path / "store")
    before = shelves.rows(store), shelves.vectors(store), shelves.postings(store)
    limit = shelves.generation_of(store).joinpath("graph.duckdb").stat().st_size // 2
    done = ekr(*command, "--store", store, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert "intact" in one_line(done)
    assert check(Store(store)) == []
    assert (shelves.rows(store), shelves.vectors(store), shelves.postings(store)) == before


def test_a_backup_that_does_not_fit_leaves_nothing_behind(ekr: Ekr, sound: Path, disk: Path) -> None:
    fill(disk, 1_000_000)
    said = one_line(ekr("backup", disk / "copy", "--store", sound))
    assert "the store itself is unchanged" in said
    assert not (disk / "copy").exists()


def test_a_read_only_store_answers_and_says_that_it_cannot_be_written(
    ekr: Ekr, notes: Path, sound: Path, disk: Path
) -> None:
    store = shutil.copytree(sound, disk / "store")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    before = shelves.bytes_on_disk(store)
    assert asked(ekr, store) == asked(ekr, sound)
    assert json.loads(ekr("status", "--json", "--store", store).stdout)["documents"] == COUNT
    assert ekr("doctor", "--store", store).returncode == 0
    assert ekr("backup", disk.parent / "copy", "--store", store).returncode == 0
    for command in (("ingest", notes), ("delete", "*"), ("compact",), ("reindex",)):
        assert "cannot write to the store" in one_line(ekr(*command, "--store", store))
    assert shelves.bytes_on_disk(store) == before


def test_a_repair_of_a_read_only_store_says_what_it_could_not_do(ekr: Ekr, sound: Path, disk: Path) -> None:
    store = shutil.copytree(sound, disk / "store")
    shutil.rmtree(shelves.generation_of(store) / "bm25")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    done = ekr("doctor", "--repair", "--json", "--store", store)
    assert done.returncode == 1
    problems = json.loads(done.stdout)["problems"]
    assert {problem["part"] for problem in problems} == {"tantivy", "store"}
    assert any("not repaired: cannot write to the store" in problem["problem"] for problem in problems)


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.EXDEV, errno.EMLINK])
def test_where_hard_links_are_refused_files_are_copied(
    sound: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    # No file system without links can be mounted in a test, so the call is made to fail as such a system does.
    refused = []

    def link(*_: object, **__: object) -> None:
        refused.append(code)
        raise OSError(code, os.strerror(code))

    store = shutil.copytree(sound, tmp_path / "store")
    monkeypatch.setattr(os, "link", link)
    with shelves.engine_of(store) as reader, shelves.engine_of(store) as writer:
        old = reader.snapshot().directory
        contents = {
            file: file.read_bytes() for file in old.rglob("*") if file.is_file() and not file.name.endswith(".lock")
        }
        (tmp_path / "more.md").write_text(shelves.text(40), encoding="utf-8")
        report = writer.ingest(tmp_path / "more.md", options=IngestOptions())
        assert (report.added, report.failed) == (["more.md"], [])
        assert refused
        assert writer.doctor().sound
        assert all(file.stat().st_nlink == 1 for file in shelves.generation_of(store).rglob("*") if file.is_file())
        assert {file: file.read_bytes() for file in contents} == contents
        assert writer.status()["documents"] == COUNT + 1
