"""The smallest pieces children are made of: sentences, table rows, and parts of what is too long."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from ekr.chunking.sentences import sentence_spans
from ekr.models.base import Tokenizer
from ekr.reading.document import Document, Table


class Opening(IntEnum):
    """What begins at a unit, from the best place to cut to the worst."""

    NUMBERED = 0
    POINT = 1
    PARAGRAPH = 2
    ROW = 3
    SENTENCE = 4
    PIECE = 5


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[start:end]` with its tokens.

    `introduces` says that it ends in a colon, `apart` that no child may hold both it and what is before it.
    """

    start: int
    end: int
    opening: Opening
    tokens: int = 0
    introduces: bool = False
    apart: bool = False


_NUMBERED = re.compile(r"(?:\(?\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3}){1,4}\.?|§\s?\d+)[ \t\xa0]")
_POINT = re.compile(r"(?:\(?(?:[a-z]|[A-Z]|([a-z])\1)\)|\(?[ivxlc]{1,6}\)|[•▪◦‣●○*·–—+-])[ \t\xa0]")
_PARAGRAPH_END = re.compile(
    rf"\n[ \t\xa0]*\n\s*|\n[ \t\xa0]*(?={_NUMBERED.pattern}|{_POINT.pattern.replace(chr(92) + '1', chr(92) + '1')})"
)
_WORD = re.compile(r"\S+")
_CLAUSE_END = re.compile(r"[,;:)、，；：]$")


def units(document: Document, start: int, end: int) -> Iterator[Unit]:
    """The units of `document.text[start:end]` in order, tokens not yet counted."""
    position = start
    for table in _tables_within(document.tables, start, end):
        yield from _prose(document.text, position, max(position, table.start))
        yield from _rows(document.text, max(position, table.start, start), min(end, table.end))
        position = max(position, min(end, table.end))
    yield from _prose(document.text, position, end)


def _tables_within(tables: Sequence[Table], start: int, end: int) -> list[Table]:
    return sorted((table for table in tables if table.start < end and table.end > start), key=lambda table: table.start)


def _rows(text: str, start: int, end: int) -> Iterator[Unit]:
    position = start
    for line in text[start:end].splitlines(keepends=True):
        row = line.strip()
        if row:
            offset = position + line.index(row)
            yield Unit(offset, offset + len(row), Opening.PARAGRAPH if position == start else Opening.ROW)
        position += len(line)


def _prose(text: str, start: int, end: int) -> Iterator[Unit]:
    for first, last, apart in _paragraphs(text, start, end):
        for index, (begin, stop) in enumerate(sentence_spans(text, first, last)):
            opening = _opening(text, begin) if index == 0 else Opening.SENTENCE
            yield Unit(begin, stop, opening, introduces=text[stop - 1] == ":", apart=apart and index == 0)


def _opening(text: str, start: int) -> Opening:
    if _NUMBERED.match(text, start):
        return Opening.NUMBERED
    return Opening.POINT if _POINT.match(text, start) else Opening.PARAGRAPH


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Spans of paragraphs, and whether two blank lines, which readers put around notes, stand before."""
    position, apart = start, False
    for match in _PARAGRAPH_END.finditer(text, start, end):
        if match.start() > position:
            yield position, match.start(), apart
        position, apart = match.end(), match[0].count("\n") > 2
    if position < end:
        yield position, end, apart


def counted(text: str, raw: Sequence[Unit], tokenizer: Tokenizer, limit: int) -> list[Unit]:
    """The units with their tokens; one above `limit` is cut at words, and a word above it anywhere."""
    counts = tokenizer.count([text[unit.start : unit.end] for unit in raw])
    result: list[Unit] = []
    for unit, tokens in zip(raw, counts, strict=True):
        if tokens <= limit:
            result.append(replace(unit, tokens=tokens))
        else:
            result.extend(_cut(text, unit, tokenizer, limit))
    return result


def _cut(text: str, unit: Unit, tokenizer: Tokenizer, limit: int) -> Iterator[Unit]:
    """Pieces of a unit that is too long, none above `limit` tokens, clause ends preferred."""
    words = [
        span
        for match in _WORD.finditer(text, unit.start, unit.end)
        for span in _short_words(text, match, tokenizer, limit)
    ]
    counts = tokenizer.count([text[start:end] for start, end in words])
    # Even pieces read better than full ones and a rest; sums are upper bounds of the joined count.
    total = sum(counts)
    pieces = -(-total // limit)
    goal = min(limit, -(-total // pieces) + limit // 10)
    opening = unit.opening
    first = 0
    while first < len(words):
        last, used, clause = first, 0, first
        while last < len(words) and used + counts[last] <= (goal if last > first else limit):
            used += counts[last]
            last += 1
            if used > 0.6 * goal and _CLAUSE_END.search(text, words[last - 1][0], words[last - 1][1]):
                clause = last
        if clause > first and last < len(words):
            last = clause
        start, end = words[first][0], words[last - 1][1]
        yield Unit(start, end, opening, sum(counts[first:last]), apart=unit.apart and first == 0)
        opening = Opening.PIECE
        first = last


def _short_words(text: str, word: re.Match[str], tokenizer: Tokenizer, limit: int) -> Iterator[tuple[int, int]]:
    """The word's span, or spans of its parts where it alone is above the limit (CJK runs, base64)."""
    pending = [word.span()]
    # A character never makes more than four tokens, so most words need no count.
    while pending:
        start, end = pending.pop()
        if end - start <= limit // 4 or end - start == 1 or tokenizer.count([text[start:end]])[0] <= limit // 4:
            yield start, end
            continue
        middle = _middle(text, start, end)
        pending += [(middle, end), (start, middle)]


def _middle(text: str, start: int, end: int) -> int:
    """The middle of a span, moved so that no combining mark or joiner is cut from its base."""
    middle = (start + end) // 2
    while middle < end - 1 and (text[middle] in "\u200d\ufe0f" or re.match(r"[\u0300-\u036f]", text[middle])):
        middle += 1
    return middle


def table_header(tables: Sequence[Table], start: int, text: str) -> str:
    """The header row to repeat for a child that begins inside a table below its header, else ""."""
    starts = [table.start for table in tables]
    index = bisect_right(starts, start) - 1
    if index < 0:
        return ""
    table = tables[index]
    if not table.header or not table.start < start < table.end:
        return ""
    header_end = text.find("\n", table.start, table.end)
    return table.header if header_end != -1 and start > header_end else ""
