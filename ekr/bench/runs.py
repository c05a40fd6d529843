"""Asking every question of every recipe, one line on disk a result, to be stopped and taken up at any point."""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

from ekr.bench.directory import Appender, Key, RunDirectory, RunInfo, StoredResult
from ekr.bench.errors import BenchError, BenchUsageError
from ekr.bench.metrics import context_sent
from ekr.bench.questions import Question, fingerprint
from ekr.bench.recipes import parse_recipes
from ekr.errors import ModelMissing, StoreEmpty, StoreError, UsageError

log = logging.getLogger(__name__)

FATAL = (UsageError, StoreError, ModelMissing, BenchError)


class Answerer(Protocol):
    """Who answers: an engine with its store. Called from several threads when `jobs` is above 1."""

    def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
        """The JSON object of a query (docs/json.md), items in rank order.

        `trace["context"]` is the exact text that went to the model, or would go with `context_only`.
        `recipe` is a spec as `ekr.bench.recipes.parse_recipe` reads it.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run. `repeat` counts runs of each recipe; `jobs` queries at the same time."""

    recipes: Sequence[str]
    repeat: int = 1
    retrieval_only: bool = False
    jobs: int = 1
    generator: str | None = None
    questions_file: str = ""
    only: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """After each result: how many of how many are done, seconds so far, and an estimate of those left."""

    done: int
    total: int
    failed: int
    recipe: str
    seconds: float
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class _Task:
    recipe: str
    repeat: int
    question: Question

    @property
    def key(self) -> Key:
        return (self.recipe, self.repeat, self.question.id)


