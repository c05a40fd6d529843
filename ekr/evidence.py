"""Between retrieval and answering: items become sources, an answer is made of them, sources become references."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ekr.results import Reference

if TYPE_CHECKING:
    from ekr.answering.answer import Answer
    from ekr.answering.context import Source
    from ekr.loaded import LoadedModels
    from ekr.recipes import Recipe
    from ekr.results import Item
    from ekr.retrieval.trace import Trace


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


def answer(
    question: str,
    items: Sequence[Item],
    recipe: Recipe,
    models: LoadedModels,
    *,
    seed: int,
    language: str,
    trace: Trace,
    on_token: Callable[[str], None] | None,
) -> Answer:
    """The generator's verified answer from the passages among the items; a recipe without methods asks it alone.

    `language` counts where the question's own cannot be told. Raises ModelMissing, ModelError.
    """
    from ekr.answering.answer import Options
    from ekr.answering.answer import answer as generate

    with trace.timed("load_generator"):
        generator = models.generator()
    options = Options(
        max_context_tokens=recipe.max_context_tokens,
        seed=seed,
        default_language=language,
        bypass=not recipe.methods,
    )
    with trace.timed("answer"):
        given = generate(
            question, sources(items), (), generator, models.embedder() if items else None, options, on_token
        )
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
