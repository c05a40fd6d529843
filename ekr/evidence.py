"""Between retrieval and answering: items become sources, an answer is made of them, sources become references."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ekr.results import Reference

if TYPE_CHECKING:
    from ekr.answering.answer import Answer
    from ekr.answering.context import Fact, FactKind, Source
    from ekr.loaded import LoadedModels
    from ekr.recipes import Recipe
    from ekr.results import Item
    from ekr.retrieval.trace import Trace


# What the tag around a fact takes, and the fewest tokens that a fact with its tag can take.
_TAG_TOKENS = 12
_LEAST_TOKENS = 14


def sources(items: Sequence[Item]) -> list[Source]:
    """The passages among the items, numbered from 1 in rank order."""
    from ekr.answering.context import Source

    passages = [item for item in items if item.type == "chunk"]
    return [
        Source(
            id=number,
            chunk_id=item.id,
            document=item.document or "",
            document_id=item.document_id or "",
            page_start=item.page_start,
            page_end=item.page_end,
            heading=item.heading,
            text=item.text or "",
        )
        for number, item in enumerate(passages, start=1)
    ]


Count = Callable[[Sequence[str]], list[int]]


def facts(items: Sequence[Item], recipe: Recipe, count: Count, *, beside_passages: bool) -> list[Fact]:
    """What the reports, entities and relations among the items say, in rank order, as far as a context holds it.

    Beside passages facts have a small share of the context, computed values a larger one; entities leave half of
    theirs to relations.
    """
    from ekr.answering.context import FACT_SHARE, VALUE_SHARE, Fact

    room = int(recipe.max_context_tokens * FACT_SHARE) if beside_passages else recipe.max_context_tokens
    kinds = {item.type for item in items} & {"entity", "relation"}
    budgets = {
        "value": int(recipe.max_context_tokens * VALUE_SHARE) if beside_passages else recipe.max_context_tokens,
        "community": room,
        "entity": min(recipe.max_entity_tokens, room // max(1, len(kinds))),
        "relation": min(recipe.max_relation_tokens, room // max(1, len(kinds))),
    }
    found: list[Fact] = []
    for type_, budget in budgets.items():
        # No fact takes fewer tokens than its tag, so what lies behind this many can't be reached.
        ours = [item for item in items if item.type == type_][: 1 + budget // _LEAST_TOKENS]
        found += [Fact(*_said(item)) for item in _fitting(ours, budget, count)]
    return found


def within_budgets(items: Sequence[Item], recipe: Recipe, count: Count) -> list[Item]:
    """The items without the entities and relations past the recipe's token budgets; `count` counts tokens."""
    kept: set[tuple[str, str]] = set()
    for type_, budget in (("entity", recipe.max_entity_tokens), ("relation", recipe.max_relation_tokens)):
        ours = [item for item in items if item.type == type_]
        kept |= {(item.type, item.id) for item in _fitting(ours, budget, count)}
    return [item for item in items if item.type not in ("entity", "relation") or (item.type, item.id) in kept]


def _fitting(items: Sequence[Item], budget: int, count: Count) -> list[Item]:
    """The first items whose texts take at most `budget` tokens together."""
    texts = [f"{name} {text}" for _, name, text in map(_said, items)]
    kept = []
    for item, tokens in zip(items, count(texts) if texts else [], strict=True):
        budget -= tokens + _TAG_TOKENS
        if budget < 0:
            break
        kept.append(item)
    return kept


def _said(item: Item) -> tuple[FactKind, str, str]:
    if item.type == "entity":
        return "entity", item.name or "", item.description or ", ".join(item.labels or ())
    if item.type == "relation":
        return "relation", str(item), item.description or ""
    if item.type == "value":
        return "value", item.title or "", item.name or ""
    return "community", item.title or "", item.summary or ""


def answer(
    question: str,
    passages: Sequence[Item],
    known: Sequence[Fact],
    recipe: Recipe,
    models: LoadedModels,
    *,
    seed: int,
    language: str,
    trace: Trace,
    on_token: Callable[[str], None] | None,
) -> Answer:
    """The generator's verified answer from passages and facts; a recipe without methods asks it alone.

    `language` counts where the question's own cannot be told. Raises ModelMissing, ModelError.
    """
    from ekr.answering.answer import Options
    from ekr.answering.answer import answer as generate
    from ekr.answering.refusal import Calibration

    with trace.timed("load_generator"):
        generator = models.generator()
    offered = sources(passages)
    with trace.timed("calibrate"):
        calibration = models.calibration() if offered else Calibration()
    options = Options(
        max_context_tokens=recipe.max_context_tokens,
        max_entity_tokens=recipe.max_entity_tokens,
        max_relation_tokens=recipe.max_relation_tokens,
        seed=seed,
        default_language=language,
        bypass=not recipe.methods,
        calibration=calibration,
    )
    with trace.timed("answer"):
        embedder = models.embedder() if offered else None
        given = generate(question, offered, known, generator, embedder, options, on_token)
    for stage, seconds in given.timings.items():
        trace.timings[f"answer.{stage}"] = seconds
    for note in given.dropped:
        trace.note(note)
    trace.extra["context"] = given.prompt_context
    return given


def references(offered: Iterable[Source], cited: Collection[int] = ()) -> tuple[Reference, ...]:
    """What a result lists for the passages that were in the context."""
    return tuple(
        Reference(
            id=source.id,
            document=source.document,
            document_id=source.document_id,
            page_start=source.page_start,
            page_end=source.page_end,
            heading=source.heading,
            text=source.text,
            cited=source.id in cited,
        )
        for source in offered
    )
