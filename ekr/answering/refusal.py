"""Whether the excerpts hold an answer at all: the generator's own Yes or No, meaning, and telling words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ekr.answering.context import Context
from ekr.answering.language import question_language
from ekr.answering.premise import Premise, premise_of
from ekr.answering.prompting import answerable_messages, premise_messages, prompt_language
from ekr.answering.quantities import quantities
from ekr.answering.support import Excerpts, terms, written_numbers
from ekr.models.base import Embedder, Generator

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_MISSING_NAME = 1.5


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps a signal to about +1 for an answerable question and -1 for one that is not: (x - middle) / half."""

    middle: float
    half: float

    def __call__(self, value: float) -> float:
        return max(-2.0, min(2.0, (value - self.middle) / self.half))


@dataclass(frozen=True, slots=True)
class Calibration:
    """How to read the signals of a generator and an embedder; logits have a scale for each prompt language.

    An answer is refused when the mean of its scaled signals is below `refuse_below`; withheld, when no excerpt
    supports it, below `trust_above`. A presupposition is denied when its scaled logit is below `deny_below`: well
    above the middle, for real passages are on the subject of the question and draw a Yes more easily than the
    built-in ones. The defaults were measured with Qwen2.5-Coder-1.5B and multilingual-e5-small.
    """

    logit: Mapping[str, Scale] = field(default_factory=lambda: {"en": Scale(-0.04, 0.86), "fr": Scale(0.28, 0.62)})
    premise: Mapping[str, Scale] = field(default_factory=lambda: {"en": Scale(0.9, 0.92), "fr": Scale(-0.92, 0.67)})
    closeness: Scale = Scale(0.847, 0.035)
    coverage: Scale = Scale(0.4, 0.3)
    refuse_below: float = -0.1
    deny_below: float = 1.0
    trust_above: float = 0.6

    def of(self, scales: Mapping[str, Scale], language: str) -> Scale:
        """The scale of the prompt that a question in `language` gets."""
        return scales[prompt_language(language)]


@dataclass(frozen=True, slots=True)
class Signals:
    """What tells an answerable question. `logit` is Yes minus No, `closeness` the best cosine of question and
    excerpt, `coverage` the best excerpt's share of the question's terms weighed by rarity (each None where it
    can't be known: the last, when question and excerpts differ in language), `missing` the names that no excerpt
    has."""

    logit: float | None
    closeness: float | None
    coverage: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to answer. `score` is the mean of the calibrated signals (None without a logit). `unmentioned`
    are quantities of the question that no excerpt has; `denied` is a presupposition that they do not bear out."""

    answerable: bool
    score: float | None
    signals: Signals
    unmentioned: tuple[str, ...] = ()
    denied: Premise | None = None
    premise_logit: float | None = None


def assess(
    question: str,
    context: Context,
    generator: Generator,
    embedder: Embedder | None,
    language: str,
    calibration: Calibration,
) -> Verdict:
    """Decides whether `context` answers `question`. Raises ModelError.

    Without a logit (a remote generator) the question counts as answerable: the model itself may refuse. So it does
    with a computed value, which was made for this question. Without passages the logit alone decides.
    """
    signals = measure(question, context, generator, embedder, language)
    value = score(signals, calibration, language)
    unmentioned = _unmentioned(question, context.text)
    computed = any(fact.kind == "value" for fact in context.facts)
    if value is not None and value < calibration.refuse_below and not computed:
        return Verdict(False, value, signals, unmentioned)
    premise = premise_of(question)
    logit = None
    denied = None
    if premise is not None and premise.why and value is not None:
        logit = generator.yes_minus_no(premise_messages(premise.question, question, context.text, language))
        if logit is not None and calibration.of(calibration.premise, language)(logit) < calibration.deny_below:
            denied = premise
    return Verdict(True, value, signals, unmentioned, denied, logit)


def measure(question: str, context: Context, generator: Generator, embedder: Embedder | None, language: str) -> Signals:
    """The signals for one question over one context."""
    logit = generator.yes_minus_no(answerable_messages(question, context.text, language))
    if not context.sources:
        return Signals(logit, None, None, ())
    texts = [f"{source.heading or ''}\n{source.text}" for source in context.sources]
    closeness = None
    if embedder is not None:
        closeness = float((embedder.embed_passages(texts) @ embedder.embed_query(question)).max())
    comparable = question_language(" ".join(texts), language) == language
    return Signals(
        logit=logit,
        closeness=closeness,
        coverage=float(Excerpts(texts, None).coverage(question).max()) if comparable else None,
        missing=missing_names(question, context.text) if comparable else (),
    )


def score(signals: Signals, calibration: Calibration, language: str) -> float | None:
    """Mean of the calibrated signals, less a penalty for missing names; None without a logit."""
    if signals.logit is None:
        return None
    parts = [calibration.of(calibration.logit, language)(signals.logit)]
    if signals.coverage is not None:
        parts.append(calibration.coverage(signals.coverage))
    if signals.closeness is not None:
        parts.append(calibration.closeness(signals.closeness))
    return sum(parts) / len(parts) - (_MISSING_NAME / len(parts) if signals.missing else 0.0)


def missing_names(question: str, context: str) -> tuple[str, ...]:
    """Names and acronyms of the question, its first word apart, that `context` lacks."""
    held = {t.text for t in terms(context)}
    found = [
        word.group()
        for word in _WORD.finditer(question)
        if _is_name(question, word) and not {t.text for t in terms(word.group())} <= held
    ]
    return tuple(dict.fromkeys(found))


def _is_name(question: str, word: re.Match[str]) -> bool:
    """Acronyms of three letters or more, and capitalised words that do not open the question.

    Two-letter acronyms (EU, US, UK) are too often spelt out in the documents to tell anything.
    """
    text = word.group()
    capitals = sum(c.isupper() for c in text)
    if not text[0].isupper() or (capitals == len(text) and len(text) < 3):
        return False
    opens = not question[: word.start()].strip(" «“\"'’([¿¡")
    return capitals >= 3 or not opens


def _unmentioned(question: str, context: str) -> tuple[str, ...]:
    held = written_numbers(context) | {t.text for t in terms(context)}
    return tuple(q for q in quantities(question) if not written_numbers(q) <= held)
