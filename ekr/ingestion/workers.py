"""Files prepared one after another here, or several at a time in worker processes."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from ekr.errors import ReadError
from ekr.ingestion.prepare import FileTask, Prepared, exit_with_parent, holds_records, prepare

if TYPE_CHECKING:
    from ekr.chunking import ChunkSettings
    from ekr.config import Settings
    from ekr.models.base import Tokenizer

_WAITING_PER_WORKER = 2
_worker_tokenizer: Tokenizer | None = None


def prepare_all(
    tasks: Iterable[FileTask],
    jobs: int,
    load_tokenizer: Callable[[], Tokenizer],
    embedder: str,
    settings: Settings,
    chunking: ChunkSettings,
) -> Iterator[tuple[FileTask, Iterator[Prepared]]]:
    """Each task with what it holds, in the order of the tasks.

    JSONL files are streamed here whatever `jobs` says: one of them may hold more than memory does.
    """
    if jobs <= 1:
        for task in tasks:
            yield task, prepare(task, load_tokenizer(), chunking)
        return
    waiting: deque[tuple[FileTask, Future[list[Prepared]] | None]] = deque()
    with _Workers(jobs, embedder, settings, chunking) as workers:

        def oldest() -> tuple[FileTask, Iterator[Prepared]]:
            task, future = waiting.popleft()
            return task, workers.result(task, future) if future else prepare(task, load_tokenizer(), chunking)

        for task in tasks:
            waiting.append((task, None if holds_records(task.path) else workers.submit(task)))
            if len(waiting) > jobs * _WAITING_PER_WORKER:
                yield oldest()
        while waiting:
            yield oldest()


class _Workers:
    """Processes that read files. When one dies, all of a pool do: what was under way is read again, each file alone."""

    def __init__(self, jobs: int, embedder: str, settings: Settings, chunking: ChunkSettings) -> None:
        self._jobs, self._chunking = jobs, chunking
        self._start = (embedder, settings)
        self._pool = self._new_pool(jobs)

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def submit(self, task: FileTask) -> Future[list[Prepared]]:
        """Begin to read a file, in new processes if the former died."""
        try:
            return self._pool.submit(_prepare_in_worker, task, self._chunking)
        except BrokenProcessPool:
            self._pool.shutdown()
            self._pool = self._new_pool(self._jobs)
            return self._pool.submit(_prepare_in_worker, task, self._chunking)

    def result(self, task: FileTask, future: Future[list[Prepared]]) -> Iterator[Prepared]:
        """What the file holds; a problem that names it when a process dies that reads nothing else."""
        try:
            return iter(future.result())
        except BrokenProcessPool:
            pass
        with self._new_pool(1) as alone:
            try:
                return iter(alone.submit(_prepare_in_worker, task, self._chunking).result())
            except BrokenProcessPool:
                return iter([ReadError("the process that reads it dies, twice", task.display)])

    def _new_pool(self, jobs: int) -> ProcessPoolExecutor:
        # Spawned, never forked: a forked child would inherit the store's lock and keep it beyond our death.
        return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _start_worker, self._start)


def _start_worker(embedder: str, settings: Settings) -> None:
    global _worker_tokenizer  # noqa: PLW0603 - one tokenizer a process, loaded when the process starts
    from ekr.models import load_tokenizer

    exit_with_parent()
    _worker_tokenizer = load_tokenizer(embedder, settings)


def _prepare_in_worker(task: FileTask, chunking: ChunkSettings) -> list[Prepared]:
    if _worker_tokenizer is None:
        raise RuntimeError("the worker was not started")
    return list(prepare(task, _worker_tokenizer, chunking))
