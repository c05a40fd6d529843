"""The commands beside `ekr ingest` that write, each killed at a step of its commit: nothing is lost, and it can be
run again."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ekr import Engine
from ekr.config import Settings
from ekr.loaded import LoadedModels
from ekr.store import Store
from ekr.store.check import check
from tests.conftest import Ekr

CHILD = Path(__file__).with_name("crash_child.py")
QUESTION = "Who designed the Difference Engine?"
DELETED = "people/lovelace.txt"

Found = list[tuple[str, str]]


@pytest.fixture(scope="module")
def answers() -> Callable[[Store], Found]:
    """What a question finds in a store, by document and id; the models stay loaded."""
    settings = Settings(reranker="none")
    models = LoadedModels(settings)

    def ask(store: Store) -> Found:
        with Engine(settings.model_copy(update={"store": store.path})) as engine:
            engine.models = models
            result = engine.retrieve(QUESTION, "hybrid_mix", rerank="none", limit=5)
        assert not result.trace.degraded
        return [(item.document or "", item.id) for item in result.items if item.type == "chunk"]

    return ask


@pytest.fixture
def store(notes_store: Path, tmp_path: Path) -> Store:
    return Store(shutil.copytree(notes_store, tmp_path / "store"))


def kill(store: Store, step: str, *command: str | Path) -> None:
    """Run a command that dies at the step."""
    arguments = [sys.executable, CHILD, step, "1", "0", *command, "--store", store.path]
    done = subprocess.run([str(part) for part in arguments], capture_output=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"reached\n"), done.stderr


def tidy(store: Store) -> bool:
    """Whether the last run left nothing of the killed one."""
    left = [entry.name for entry in (store.path / "generations").iterdir()]
    return left == [str(store.generation())] and not (store.path / "CURRENT.new").exists()


@pytest.mark.parametrize(
    ("command", "step", "published"),
    [
        (("delete", DELETED), "synced", False),
        (("compact",), "renamed", True),
        (("reindex",), "vectors finished", False),
    ],
    ids=["delete", "compact", "reindex"],
)
def test_a_killed_command_loses_nothing_and_finishes_when_run_again(
    ekr: Ekr, store: Store, answers: Callable[[Store], Found], command: tuple[str, ...], step: str, published: bool
) -> None:
    generation, before = store.generation(), answers(store)
    assert DELETED in dict(before)
    kill(store, step, *command)
    assert (store.generation() != generation) == published
    assert check(store) == []
    assert answers(store) == before
    again = ekr(*command, "--store", store.path)
    assert again.returncode == 0, again.stderr
    assert check(store) == []
    expected = [found for found in before if command[0] != "delete" or found[0] != DELETED]
    assert answers(store) == expected
    assert tidy(store)


def test_a_killed_repair_spoils_nothing_and_finishes_when_run_again(
    ekr: Ekr, store: Store, answers: Callable[[Store], Found]
) -> None:
    before = answers(store)
    shutil.rmtree(store.path / "generations" / str(store.generation()) / "bm25")
    damage = check(store)
    assert {finding.repair for finding in damage} == {"bm25"}
    kill(store, "rows finished", "doctor", "--repair")
    assert check(store) == damage
    again = ekr("doctor", "--repair", "--store", store.path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "repaired: BM25 is built anew" in again.stdout
    assert check(store) == []
    assert answers(store) == before
    assert tidy(store)


def test_a_repair_killed_while_it_brings_back_current_finishes_when_run_again(
    ekr: Ekr, store: Store, answers: Callable[[Store], Found]
) -> None:
    before = answers(store)
    (store.path / "CURRENT").write_text("damaged")
    kill(store, "written", "doctor", "--repair")
    assert [finding.repair for finding in check(store)] == ["current"]
    assert ekr("doctor", "--repair", "--store", store.path).returncode == 0
    assert answers(store) == before
    assert tidy(store)


def test_what_a_killed_backup_leaves_is_no_store(
    ekr: Ekr, store: Store, answers: Callable[[Store], Found], tmp_path: Path
) -> None:
    before, copy = answers(store), tmp_path / "copy"
    kill(store, "written", "backup", copy)
    assert check(store) == []
    assert Store(copy).generation() is None
    asked = ekr("query", QUESTION, "--context-only", "--store", copy)
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "holds nothing yet" in asked.stderr
    refused = ekr("backup", copy, "--store", store.path)
    assert (refused.returncode, "is not empty; name a new directory" in refused.stderr) == (2, True)
    shutil.rmtree(copy)
    assert ekr("backup", copy, "--store", store.path).returncode == 0
    assert check(Store(copy)) == []
    assert answers(Store(copy)) == answers(store) == before