def run(
    directory: RunDirectory,
    questions: Sequence[Question],
    answerer: Answerer,
    options: RunOptions,
    *,
    engine: Mapping[str, Any],
    recipe_values: Mapping[str, Any] | None = None,
    resume: bool = False,
    prepare: Callable[[], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> RunInfo:
    """Asks what is not yet answered in the directory and returns when all is.

    A question that fails is stored with its error, and is asked again on resume. `engine` describes store
    and models; with `chunks` in it, an empty store is refused; `recipe_values` has the plain values of each
    recipe by spec, to notice an edited file on resume. `prepare` is called in each thread before its first
    question, if there is any, to load models outside its latency. Raises BenchUsageError (a directory of another
    run or of other files, repeat or jobs below 1, nothing to ask), StoreEmpty, UsageError (an unknown recipe) and
    ModelMissing; KeyboardInterrupt passes through with every finished result on disk.
    """
    specs = parse_recipes(options.recipes)
    if not specs or not questions:
        raise BenchUsageError("a bench needs at least one recipe and one question")
    if options.repeat < 1 or options.jobs < 1:
        raise BenchUsageError("--repeat and --jobs are at least 1")
    if engine.get("chunks") == 0:
        raise StoreEmpty("the store holds no passage, so there is nothing to measure; run: ekr ingest PATH")
    asked = RunInfo(
        recipes=tuple(spec.spec for spec in specs),
        repeat=options.repeat,
        retrieval_only=options.retrieval_only,
        questions_sha256=fingerprint(questions),
        questions_count=len(questions),
        questions_file=options.questions_file,
        only=tuple(options.only),
        generator=None if options.retrieval_only else options.generator,
        jobs=options.jobs,
        engine=engine,
        recipe_values=recipe_values or {},
        machine=machine(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    directory.check_usable()
    with directory.locked():
        info = directory.begin(asked, list(questions), resume=resume)
        tasks = _missing(directory, info, questions)
        counter = _Counter(tasks, info, on_progress)
        asking = _Asking(answerer, options.retrieval_only, prepare)
        with Appender(directory.results_file) as appender:
            for stored in _answers(tasks, asking, options.jobs):
                appender.add(asdict(stored))
                counter.add(stored)
    return info


def _missing(directory: RunDirectory, info: RunInfo, questions: Sequence[Question]) -> list[_Task]:
    last = {stored.key: stored.error for stored in directory.results()}
    done = {key for key, error in last.items() if error is None}
    tasks = [
        _Task(recipe, repeat, question)
        for repeat in range(info.repeat)
        for recipe in info.recipes
        for question in questions
    ]
    return [task for task in tasks if task.key not in done]


def _answers(tasks: Sequence[_Task], asking: _Asking, jobs: int) -> Iterator[StoredResult]:
    if jobs == 1:
        for task in tasks:
            yield asking.ask(task)
        return
    # Each job hands over its own outcome, so that an interrupt at any point of this thread loses none.
    done: SimpleQueue[StoredResult | BaseException] = SimpleQueue()

    def job(task: _Task) -> None:
        try:
            done.put(asking.ask(task))
        except BaseException as error:
            done.put(error)

    with ThreadPoolExecutor(jobs, thread_name_prefix="bench") as pool:
        try:
            # A bounded window: an interrupt finds few queries under way, and memory holds few results.
            for number, task in enumerate(tasks):
                if number >= jobs:
                    yield _result(done.get())
                pool.submit(job, task)
            for _ in tasks[:jobs]:
                yield _result(done.get())
        except (KeyboardInterrupt, Exception):
            log.warning("stopping; the questions under way are waited for and kept")
            pool.shutdown(wait=True, cancel_futures=True)
            while not done.empty():
                if isinstance(late := done.get(), StoredResult):
                    yield late
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _result(outcome: StoredResult | BaseException) -> StoredResult:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


class _Asking:
    """Asks one question at a time in each thread, which prepares itself before its first."""

    def __init__(self, answerer: Answerer, context_only: bool, prepare: Callable[[], None] | None) -> None:
        self._answerer = answerer
        self._context_only = context_only
        self._prepare = prepare
        self._ready = threading.local()

    def ask(self, task: _Task) -> StoredResult:
        """The result, or the error of this question. Raises what would fail every question."""
        if self._prepare is not None and not getattr(self._ready, "yes", False):
            self._prepare()
            self._ready.yes = True
        begin = time.perf_counter()
        try:
            result = self._answerer.query(task.question.question, task.recipe, context_only=self._context_only)
            seconds = time.perf_counter() - begin
            context_sent(result)
        except FATAL:
            raise
        except Exception as error:
            log.warning("%s, question %s: %s: %s", task.recipe, task.question.id, type(error).__name__, error)
            log.debug("the failure in full", exc_info=True)
            message = " ".join(str(error).split())
            return StoredResult(*task.key, None, None, {"type": type(error).__name__, "message": message})
        return StoredResult(*task.key, seconds, dict(result))


class _Counter:
    """Estimates the time left from what each recipe's questions took, the other recipes' mean until known."""

    def __init__(self, tasks: Iterable[_Task], info: RunInfo, report: Callable[[Progress], None] | None) -> None:
        self._report = report
        self._jobs = info.jobs
        self._left: dict[str, int] = {}
        for task in tasks:
            self._left[task.recipe] = self._left.get(task.recipe, 0) + 1
        self._total = info.questions_count * info.repeat * len(info.recipes)
        self._done = self._total - sum(self._left.values())
        self._failed = 0
        self._times: dict[str, tuple[float, int]] = {}
        self._begin = self._last = time.monotonic()

    def add(self, stored: StoredResult) -> None:
        now = time.monotonic()
        seconds, count = self._times.get(stored.recipe, (0.0, 0))
        self._times[stored.recipe] = (seconds + now - self._last, count + 1)
        self._last = now
        self._left[stored.recipe] -= 1
        self._done += 1
        self._failed += stored.error is not None
        if self._report is not None:
            left = self._seconds_left()
            elapsed = now - self._begin
            self._report(Progress(self._done, self._total, self._failed, stored.recipe, elapsed, left))

    def _seconds_left(self) -> float | None:
        overall = sum(s for s, _ in self._times.values()) / sum(n for _, n in self._times.values())
        means = {recipe: s / n for recipe, (s, n) in self._times.items()}
        return sum(count * means.get(recipe, overall) for recipe, count in self._left.items())


def machine() -> dict[str, Any]:
    """The machine of a run, for the reader of its table: processor, cores, system, Python."""
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        names = [li for li in information.read_text(errors="replace").splitlines() if li.startswith("model name")]
        processor = names[0].partition(":")[2].strip() if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
