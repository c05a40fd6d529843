"""Splits a question that asks for several things, so that each part is searched too."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

from ekr.errors import EkrError, ModelMissing

if TYPE_CHECKING:
    from ekr.retrieval.search import Search

_MOST_PARTS = 4
_WORDS = re.compile(r"\w+")
_ASKING = (
    "who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|must|"
    "qui|que|quoi|quel|quels|quelle|quelles|quand|où|pourquoi|comment|combien|est-ce|lequel|laquelle"
)
# Between two questions in one: the end of a sentence, a semicolon, or "and" before a word of asking.
_BETWEEN = re.compile(rf"(?<=[?!.])\s+|\s*;\s*|,?\s+(?:and|et)\s+(?=(?:{_ASKING})\b)", re.IGNORECASE)


def parts_of(search: Search) -> list[str]:
    """The parts of the question, without the question itself; none unless the recipe asks for them.

    By the generator under a grammar, or by rule where there is none; a generator that fails is recorded as
    degraded, and the rule takes its place.
    """
    if not search.recipe.query_decomposition:
        return []
    with search.trace.timed("decomposition"):
        try:
            parts, by = _generated(search)
        except ModelMissing:
            parts, by = split_by_rule(search.question), "rule"
        except EkrError as error:
            search.trace.degrade("step", "decomposition", error)
            parts, by = split_by_rule(search.question), "rule"
    search.trace.extra["decomposition"] = {"parts": parts, "by": by}
    return parts


def split_by_rule(question: str) -> list[str]:
    """The questions that stand side by side in one; none when there is only one."""
    parts = [part.strip(" ,") for part in _BETWEEN.split(question)]
    parts = [part for part in parts if len(_WORDS.findall(part)) > 1]
    return list(dict.fromkeys(parts))[:_MOST_PARTS] if len(parts) > 1 else []


def decomposition_grammar() -> str:
    """GBNF of the generator's answer."""
    from ekr.extraction.constrained import field_rule, list_rule, string_rule

    return "\n".join(
        [
            f'root ::= "{{" {field_rule("questions", "questions")} "}}"',
            f"questions ::= {list_rule('question', _MOST_PARTS)}",
            f"question ::= {string_rule(200)}",
            "",
        ]
    )


def _generated(search: Search) -> tuple[list[str], str]:
    from ekr.extraction.constrained import NoCache, ask, whole_object
    from ekr.models.base import Message

    generator = search.generator()
    text = files("ekr.retrieval").joinpath("prompts", "decompose.txt").read_text(encoding="utf-8").strip()
    messages = [Message("system", text), Message("user", search.question)]
    answer = ask(generator, messages, decomposition_grammar(), search.cache or NoCache(), max_tokens=300)
    given = whole_object(answer).get("questions")
    parts = [" ".join(str(part).split()) for part in given] if isinstance(given, list) else []
    asked = {word.casefold() for word in _WORDS.findall(search.question)}
    # A small model may add questions of its own: a part shares at least half of its words with the question.
    kept = [part for part in parts if part != search.question and _share(part, asked) >= 0.5]
    return list(dict.fromkeys(kept))[:_MOST_PARTS], generator.name


def _share(part: str, asked: set[str]) -> float:
    words = [word.casefold() for word in _WORDS.findall(part)]
    return sum(word in asked for word in words) / len(words) if words else 0.0
