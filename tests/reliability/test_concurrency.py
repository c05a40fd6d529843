"""Readers beside a writer, and two writers at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ekr import Engine
from ekr.errors import StoreLocked
from ekr.ingestion.pipeline import IngestOptions
from ekr.store import Store
from ekr.store.check import check

ROOT = Path(__file__).parent.parent.parent


def test_readers_beside_an_ingest_meet_no_error_and_never_a_mixed_generation() -> None:
    script = [sys.executable, ROOT / "benchmarks" / "concurrency.py", "--no-control", "--json"]
    command = [str(part) for part in [*script, "--seconds", 5, "--readers", 2]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["beside_an_ingest"]
    assert found["errors"] == []
    assert found["mixed"] == []
    assert found["ingests"] >= 3
    assert found["rounds_seen"] >= 2
    assert found["queries"] > 0


def ingest_process(folder: Path, store: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ekr", "ingest", str(folder), "--store", str(store), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_ingests_of_the_same_files_at_once_make_no_duplicates(notes: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    both = [ingest_process(notes, store.path) for _ in range(2)]
    told = [process.communicate() for process in both]
    for process, (output, errors) in zip(both, told, strict=True):
        # The second waits ten seconds; on a slow machine it then says who works on the store.
        if process.returncode:
            assert process.returncode == 1
            assert f"is being written by process {both[0].pid}" in errors or f"process {both[1].pid}" in errors
            assert len(errors.strip().splitlines()) == 1
        else:
            report = json.loads(output)
            assert report["added"] + report["unchanged"] == 3
    assert min(process.returncode for process in both) == 0
    assert check(store) == []
    with store.snapshot() as snapshot:
        assert snapshot.counts()["documents"] == 3
        assert len({document.key for document in snapshot.documents()}) == 3


def test_a_second_writer_waits_and_then_works(notes: Path, notes_store: Path, tmp_path: Path) -> None:
    with Engine.open(notes_store) as engine:
        manifest = engine.snapshot().manifest
    store = Store(tmp_path / "store")
    writer = store.writer(manifest)
    threading.Timer(0.5, writer.close).start()
    began = time.monotonic()
    with Engine.open(store.path) as engine:
        report = engine.ingest(notes)
    assert time.monotonic() - began > 0.4
    assert len(report.added) == 3


def test_a_second_writer_that_waited_long_enough_says_who_holds_the_store(
    notes: Path, notes_store: Path, tmp_path: Path
) -> None:
    with Engine.open(notes_store) as engine:
        manifest = engine.snapshot().manifest
    store = Store(tmp_path / "store")
    named = f"process {os.getpid()} on .* since .*; try again"
    with store.writer(manifest), Engine.open(store.path) as engine, pytest.raises(StoreLocked, match=named):
        engine.ingest(notes, options=IngestOptions(wait_seconds=0.2))
