"""Extraction without a pipeline: capitalised phrases and acronyms, for languages that have no spaCy model here."""

from __future__ import annotations

import re

from ekr.extraction.names import LINKING, clean, fold, is_acronym
from ekr.extraction.vocabulary import FUNCTION_WORDS, NOT_NAMES

_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*"
_LINK = r"(?:of|the|de|du|des|da|do|dos|della|di|del|van|von|der|den|y|e|et|and|und|&)"
_RUN = re.compile(rf"{_CAPITAL}(?:\s(?:(?:{_LINK})\s){{0,2}}{_CAPITAL}|\s(?:[IVX]{{1,5}}|\d{{1,4}})\b)*")
_START = re.compile(r"(?:^|[.!?:;•\n]\s*|[«“\"(]\s*)$")
_LONGEST = 8


def capitalised_names(text: str) -> list[tuple[int, int, str]]:
    """(start, end, name) of runs of capitalised words, in order.

    A single word at the start of a sentence is left out unless it is an acronym: its capital says nothing there.
    """
    found = []
    for match in _RUN.finditer(text):
        start, end = match.span()
        if not match[0][0].isupper():
            continue
        parts = re.findall(r"\S+", match[0])
        while parts and (fold(parts[0].strip("'’")) in FUNCTION_WORDS or fold(parts[0]) in NOT_NAMES):
            start += len(parts[0]) + 1
            parts = parts[1:]
        while parts and fold(parts[-1]) in LINKING:
            end -= len(parts[-1]) + 1
            parts = parts[:-1]
        name = clean(text[start:end]) if parts else ""
        if len(name) < 3 and not is_acronym(name):
            continue
        opens = _START.search(text, max(0, start - 4), start) is not None
        if len(parts) > _LONGEST or (len(parts) == 1 and opens and not is_acronym(name)):
            continue
        found.append((start, end, name))
    return found
