"""A run on disk: what it is (run.json), its questions, and one line a result, each safe as it is written.

run.json           what was asked of whom: questions, recipes, repeats, engine; checked on resume
questions.jsonl    the questions of the run, so that it can be graded without their file
results.jsonl      one query each: answer, items, references, trace with the context, or the error
judgements.jsonl   one judgement each
rows.jsonl, report.json, report.md   written at the end of a run or of a grading
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any, Self

from filelock import FileLock, Timeout

from ekr.bench.errors import BenchError, BenchUsageError
from ekr.bench.questions import Question, dump_questions, fingerprint, parse_questions

FORMAT = 1

Key = tuple[str, int, str]

_JUDGEMENT = {"recipe", "repeat", "id", "judge", "input_hash", "correctness", "hallucinated", "missing"}


@dataclass(frozen=True)
class RunInfo:
    """What run.json holds. `engine` says who answered (store, models, seed), `machine` on what.

    `recipe_values` holds the full values of each recipe by spec, so that an edited recipe file is noticed.
    `generator` and `judge` are specs as the user named them; generator is None for retrieval alone.
    """

    recipes: tuple[str, ...]
    repeat: int
    retrieval_only: bool
    questions_sha256: str
    questions_count: int
    questions_file: str = ""
    only: tuple[str, ...] = ()
    generator: str | None = None
    judge: str | None = None
    judge_note: str | None = None
    jobs: int = 1
    engine: Mapping[str, Any] = field(default_factory=dict)
    recipe_values: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""
    format: int = FORMAT

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> Self:
        """From the object in run.json. Raises TypeError or KeyError when it is none."""
        return cls(**{**data, "recipes": tuple(data["recipes"]), "only": tuple(data.get("only", ()))})

    def differences(self, asked: RunInfo) -> list[str]:
        """Where `asked` would make its results belong to another run; more recipes or repeats do not."""
        fixed = {
            "its questions": self.questions_sha256 != asked.questions_sha256,
            "--retrieval-only": self.retrieval_only != asked.retrieval_only,
            f"its generator ({self.generator})": self.generator != asked.generator,
        }
        theirs, ours = dict(self.engine), dict(asked.engine)
        changed = {name: theirs.get(name) for name in {*theirs, *ours} if theirs.get(name) != ours.get(name)}
        edited = [
            f"the values of recipe {spec}"
            for spec, values in asked.recipe_values.items()
            if self.recipe_values.get(spec, values) != values
        ]
        engine_changes = [f"its {name} ({value})" for name, value in sorted(changed.items())]
        return [what for what, differs in fixed.items() if differs] + engine_changes + edited

    def continued(self, asked: RunInfo) -> RunInfo:
        """This run, grown by the recipes and repeats of `asked`; latencies then are those of all its sessions."""
        machine = dict(self.machine)
        if asked.machine and asked.machine != {key: value for key, value in machine.items() if key != "also"}:
            machine["also"] = asked.machine
        return replace(
            self,
            recipes=tuple(dict.fromkeys((*self.recipes, *asked.recipes))),
            repeat=max(self.repeat, asked.repeat),
            recipe_values={**self.recipe_values, **asked.recipe_values},
            jobs=max(self.jobs, asked.jobs),
            machine=machine,
            questions_file=asked.questions_file,
        )


@dataclass(frozen=True)
class StoredResult:
    """One line of results.jsonl: `seconds` of wall time and the query's JSON object, or its error."""

    recipe: str
    repeat: int
    id: str
    seconds: float | None
    result: Mapping[str, Any] | None
    error: Mapping[str, str] | None = None

    @classmethod
    def load(cls, data: Any) -> Self:
        """From the JSON of a line. Raises ValueError when it is no result."""
        if not isinstance(data, dict):
            raise ValueError("not an object")
        known = {one.name for one in fields(cls)}
        if odd := sorted((known - {"error"} - data.keys()) | (data.keys() - known)):
            raise ValueError(f"lacks the field or has one too many: {', '.join(odd)}")
        stored = cls(**data)
        if not (isinstance(stored.recipe, str) and isinstance(stored.id, str) and isinstance(stored.repeat, int)):
            raise ValueError("recipe, repeat and id must be a string, a number and a string")
        if stored.error is not None:
            if not isinstance(stored.error, dict) or not {"type", "message"} <= stored.error.keys():
                raise ValueError("error must have type and message")
        elif not (isinstance(stored.result, dict) and isinstance(stored.seconds, int | float)):
            raise ValueError("neither a result with its seconds nor an error")
        return stored

    @property
    def key(self) -> Key:
        """Which query of the run it is."""
        return (self.recipe, self.repeat, self.id)


