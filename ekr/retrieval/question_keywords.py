"""Keywords of a question: by rule, or by a generator with the rule to fall back on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ekr.errors import EkrError

if TYPE_CHECKING:
    from ekr.extraction.keywords import Keywords
    from ekr.retrieval.search import Search


def question_keywords(search: Search) -> Keywords:
    """Low-level keywords name things, high-level ones are themes; neither list is ever empty.

    A generator that fails is recorded as degraded, and the rule takes its place; a question without keywords
    is searched by its own terms, which the trace says.
    """
    from ekr.extraction.keywords import generated_keywords, keywords

    found = None
    if search.recipe.keywords == "llm":
        try:
            found = generated_keywords(search.question, search.generator(), search.cache)
        except EkrError as error:
            search.trace.degrade("step", "keywords", error)
    if found is None:
        found = keywords(search.question, search.lookup)
    if found.fallback:
        search.trace.note("no keyword could be told apart: the question's own terms are searched")
    search.trace.add_keywords(search.question, found)
    return found
