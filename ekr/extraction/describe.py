"""Descriptions composed from what the texts say: the definition first, then the most telling sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ekr.extraction.records import Definition

_LONGEST = 320
_WANTED = 140
# A sentence that is whole opens with a capital; what a page or list break left over does not.
_OPENS = re.compile(r"[\s«“\"'(]*[^\W\d_a-zà-öø-ÿ]")
_WHITE = re.compile(r"\s+")


class Telling(NamedTuple):
    """A sentence about an entity and how much it says: 4 a generator's text, 3 a definition … 0 a mention."""

    rank: int
    sentence: str


def tidy(text: str, longest: int = _LONGEST) -> str:
    """White space collapsed; cut at a word with an ellipsis when longer than `longest` characters."""
    flat = _WHITE.sub(" ", text).strip(" ;,")
    if len(flat) <= longest:
        return flat
    return flat[:longest].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"


def describe(name: str, definitions: Sequence[Definition], tellings: Sequence[Telling]) -> str:
    """At most about 320 characters; empty only when no text says anything.

    Definitions by kind (defined term, numbered unit, title), then sentences by rank, nearest to a readable length,
    and code points, so that the order of documents cannot matter.
    """
    order = {"term": 0, "number": 1, "title": 2, "heading": 3}
    stated = sorted({(order.get(d.kind, 9), tidy(d.description)) for d in definitions if d.description})
    parts = [text for _, text in stated[:1]]
    ranked = sorted(
        {
            (-t.rank, not _OPENS.match(t.sentence), abs(len(t.sentence) - _WANTED), tidy(t.sentence))
            for t in tellings
            if t.sentence.strip()
        }
    )
    for *_, sentence in ranked[: 2 - len(parts)]:
        if sentence not in parts and len(" ".join([*parts, sentence])) <= _LONGEST:
            parts.append(sentence)
    if not parts and ranked:
        parts = [ranked[0][-1]]
    return " ".join(part for part in parts if part != name)
