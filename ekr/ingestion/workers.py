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
    # Spawned, never forked: a forked child would inherit the store's lock and keep it beyond our death.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _start_worker, (embedder, settings)) as pool:
        waiting: deque[tuple[FileTask, Future[list[Prepared]] | None]] = deque()
        for task in tasks:
            waiting.append(
                (task, None if holds_records(task.path) else pool.submit(_prepare_in_worker, task, chunking))
            )
            if len(waiting) > jobs * _WAITING_PER_WORKER:
                yield _outcome(*waiting.popleft(), load_tokenizer, chunking)
        while waiting:
            yield _outcome(*waiting.popleft(), load_tokenizer, chunking)


def _outcome(
    task: FileTask,
    future: Future[list[Prepared]] | None,
    load_tokenizer: Callable[[], Tokenizer],
    chunking: ChunkSettings,
) -> tuple[FileTask, Iterator[Prepared]]:
    if future is None:
        return task, prepare(task, load_tokenizer(), chunking)
    try:
        return task, iter(future.result())
    except BrokenProcessPool:
        reason = "a worker process died while reading; run again with --jobs 1 to see which file it is"
        return task, iter([ReadError(reason, task.display)])


def _start_worker(embedder: str, settings: Settings) -> None:
    global _worker_tokenizer  # noqa: PLW0603 - one tokenizer a process, loaded when the process starts
    from ekr.models import load_tokenizer

    exit_with_parent()
    _worker_tokenizer = load_tokenizer(embedder, settings)


def _prepare_in_worker(task: FileTask, chunking: ChunkSettings) -> list[Prepared]:
    if _worker_tokenizer is None:
        raise RuntimeError("the worker was not started")
    return list(prepare(task, _worker_tokenizer, chunking))
