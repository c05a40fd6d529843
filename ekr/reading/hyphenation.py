"""Joining the two halves of a word that a line end cut in two."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ekr.text import words

HYPHENS = "-\u00ad\u2010\u2011"

_TAIL = re.compile(rf"([^\W\d_]+(?:[-'’][^\W\d_]+)*)[{HYPHENS}]$")
_HEAD = re.compile(r"^([^\W\d_]+)")
_RANGE = re.compile(rf"\d[{HYPHENS}]\d$")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_WORD = re.compile(rf"[^\W\d_]+(?:[{HYPHENS}][^\W\d_]+)*")
# Halves that keep their hyphen when nothing else in the document tells.
_PREFIXES = words(
    "self non well ex vice quasi pseudo semi cross sous demi mi nouveau contre avant arrière "
    "twenty thirty forty fifty sixty seventy eighty ninety vingt trente quarante cinquante soixante quatre"
)
_SUFFIXES = words("ci là il elle ils elles on je tu nous vous moi toi lui leur même mêmes vis dire")


class Hyphenation:
    """Decides from the document's own words whether a hyphen at a line end belongs to the word."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: set[str] = set()
        for line in lines:
            self._words.update(word.casefold() for word in _WORD.findall(line))

    def join(self, before: str, after: str) -> str:
        """`before` and `after`, two successive lines, as one text: joined, or with a space between."""
        tail, head = _TAIL.search(before), _HEAD.match(after)
        if tail is None:
            return before + after if _closes_up(before, after) else f"{before} {after}"
        if head is None or not head[1][0].islower():
            # "EU-\nMember", "2019-\n2024": the hyphen is the author's own.
            return before.rstrip("\u00ad") + after
        stem, rest = tail[1].casefold(), head[1].casefold()
        if self._keeps_hyphen(stem, rest, soft=before[-1] == "\u00ad"):
            return before[:-1] + "-" + after
        return before[:-1] + after

    def _keeps_hyphen(self, stem: str, rest: str, *, soft: bool) -> bool:
        last = stem.rsplit("-", 1)[-1]
        if any(joined in self._words for joined in (stem + rest, last + rest)):
            return False
        if f"{stem}-{rest}" in self._words:
            return True
        return not soft and (last in _PREFIXES or rest in _SUFFIXES)


def _closes_up(before: str, after: str) -> bool:
    """True where no space belongs between two lines: in a path, a range of numbers, Chinese or Japanese."""
    if before.endswith("/") or _RANGE.search(before[-2:] + after[:1]):
        return True
    return before[-1:] >= "\u2e80" and after[:1] >= "\u2e80" and not _HANGUL.match(after[:1])
