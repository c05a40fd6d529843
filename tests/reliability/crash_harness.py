"""One cycle of the crash harness: start an ingest as a process, kill it, look at the store, finish, compare.

The ingest is always a process of its own. What follows (checks, queries, the ingest that finishes the work) runs in
the harness, whose models stay loaded and which remembers vectors: loading them would take most of the time.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import numpy as np

from ekr import Engine
from ekr.config import Settings
from ekr.errors import StoreEmpty
from ekr.loaded import LoadedModels
from ekr.models.base import EmbedderInfo, Vectors
from ekr.store import Store
from ekr.store.check import check
from ekr.store.graph_schema import RAW_TABLES, RESOLVED_TABLES
from ekr.store.manifest import read_number
from ekr.store.vectors import VectorReader
from tests.reliability.crash_corpus import QUESTIONS, write_documents

CHILD = Path(__file__).with_name("crash_child.py")
RECIPES = ("hybrid_mix", "multihop")
GRAPH_TABLES = (*RAW_TABLES, *RESOLVED_TABLES, "graph_vectors")

# Each line of a commit that ekr.store logs, and what ekr.ingestion logs before it, in order.
STEPS = (
    "flushed",
    "entities:",
    "relations:",
    "reports:",
    "vectors finished",
    "postings finished",
    "rows finished",
    "compacted",
    "synced",
    "written",
    "renamed",
    "committed",
    "collected",
)

Start = Literal["empty", "older"]


@dataclass(frozen=True)
class Plan:
    """A kill: at a marked step, or at a share of the processor time that an undisturbed run takes.

    `start` is what the store holds before: nothing, or an older state of the documents.
    """

    start: Start
    step: str = "never"
    occurrence: int = 1
    share: float = 0.0
    jobs: int = 1
    checkpoints: bool = False


# The kinds of run that are killed at random moments.
KINDS = (
    Plan("older"),
    Plan("older", checkpoints=True),
    Plan("older", jobs=2),
    Plan("empty"),
    Plan("older", checkpoints=True, jobs=2),
    Plan("empty", checkpoints=True),
)


@dataclass
class Outcome:
    """What became of a plan. `problems` is empty when nothing was lost; `phase` is the last step that was logged."""

    plan: Plan
    killed: bool
    phase: str
    published: bool
    seconds: float
    problems: list[str] = field(default_factory=list)


class Remembering:
    """The embedder of this machine, which gives a text the same vector wherever it stands: so it is kept."""

    def __init__(self, models: LoadedModels) -> None:
        self._embedder = models.embedder()
        self._passages: dict[str, Vectors] = {}
        self.embed_query = functools.cache(self._embedder.embed_query)

    @property
    def info(self) -> EmbedderInfo:
        return self._embedder.info

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._passages]
        self._passages.update(zip(fresh, self._embedder.embed_passages(fresh), strict=True))
        dimension = self.info.dimension
        return np.array([self._passages[text] for text in texts], np.float32).reshape(len(texts), dimension)


def _outlived(session: int, patience: float = 10.0) -> list[int]:
    """Processes of a killed ingest that still run after a while; they are ended."""
    until = time.monotonic() + patience
    while (left := _processes(session)) and time.monotonic() < until:
        time.sleep(0.2)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return left


def _processor_seconds(pid: int, jobs: int) -> float:
    """What a process and its workers have used so far: a clock that a busy machine does not slow down."""
    ticks = 0
    for one in _processes(pid) if jobs > 1 else [pid]:
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _processes(session: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == session:
                found.append(int(folder.name))
        except ProcessLookupError:
            continue
    return found


class Laboratory:
    """A folder with documents, the stores to start from, and what an undisturbed ingest makes of each."""

    def __init__(self, folder: Path) -> None:
        import spacy

        self.folder = folder
        self.documents = folder / "documents"
        self._settings = Settings(reranker="none")
        self._models = LoadedModels(self._settings)
        self._models._embedder = Remembering(self._models)
        self._load_pipeline = spacy.load
        self._pipelines: dict[Path, Any] = {}
        self._expected: dict[str, dict[str, Any]] = {}
        self.durations: dict[tuple[Start, int, bool], float] = {}
        self._count = 0
        self._session = 0

    def prepare(self, kinds: Sequence[Plan] = KINDS) -> None:
        """Make the folder, and time an undisturbed run of these kinds, for the moments of random kills."""
        write_documents(self.documents, older=True)
        older = Store(self.folder / "older")
        self._ingest(older)
        expected = {"older": self.contents(older)}
        write_documents(self.documents)
        for start in ("empty", "older"):
            store = self._fresh(start)
            self._ingest(store)
            self._compact(store)
            expected[f"from {start}"] = self.contents(store)
        for kind in kinds:
            self.run(kind)
        (self.folder / "expected.pickle").write_bytes(pickle.dumps((expected, self.durations)))
        self.open()

    def open(self) -> None:
        """Use a folder that is prepared."""
        self._expected, self.durations = pickle.loads((self.folder / "expected.pickle").read_bytes())

    def differences(self) -> list[str]:
        """What differs between the undisturbed results of a new store and of one that held an older state."""
        fresh, updated = self._expected["from empty"], self._expected["from older"]
        return [f"{name} depend on what the store held before" for name in fresh if fresh[name] != updated[name]]

    def run(self, plan: Plan) -> Outcome:
        """One cycle. A plan that finished before it was killed has `killed` false, and tells how long it took."""
        began = time.monotonic()
        store = self._fresh(plan.start)
        before = store.generation()
        killed, phase, seconds = self._start_and_kill(store, plan)
        kind = (plan.start, plan.jobs, plan.checkpoints)
        if not killed:
            known = self.durations.get(kind, seconds)
            self.durations[kind] = 0.5 * known + 0.5 * seconds
            shutil.rmtree(store.path, ignore_errors=True)
            return Outcome(plan, False, phase, True, time.monotonic() - began)
        published = store.generation() != before
        outcome = Outcome(plan, True, phase, published, 0.0)
        outcome.problems += self._after_the_kill(store, plan, published)
        outcome.problems += self._after_finishing(store, plan)
        if plan.jobs > 1 and (left := _outlived(self._session)):
            outcome.problems.append(f"worker processes outlived their ingest: {left}")
        outcome.seconds = time.monotonic() - began
        if not outcome.problems:
            shutil.rmtree(store.path, ignore_errors=True)
        return outcome

    def contents(self, store: Store) -> dict[str, Any]:
        """All that a reader can see, to compare stores; lists are sorted where the order means nothing."""
        with store.snapshot() as snapshot:
            with snapshot.connection.cursor() as cursor:
                graph = {table: sorted(cursor.execute(f"FROM {table}").fetchall(), key=str) for table in GRAPH_TABLES}
            embedder = snapshot.manifest.embedder
            reader = VectorReader(snapshot.directory / "vectors", embedder.dimension, embedder.name)
            kinds = ("chunks", "entities", "relations", "reports")
            found = {
                "counts": snapshot.counts(),
                "documents": sorted(snapshot.documents(), key=lambda document: document.key),
                "chunks": list(snapshot.iter_chunks()),
                **graph,
                **{f"vectors of {kind}": sorted(reader.rows(kind)) for kind in kinds},
            }
        return found | {"answers": self.answers(store, QUESTIONS)}

    def answers(self, store: Store, questions: Sequence[str]) -> list[list[tuple[str, str]]]:
        """The ten best items for each question, by type and id."""
        with self._engine(store) as engine:
            found = [
                engine.retrieve(question, RECIPES[number % len(RECIPES)], rerank="none", limit=10)
                for number, question in enumerate(questions)
            ]
        degraded = [result.question for result in found if result.trace.degraded]
        assert not degraded, f"degraded: {degraded}"
        return [[(item.type, item.id) for item in result.items[:10]] for result in found]

    def _engine(self, store: Store) -> Engine:
        engine = Engine(self._settings.model_copy(update={"store": store.path}))
        engine.models = self._models
        return engine

    def _ingest(self, store: Store) -> None:
        # Each ingest opens the pipelines anew, which takes a second in a process that has them already.
        with self._engine(store) as engine, mock.patch("spacy.load", self._pipeline):
            report = engine.ingest(self.documents)
        assert not report.failed, report.failed

    def _compact(self, store: Store) -> None:
        """Leave nothing of deleted passages: until then BM25 counts them in its frequencies and lengths.

        How many there are depends on where commits fell; a run that began empty has none, so there is nothing to do.
        """
        with store.snapshot() as snapshot:
            manifest = snapshot.manifest
            with snapshot.connection.cursor() as cursor:
                dead = read_number(cursor, "dead_chunks")
        if dead:
            with store.writer(manifest) as writer:
                writer.compact()

    def _pipeline(self, path: Path, **options: Any) -> Any:
        if path not in self._pipelines:
            self._pipelines[path] = self._load_pipeline(path, **options)
        return self._pipelines[path]

    def _fresh(self, start: str) -> Store:
        self._count += 1
        path = self.folder / f"store-{os.getpid()}-{self._count}"
        shutil.rmtree(path, ignore_errors=True)
        if start == "older":
            shutil.copytree(self.folder / "older", path)
        return Store(path)

    def _start_and_kill(self, store: Store, plan: Plan) -> tuple[bool, str, float]:
        kind = (plan.start, plan.jobs, plan.checkpoints)
        ingest = ["ingest", self.documents, "--store", store.path, "--jobs", plan.jobs, "-vv", "--json"]
        command: list[object] = [sys.executable, "-m", "ekr", *ingest]
        if plan.step != "never" or plan.checkpoints:
            child = [plan.step, plan.occurrence, int(plan.checkpoints)]
            command = [sys.executable, CHILD, *child, *ingest]
        log = store.path.with_suffix(".log")
        with log.open("wb") as errors:
            spent = 0.0
            process = subprocess.Popen(
                [str(part) for part in command],
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                env={**os.environ, "EKR_RERANKER": "none"},
            )
            self._session = process.pid
            limit = plan.share * self.durations[kind] if plan.share else float("inf")
            while process.poll() is None:
                spent = _processor_seconds(process.pid, plan.jobs)
                if spent >= limit:
                    process.kill()
                time.sleep(0.01)
            # The workers that a killed process leaves hold its end of the pipe for a second: read what is there.
            output = os.read(process.stdout.fileno(), 100) if plan.step != "never" and process.stdout else b""
        seconds = spent
        text = log.read_text(encoding="utf-8", errors="replace")
        log.unlink()
        killed = process.returncode == -signal.SIGKILL
        assert killed or process.returncode == 0, text
        assert killed or plan.step == "never", f"step {plan.step!r} number {plan.occurrence} was never reached"
        assert not killed or plan.step == "never" or output == b"reached\n"
        if process.stdout is not None:
            process.stdout.close()
        phases = [line.split(": ", 2)[-1] for line in text.splitlines() if line.startswith("ekr: debug:")]
        last = plan.step if plan.step != "never" else phases[-1] if phases else "before any write"
        return killed, next((step for step in STEPS if last.startswith(step)), last), seconds

    def _after_the_kill(self, store: Store, plan: Plan, published: bool) -> list[str]:
        problems = [f"after the kill: {finding.message}" for finding in check(store)]
        try:
            found = self.answers(store, QUESTIONS[:2])
        except StoreEmpty:
            return problems if plan.start == "empty" and not published else [*problems, "the store is empty"]
        if not published and found != self._expected["older"]["answers"][:2]:
            problems.append("the earlier generation answers differently")
        if not all(found):
            problems.append("a question found nothing")
        return problems

    def _after_finishing(self, store: Store, plan: Plan) -> list[str]:
        self._ingest(store)
        problems = [f"after finishing: {finding.message}" for finding in check(store)]
        self._compact(store)
        problems += [f"after compaction: {finding.message}" for finding in check(store)]
        found, expected = self.contents(store), self._expected[f"from {plan.start}"]
        for name in expected:
            if found[name] != expected[name]:
                where = [n for n, (a, b) in enumerate(zip(found[name], expected[name], strict=False)) if a != b]
                problems.append(f"{name} differ from an undisturbed run, first at {where[:5]}")
        left = sorted(entry.name for entry in (store.path / "generations").iterdir())
        if left != [str(store.generation())] or (store.path / "CURRENT.new").exists():
            problems.append(f"left behind: {left}")
        return problems
