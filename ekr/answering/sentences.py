"""Sentence boundaries in English and French prose, lists and citations included, as character spans."""

from __future__ import annotations

import re

from ekr.answering.words import ABBREVIATIONS
from ekr.chunking.sentences import ends_abbreviation

# What opens an item of a list: a mark, a number or a letter.
ENUMERATOR = re.compile(r"^\s*(?:[-*•–]\s*)?(?:\(?(?:\d{1,2}|[a-z])[.)]\s+)?")
_CITATION = r"(?:\s*\[\d+\])+"
_END = re.compile(rf"[.!?…]+[»”\"')]*(?:{_CITATION})?(?=\s|$)|;(?:{_CITATION})?(?=\s*\n)|\n+")
_WORD_BEFORE = re.compile(r"[\w.]+$")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) of the sentences of `text`, without the white space around them.

    A line break ends a sentence when the line looks finished or the next begins a list item or a paragraph;
    citations `[n]` that follow a full stop belong to the sentence before them.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match.group().startswith("\n"):
            rest = text[match.end() :]
            soft = len(match.group()) == 1 and not re.match(r"\s*(?:[-*•–]\s|\d+[.)]\s|\(?[a-z]\)\s)", rest)
            if soft and not re.search(r"[.!?:;…\]»”]\s*$", text[start : match.start()]):
                continue
        elif match.group() == "." and (
            _is_abbreviation(text, match.start(), match.end()) or ends_abbreviation(text, start, match.start())
        ):
            continue
        _add(spans, text, start, match.end())
        start = match.end()
    _add(spans, text, start, len(text))
    return spans


def _is_abbreviation(text: str, dot: int, end: int) -> bool:
    before = _WORD_BEFORE.search(text, max(0, dot - 12), dot)
    if before is None:
        return False
    word = before.group().lower().strip(".")
    after = text[end : end + 3].lstrip()
    if word.isdigit() or len(word) == 1:
        # "1. The …" numbers a paragraph; "in 1850. The" ends one.
        line_start = text.rfind("\n", 0, dot) + 1
        numbering = not text[line_start : dot - len(word)].strip(" (-") or text[
            dot - len(word) - 2 : dot - len(word)
        ] in (". ", "; ")
        return (numbering and len(word) <= 2) or (len(word) == 1 and word.isalpha())
    return word in ABBREVIATIONS and (
        not after or not after[0].isupper() or word in ("art", "mr", "mrs", "dr", "m", "mme", "prof", "st")
    )


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))