class RunDirectory:
    """Reads and writes one run. Appending is for one process at a time: see `locked`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results_file = path / "results.jsonl"
        self.judgements_file = path / "judgements.jsonl"

    @property
    def exists(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / "run.json").is_file()

    def check_usable(self) -> None:
        """Raises BenchUsageError where a run cannot be: in a file, or among files that are no run of ekr.

        Nothing is written. What a run leaves that was stopped before its run.json was there does not count.
        """
        try:
            others = {entry.name for entry in self.path.iterdir()} - {".lock", ".run.json.new"}
        except FileNotFoundError:
            return
        except OSError as error:
            raise _no_directory(self.path, error) from None
        if others and not self.exists:
            raise BenchUsageError(f"{self.path} holds other files and no run of ekr; give a new directory as --out")
        if others:
            try:
                self.info()
            except BenchError as error:
                raise BenchUsageError(f"{error}, or give another --out") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other benches out. Raises BenchError when one is at work here, BenchUsageError for a path of no use."""
        lock = FileLock(self.path / ".lock", timeout=0)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            raise BenchError(f"another bench is writing to {self.path}; wait for it or give another --out") from None
        except OSError as error:
            raise _no_directory(self.path, error) from None
        try:
            yield
        finally:
            lock.release()

    def begin(self, info: RunInfo, questions: list[Question], *, resume: bool) -> RunInfo:
        """Starts a run, or takes up the one that is here. Raises BenchUsageError when that is another run."""
        if self.exists:
            if not resume:
                raise BenchUsageError(f"{self.path} holds a run; add --resume to go on with it, or give another --out")
            before = self.info()
            if differences := before.differences(info):
                raise BenchUsageError(f"the run in {self.path} differs in {', '.join(differences)}; give another --out")
            info = before.continued(info)
        # run.json first: it makes the directory a run, also for a bench that is stopped at this point.
        self.path.mkdir(parents=True, exist_ok=True)
        self.save_info(info)
        self.write("questions.jsonl", dump_questions(questions))
        return info

    def info(self) -> RunInfo:
        """What the run is. Raises BenchError when there is no run, or one this version cannot read."""
        try:
            data = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise BenchError(f"{self.path}: run format {data['format']}, this ekr reads {FORMAT}; run it again")
            return RunInfo.load(data)
        except OSError:
            raise BenchError(f"{self.path} holds no run; name a directory that `ekr bench --out` wrote") from None
        except (ValueError, TypeError, KeyError) as error:
            raise BenchError(f"{self.path}/run.json is damaged ({error}); run the bench again") from None

    def save_info(self, info: RunInfo) -> None:
        """Writes run.json in one step."""
        self.write("run.json", json.dumps(asdict(info), ensure_ascii=False, indent=2) + "\n")

    def questions(self) -> list[Question]:
        """The questions of the run. Raises BenchError when they are not those that run.json names."""
        try:
            text = (self.path / "questions.jsonl").read_text(encoding="utf-8")
        except OSError as error:
            raise BenchError(f"{self.path}/questions.jsonl cannot be read: {error.strerror}") from None
        questions = parse_questions(text, str(self.path / "questions.jsonl"))
        if fingerprint(questions) != self.info().questions_sha256:
            raise BenchError(f"{self.path}/questions.jsonl was changed; grade with --questions FILE instead")
        return questions

    def results(self) -> Iterator[StoredResult]:
        """Every stored query, in the order in which they finished; of a repeated key the last one counts."""
        for number, data in _lines(self.results_file):
            try:
                yield StoredResult.load(data)
            except ValueError as error:
                raise _damaged(self.results_file, number, f"is no result of ekr ({error})") from None

    def judgements(self) -> Iterator[dict[str, Any]]:
        """Every stored judgement with `recipe`, `repeat`, `id` and `judge`."""
        for number, data in _lines(self.judgements_file):
            if not isinstance(data, dict) or _JUDGEMENT - data.keys():
                raise _damaged(self.judgements_file, number, "is no judgement of ekr")
            yield data

    def write(self, name: str, text: str) -> None:
        """Replaces one file of the run in one step, safe on disk when this returns."""
        scratch = self.path / f".{name}.new"
        with scratch.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            _sync(file)
        scratch.replace(self.path / name)


class Appender:
    """Appends JSON lines to a file; each is on disk when `add` returns. Cuts off a line that a crash tore."""

    def __init__(self, path: Path) -> None:
        _cut_torn_line(path)
        self._file = path.open("a", encoding="utf-8", newline="\n")

    def add(self, data: Mapping[str, Any]) -> None:
        """Writes one line. Raises ValueError for NaN, which JSON does not have."""
        self._file.write(json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n")
        _sync(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _sync(file: IO[str]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _no_directory(path: Path, error: OSError) -> BenchUsageError:
    return BenchUsageError(f"--out {path} cannot be a directory of a run ({error.strerror or error}); give another")


def _damaged(path: Path, number: int, what: str) -> BenchError:
    return BenchError(f"{path}:{number} {what}; delete that line and --resume")


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                raise _damaged(path, number, "is damaged") from None
            yield number, data


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        kept = end
        while kept:
            start = max(0, kept - 65536)
            file.seek(start)
            newline = file.read(kept - start).rfind(b"\n")
            if newline >= 0:
                kept = start + newline + 1
                break
            kept = start
        if kept != end:
            file.truncate(kept)
