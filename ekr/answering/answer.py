"""A question and its evidence become an answer whose every citation was checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ekr.answering import prompting
from ekr.answering.citations import Verified, verify
from ekr.answering.context import Context, Fact, Source, build_context, unquote
from ekr.answering.generation import collect
from ekr.answering.grammar import answer_grammar, dotted_words
from ekr.answering.language import question_language
from ekr.answering.quantities import kinds
from ekr.answering.question_kind import asks_for_several
from ekr.answering.quotes import key_quotes, quantity_quotes
from ekr.answering.refusal import Calibration, Verdict, assess
from ekr.models.base import Embedder, Generator, Message
from ekr.timing import timed


@dataclass(frozen=True, slots=True)
class Options:
    """How to answer. Budgets are in tokens of the generator.

    `default_language` is used when the question's own can't be told. `quotes` is how many key passages may
    follow an answer word for word (only for a generator that takes a grammar: a small one tends to leave
    things out). `bypass` lets the model answer without documents. `calibration` is the generator's own, see
    `calibration.load_or_run`.
    """

    max_context_tokens: int = 2000
    max_entity_tokens: int = 2000
    max_relation_tokens: int = 2000
    max_answer_tokens: int = 400
    temperature: float = 0.0
    seed: int = 0
    default_language: str = "en"
    quotes: int = 2
    bypass: bool = False
    calibration: Calibration = field(default_factory=Calibration)


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` cites `sources` by id; `cited` are the ids it uses, in order of first use.

    `grounded` is true when an excerpt supports at least one of the model's own sentences; `refused` when the
    documents were found not to hold the answer. `dropped` says in English what was changed in the citations and
    what no excerpt supports.
    `prompt_context` is what the model was shown. `timings` are seconds by stage.
    """

    text: str
    sources: tuple[Source, ...]
    cited: tuple[int, ...]
    grounded: bool
    refused: bool
    dropped: tuple[str, ...]
    prompt_context: str
    language: str
    verdict: Verdict | None
    timings: dict[str, float]


def answer(
    question: str,
    sources: Sequence[Source],
    facts: Sequence[Fact],
    generator: Generator,
    embedder: Embedder | None,
    options: Options | None = None,
    on_token: Callable[[str], None] | None = None,
) -> Answer:
    """Answers from `sources` (best first) and `facts`; raw pieces go to `on_token`, the result is checked.

    Without embedder, citations are checked by words alone and no passage is quoted. Raises ModelError.
    """
    chosen = options or Options()
    language = question_language(question, chosen.default_language)
    timings: dict[str, float] = {}
    emit = on_token or (lambda piece: None)
    if chosen.bypass:
        with timed(timings, "generate"):
            messages = prompting.alone_messages(question, language)
            text = _generate(generator, messages, None, chosen, emit)
        return Answer(text.strip(), (), (), False, False, (), "", language, None, timings)
    with timed(timings, "context"):
        context = build_context(
            sources,
            facts,
            generator.count,
            max_context_tokens=chosen.max_context_tokens,
            max_entity_tokens=chosen.max_entity_tokens,
            max_relation_tokens=chosen.max_relation_tokens,
        )
    if not context.text:
        text = prompting.phrase("absent", language)
        emit(text)
        return Answer(text, (), (), False, True, (), "", language, None, timings)
    with timed(timings, "assess"):
        verdict = assess(question, context, generator, embedder, language, chosen.calibration)
    if not verdict.answerable:
        return _refuse(context, language, verdict, _verdict_notes(verdict), timings, emit)
    computed = any(fact.kind == "value" for fact in context.facts)
    start = _opening(verdict, language)
    messages = prompting.answer_messages(
        question,
        context.text,
        language,
        may_refuse=verdict.score is None,
        word_for_word=asks_for_several(question),
        computed=computed,
    )
    grammar = None
    if generator.supports_grammar and context.sources:
        seen = f"{context.text}\n{question}"
        grammar = answer_grammar(
            len(context.sources), start=start, dotted=dotted_words(seen), ideographs=_has_ideographs(seen)
        )
    with timed(timings, "generate"):
        raw = _generate(generator, messages, grammar, chosen, emit)
    with timed(timings, "verify"):
        checked = verify(unquote(raw).strip(), context.sources, embedder, question, given=start)
    doubtful = verdict.score is not None and verdict.score < chosen.calibration.trust_above
    if context.sources and not checked.cited and (checked.obeyed or (doubtful and not computed)):
        withheld = (*checked.notes, "the model's answer was withheld: no excerpt supports it")
        if verdict.denied is None or embedder is None or checked.obeyed:
            return _refuse(context, language, verdict, (*_verdict_notes(verdict), *withheld), timings, emit)
        checked = Verified(f"{start.rstrip(' .:')}.", (), withheld)
    refused = prompting.phrase("absent", language).rstrip(".") in checked.text
    text, cited = checked.text, checked.cited
    if embedder is not None and generator.supports_grammar and chosen.quotes and not refused:
        with timed(timings, "quote"):
            text, cited = _with_quotes(question, checked, context, embedder, language, verdict, chosen.quotes)
        emit(text[len(checked.text) :])
    notes = [*_verdict_notes(verdict), *checked.notes]
    if context.truncated:
        notes.append(f"excerpt [{context.truncated}] was cut at a sentence to fit max_context_tokens")
    return Answer(
        text,
        context.sources,
        cited,
        bool(checked.cited) and not refused,
        refused,
        tuple(notes),
        context.text,
        language,
        verdict,
        timings,
    )


