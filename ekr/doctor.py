"""`Engine.doctor`: is this store sound, and are the models that it needs here and undamaged?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ekr.errors import EkrError, StoreEmpty, StoreError
from ekr.store.abandoned import abandoned
from ekr.store.check import Examination, Finding, examine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ekr.config import Settings
    from ekr.ingestion.repair import Repaired
    from ekr.models import CheckResult
    from ekr.store import Manifest, Store

REPAIR = "run: ekr doctor --repair"
_ABANDONED = (
    "CURRENT is missing, so the store counts as empty, but generation {} is there; to bring it back, "
    "run: ekr doctor --repair"
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong and what to do about it. `part` is store, duckdb, lancedb, tantivy or models."""

    part: str
    problem: str
    advice: str
    repairable: bool


@dataclass(frozen=True)
class Diagnosis:
    """What doctor found. `notes` are remarks that make nothing wrong."""

    store: str
    examination: Examination
    problems: tuple[Problem, ...]
    models: tuple[CheckResult, ...] = ()
    notes: tuple[str, ...] = ()
    repaired: tuple[str, ...] = field(default=())

    @property
    def sound(self) -> bool:
        """Nothing is wrong."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """The object that `ekr doctor --json` prints; see docs/json.md."""
        return {
            "sound": self.sound,
            "store": self.store,
            "generation": self.examination.generation,
            "format_version": self.examination.format_version,
            "counts": dict(self.examination.counts),
            "problems": [
                {"part": p.part, "problem": p.problem, "advice": p.advice, "repairable": p.repairable}
                for p in self.problems
            ],
            "models": [{"name": m.name, "state": m.state, "damaged": list(m.damaged)} for m in self.models],
            "notes": list(self.notes),
            "repaired": list(self.repaired),
        }


def problem_of(finding: Finding) -> Problem:
    """A finding in the store as a problem, with the command that repairs it or what is left to do."""
    repairable = finding.repair != "none"
    return Problem(finding.engine, finding.message, REPAIR if repairable else finding.advice, repairable)


def manifest_of(store: Store) -> Manifest | None:
    """The manifest; None for an empty store and one that cannot be opened."""
    try:
        with store.snapshot() as snapshot:
            return snapshot.manifest
    except (StoreEmpty, StoreError):
        return None


def check_models(settings: Settings, manifest: Manifest | None) -> tuple[list[CheckResult], list[Problem], list[str]]:
    """Every file of the models by default, by setting and by manifest against its sha256.

    Returns the results, the problems and the notes. A model that is not here is a problem only if questions to
    this store cannot do without it. A model named by path or address is not checked: nobody recorded its hash.
    """
    from ekr.models import check

    needed = {settings.embedder} if manifest else set()
    results, problems, notes = [], [], []
    for name in _by_name(settings, manifest):
        result = check([name], settings)[0]
        results.append(result)
        pull = f"run: ekr models pull {name}"
        if result.state == "damaged":
            files = ", ".join(result.damaged)
            problems.append(Problem("models", f"the model {name} is damaged: {files}", pull, repairable=False))
        elif result.state == "absent" and name in needed:
            problems.append(Problem("models", f"the model {name} is not on this machine", pull, repairable=False))
        elif result.state == "absent":
            notes.append(f"the model {name} is not on this machine; {pull}")
    if manifest is not None and all(settings.embedder not in problem.problem for problem in problems):
        problems += _of_embedder(settings, manifest)
    return results, problems, notes


def _by_name(settings: Settings, manifest: Manifest | None) -> list[str]:
    from ekr.models import DEFAULT_NAMES
    from ekr.models.registry import BY_NAME

    names: Iterable[str] = (*DEFAULT_NAMES, settings.embedder, settings.generator, settings.reranker)
    if manifest is not None:
        names = (*names, manifest.embedder.name, manifest.extractor.removeprefix("llm:"))
    return [name for name in dict.fromkeys(names) if name in BY_NAME or name.startswith("hf:")]


def _of_embedder(settings: Settings, manifest: Manifest) -> list[Problem]:
    from ekr.models import load_embedder
    from ekr.models.http_client import is_endpoint

    if is_endpoint(settings.embedder):
        return []
    try:
        manifest.require_embedder(load_embedder(settings.embedder, settings).info)
    except EkrError as error:
        problem, _, advice = str(error).rpartition("; ")
        return [Problem("models", problem, advice, repairable=False)]
    return []


def diagnose(store: Store, settings: Settings, repaired: Repaired | None = None) -> Diagnosis:
    """Everything that is wrong with a store and with the models that it needs; after a repair, what is left."""
    examination = repaired.examination if repaired is not None else examine(store)
    problems = [problem_of(finding) for finding in examination.findings]
    if repaired is not None:
        problems += [_of_failure(reason) for reason in repaired.failed]
    models, of_models, notes = check_models(settings, manifest_of(store))
    notes = [*examination.notes, *notes]
    if examination.generation is None and not problems and (numbers := abandoned(store.path)):
        notes.insert(0, _ABANDONED.format(", ".join(map(str, numbers))))
    return Diagnosis(
        str(store.path),
        examination,
        (*problems, *of_models),
        tuple(models),
        tuple(notes),
        repaired.done if repaired is not None else (),
    )


def _of_failure(reason: str) -> Problem:
    what, _, advice = reason.rpartition("; ")
    return Problem("store", f"not repaired: {what or advice}", advice if what else "", repairable=False)
