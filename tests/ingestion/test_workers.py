"""Worker processes that die: by the system's hand, or of what they are given."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ekr.chunking import ChunkSettings
from ekr.errors import ModelError, ReadError
from ekr.ingestion import extracting
from ekr.ingestion.extracting import Extracting, Started
from ekr.ingestion.prepare import FileTask, Prepared
from ekr.ingestion.workers import prepare_all
from ekr.store.check import check
from ekr.store.records import PreparedDocument
from tests.ingestion.conftest import Workshop, graph_rows


class Deadly:
    """Ends the process that unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (9,)


def tasks(folder: Path, count: int, deadly: int | None = None) -> list[FileTask]:
    found = []
    for number in range(count):
        file = folder / f"note{number:02}.txt"
        file.write_text(f"Note {number} on the mill.\n")
        given: dict[str, Any] = {"x": Deadly()} if number == deadly else {}
        found.append(FileTask(file, file.name, given, {}))
    return found


def read(workshop: Workshop, todo: Sequence[FileTask]) -> Iterator[tuple[str, Prepared]]:
    of_all = prepare_all(
        todo, 2, workshop.models.tokenizer, workshop.settings.embedder, workshop.settings, ChunkSettings()
    )
    for task, outcomes in of_all:
        for outcome in outcomes:
            yield task.display, outcome


def test_a_reader_that_is_killed_costs_no_file(workshop: Workshop, tmp_path: Path) -> None:
    todo = tasks(tmp_path, 16)
    outcomes = read(workshop, todo)
    first = next(outcomes)
    victims = multiprocessing.active_children()
    assert len(victims) == 2
    victims[0].kill()
    found = [first, *outcomes]
    assert [name for name, _ in found] == [task.display for task in todo]
    assert not [outcome for _, outcome in found if isinstance(outcome, ReadError)]
    assert multiprocessing.active_children() == []


def test_a_file_that_kills_its_reader_is_the_only_one_named(workshop: Workshop, tmp_path: Path) -> None:
    todo = tasks(tmp_path, 9, deadly=2)
    found = dict(read(workshop, todo))
    assert list(found) == [task.display for task in todo]
    failed = {name: str(outcome) for name, outcome in found.items() if isinstance(outcome, ReadError)}
    assert failed == {"note02.txt": "note02.txt: the process that reads it dies, twice"}


def kill_workers(of: Extracting) -> None:
    pool = of._pool
    assert isinstance(pool, ProcessPoolExecutor)
    for worker in multiprocessing.active_children():
        worker.kill()
    until = time.monotonic() + 30
    while not pool._broken and time.monotonic() < until:
        time.sleep(0.01)
    assert pool._broken


def test_an_extractor_that_is_killed_costs_nothing(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Extracting.start

    def start(self: Extracting, documents: Sequence[PreparedDocument]) -> Started:
        real(self, documents)
        kill_workers(self)
        started = real(self, documents)
        kill_workers(self)
        return started

    here, killed = workshop.store("here"), workshop.store("killed")
    files = workshop.notes("engines.md", "lovelace.txt")
    workshop.ingest(here, *files)
    with monkeypatch.context() as patch:
        patch.setattr(Extracting, "start", start)
        report = workshop.ingest(killed, *files, jobs=2)
    assert report.failed == []
    assert check(killed) == []
    assert graph_rows(killed) == graph_rows(here)


def test_what_kills_the_extractor_twice_is_an_error_that_says_what_to_do(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extracting, "_start_worker", os._exit)
    monkeypatch.setattr(Extracting, "_to_worker", _deadly(Extracting._to_worker))
    with pytest.raises(ModelError, match="run again with --jobs 1"):
        workshop.ingest(workshop.store(), *workshop.notes("lovelace.txt"), jobs=2)


def _deadly(submit: Any) -> Any:
    def submitted(self: Extracting, chunks: object, language: str, pipelines: object) -> Any:
        return submit(self, Deadly(), language, pipelines)

    return submitted