def _refuse(
    context: Context,
    language: str,
    verdict: Verdict,
    notes: tuple[str, ...],
    timings: dict[str, float],
    emit: Callable[[str], None],
) -> Answer:
    """Says plainly that the documents lack the answer, then what was closest, with its page."""
    text = prompting.phrase("absent", language)
    cited: tuple[int, ...] = ()
    if context.sources:
        closest = context.sources[0]
        where = f"{prompting.place(closest, language)} [{closest.id}]"
        text = f"{text} {prompting.phrase('closest', language, place=where)}"
        cited = (closest.id,)
    emit(text)
    return Answer(text, context.sources, cited, False, True, notes, context.text, language, verdict, timings)


def _has_ideographs(text: str) -> bool:
    return any("\u3000" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7af" for c in text)


def _verdict_notes(verdict: Verdict) -> tuple[str, ...]:
    names = [f"no excerpt mentions {name}" for name in (*verdict.signals.missing, *verdict.unmentioned)]
    return (*names, "no excerpt bears out what the question takes for granted") if verdict.denied else tuple(names)


def _opening(verdict: Verdict, language: str) -> str:
    """The words an answer must begin with when the question takes for granted what the excerpts do not say."""
    if verdict.unmentioned:
        return prompting.phrase("unmentioned", language, term=", ".join(verdict.unmentioned))
    if verdict.denied is not None and verdict.denied.denial is not None and language == "fr":
        denial = verdict.denied.denial
        return prompting.phrase("denied_as", language, denial=denial[:1].lower() + denial[1:])
    if verdict.denied is not None:
        return prompting.phrase("denied", language)
    return ""


def _with_quotes(
    question: str,
    checked: Verified,
    context: Context,
    embedder: Embedder,
    language: str,
    verdict: Verdict,
    limit: int,
) -> tuple[str, tuple[int, ...]]:
    """The checked answer, followed word for word by the key passages that it leaves out.

    Where the question takes a figure for granted that the excerpts do not have, those with a like figure come.
    """
    doubted = question if verdict.denied is not None else " ".join(verdict.unmentioned)
    found = quantity_quotes(question, checked.text, context.sources, embedder, wanted=kinds(doubted)) or key_quotes(
        question, checked.text, context.sources, checked.cited, embedder, limit=limit
    )
    if not found:
        return checked.text, checked.cited
    left, right = ("« ", " »") if language == "fr" else ("“", "”")
    by_id = {source.id: source for source in context.sources}
    lines = [
        f"{left}{quote.text}{right} ({prompting.place(by_id[quote.source], language)}) [{quote.source}]"
        for quote in found
    ]
    text = "\n".join([checked.text, "", prompting.phrase("quoted", language), *lines])
    return text, tuple(dict.fromkeys([*checked.cited, *(quote.source for quote in found)]))


def _generate(
    generator: Generator,
    messages: Sequence[Message],
    grammar: str | None,
    options: Options,
    emit: Callable[[str], None],
) -> str:
    pieces = generator.stream(
        messages,
        grammar=grammar,
        max_tokens=options.max_answer_tokens,
        temperature=options.temperature,
        seed=options.seed,
    )
    return collect(pieces, emit, cited=grammar is not None)
