"""One writer at a time, named to the others; the lock goes with its process and with nothing else."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ekr.errors import StoreError, StoreLocked
from ekr.store import Store
from tests.store.builders import MANIFEST, ingest, numbered

HOLD = r"""
import os, sys, time
from pathlib import Path
from ekr.store import Store
from tests.store.builders import MANIFEST
writer = Store(Path(sys.argv[1])).writer(MANIFEST)
if sys.argv[2] == "fork" and os.fork() == 0:
    os.write(1, b"child %d\n" % os.getpid())
    time.sleep(30)
    os._exit(0)
os.write(1, b"held\n")
time.sleep(30)
"""


def holder(store: Store, how: str = "plain") -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", HOLD, str(store.path), how], stdout=subprocess.PIPE, text=True)


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().strip() for _ in range(count)]


def test_a_second_writer_waits_a_bounded_time_and_is_told_who_holds_the_store(store: Store) -> None:
    process = holder(store)
    try:
        assert lines(process, 1) == ["held"]
        started = time.monotonic()
        with pytest.raises(StoreLocked, match=rf"process {process.pid} on \S+ since 20\d\d-") as raised:
            store.writer(MANIFEST, wait_seconds=0.3)
        assert 0.3 <= time.monotonic() - started < 3
        assert "\n" not in str(raised.value)
    finally:
        process.kill()
        process.wait()


def test_a_killed_writer_leaves_no_lock_behind(store: Store) -> None:
    process = holder(store)
    assert lines(process, 1) == ["held"]
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert ingest(store, numbered(1)) == 1


def test_a_child_that_outlives_the_writer_does_not_keep_the_lock(store: Store) -> None:
    process = holder(store, "fork")
    child = int(next(line for line in lines(process, 2) if line.startswith("child")).split()[1])
    try:
        process.kill()
        process.wait()
        os.kill(child, 0)
        with store.writer(MANIFEST, wait_seconds=0.5):
            pass
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_writer_that_waits_goes_on_when_the_first_has_finished(store: Store) -> None:
    first = store.writer(MANIFEST)
    threading.Timer(0.3, first.close).start()
    with store.writer(MANIFEST, wait_seconds=10) as second:
        assert second.publish() == 1


def test_readers_never_wait_for_a_writer(store: Store) -> None:
    ingest(store, numbered(1))
    with store.writer(MANIFEST) as writer:
        writer.delete([numbered(1).record.id])
        with store.snapshot() as snapshot:
            assert snapshot.counts()["documents"] == 1


def test_a_store_below_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot write to the store"):
        Store(tmp_path / "file" / "store").writer(MANIFEST)


def test_a_lock_whose_note_cannot_be_written_is_given_back(store: Store) -> None:
    ingest(store, numbered(1))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(StoreError, match="cannot write to the store"):
            store.writer(MANIFEST, wait_seconds=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    store.writer(MANIFEST, wait_seconds=0).close()
