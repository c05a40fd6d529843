"""A writer killed with SIGKILL at each step of a commit, and at random: nothing published is lost."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ekr.errors import StoreError
from ekr.store import Store
from ekr.store.check import check
from tests.store.builders import MANIFEST, SIX, contents, ingest, missing, put

# Publishes after every second document. At the given occurrence of a step it reports on standard output, then dies.
INGEST = """
import logging, os, signal, sys
from pathlib import Path
from ekr.store import Store
from tests.store.builders import MANIFEST, SIX, missing, put

class Kill(logging.Handler):
    left = int(sys.argv[3])
    def emit(self, record):
        if record.getMessage().startswith(sys.argv[2]):
            Kill.left -= 1
            if Kill.left == 0:
                print("reached", flush=True)
                os.kill(os.getpid(), signal.SIGKILL)

logger = logging.getLogger("ekr.store")
logger.setLevel(logging.DEBUG)
logger.addHandler(Kill())
store = Store(Path(sys.argv[1]))
print("started", flush=True)
with store.writer(MANIFEST) as writer:
    todo = missing(writer.content_hashes())
    for number, prepared in enumerate(todo):
        put(writer, prepared)
        if number % 2:
            writer.publish()
    writer.delete([SIX[0].record.id])
    writer.compact()
    put(writer, SIX[0])
    writer.publish()
"""

STEPS = [
    "flushed",
    "vectors finished",
    "postings finished",
    "rows finished",
    "synced",
    "written",
    "renamed",
    "committed",
    "collected",
    "compacted",
]


def ingest_process(store: Store, step: str, occurrence: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", INGEST, str(store.path), step, str(occurrence)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    store = Store(tmp_path_factory.mktemp("undisturbed") / "store")
    ingest(store, *SIX)
    return contents(store)


def finish(store: Store) -> None:
    with store.writer(MANIFEST) as writer:
        put(writer, *missing(writer.content_hashes()))
        writer.publish()


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_a_step_of_a_commit_loses_nothing(store: Store, step: str, undisturbed: dict[str, object]) -> None:
    process = ingest_process(store, step, 1 if step == "compacted" else 2)
    output, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert output.split() == ["started", "reached"]
    assert store.generation() is not None
    assert check(store) == []
    finish(store)
    assert check(store) == []
    assert contents(store) == undisturbed
    assert len(list((store.path / "generations").iterdir())) == 1


@pytest.mark.parametrize("seed", range(2))
def test_a_kill_at_a_random_moment_loses_nothing(store: Store, seed: int, undisturbed: dict[str, object]) -> None:
    process = ingest_process(store, "never", 0)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(random.Random(seed).uniform(0.2, 1.8))
    process.kill()
    process.communicate()
    assert check(store) == []
    finish(store)
    assert check(store) == []
    assert contents(store) == undisturbed


def test_after_a_failed_write_the_writer_refuses_to_publish(store: Store, tmp_path: Path) -> None:
    ingest(store, *SIX[:2])
    with store.writer(MANIFEST) as writer:
        put(writer, SIX[2])
        writer.flush()
        writer.connection.execute("DROP TABLE pages")
        put(writer, SIX[3])
        with pytest.raises(StoreError, match="what was published before is intact"):
            writer.flush()
        with pytest.raises(StoreError, match="an earlier write failed"):
            writer.publish()
    assert store.generation() == 1
    assert check(store) == []
    finish(store)
    assert check(store) == []
