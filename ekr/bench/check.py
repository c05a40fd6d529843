"""Questions against an index: evidence that no passage holds cannot be found by any recipe."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ekr.bench.matching import matches
from ekr.bench.metrics import last_heading
from ekr.bench.normalise import normalise
from ekr.bench.questions import Question


@dataclass(frozen=True, slots=True)
class Missing:
    """What one question asks for and the index does not hold.

    `evidence` are its patterns that match no chunk, `unanswerable` whether that is all of them (one is
    enough for the metric); `gold_passages` are ids of no document.
    """

    id: str
    evidence: tuple[str, ...]
    unanswerable: bool
    gold_passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome: questions that have evidence or gold passages, chunks read, what is missing."""

    questions: int
    chunks: int
    missing: tuple[Missing, ...]
    unscored_traps: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every question can be met: some evidence is there, and every gold passage."""
        return not any(one.unanswerable or one.gold_passages for one in self.missing)


def check(
    questions: Sequence[Question],
    chunks: Iterable[tuple[str | None, str]],
    document_ids: Collection[str] | None = None,
) -> Check:
    """Looks for every `evidence` regex in every chunk (heading, text), as the metric does.

    `document_ids` are those of the index, as results show them, to look for `gold_passages`; None leaves
    these out.
    """
    open_patterns = {pattern for question in questions for pattern in question.evidence}
    count = 0
    for heading, text in chunks:
        count += 1
        if open_patterns:
            body = normalise(f"{last_heading(heading)} {text}")
            open_patterns -= {pattern for pattern in open_patterns if matches(pattern, body)}
    missing = []
    for question in questions:
        evidence = tuple(pattern for pattern in question.evidence if pattern in open_patterns)
        gold = tuple(i for i in question.gold_passages if document_ids is not None and i not in document_ids)
        if evidence or gold:
            all_missing = bool(evidence) and len(evidence) == len(question.evidence)
            missing.append(Missing(question.id, evidence, all_missing, gold))
    asked = sum(bool(question.evidence or question.gold_passages) for question in questions)
    unscored = tuple(q.id for q in questions if q.trap and not (q.facts or q.forbidden))
    return Check(asked, count, tuple(missing), unscored)


def lines(outcome: Check) -> list[str]:
    """The outcome for people, one line each thing that is missing, a summary last."""
    found = []
    for one in outcome.missing:
        for pattern in one.evidence:
            rest = "no evidence at all is in the index" if one.unanswerable else "other evidence is there"
            found.append(f"{one.id}: no passage matches {pattern!r} ({rest})")
        found += [f"{one.id}: no document {gold!r} in the index" for gold in one.gold_passages]
    found += [f"{one}: a trap without facts or forbidden is never scored" for one in outcome.unscored_traps]
    lacking = sum(one.unanswerable or bool(one.gold_passages) for one in outcome.missing)
    return [
        *found,
        f"{outcome.questions - lacking} of {outcome.questions} questions with evidence or gold passages "
        f"can be met, over {outcome.chunks} passages",
    ]


def as_data(outcome: Check) -> dict[str, Any]:
    """The outcome as plain data, for JSON."""
    return {"ok": outcome.ok, **asdict(outcome)}
