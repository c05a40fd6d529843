"""Lines of a PDF to paragraphs: where one ends, what belongs together over a page break, where notes go."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ekr.reading.legal_numbering import PARAGRAPH_MARKER
from ekr.reading.pdf_headings import Body
from ekr.reading.pdf_lines import Line

_CLOSED = re.compile(r"[.:;!?…»”\"][)»”\"]?(?:\s*\(\s*\d+\s*\)[.,;]?)?$")
_NOTE_MARKER = re.compile(r"^(?:\(\s?\d{1,3}\s?\)|\(\s?\*+\s?\)|\d{1,3}\s|\*+|[†‡])")
_NOTE_SIZE = 0.93


def order_page(lines: Sequence[Line], body: Body) -> list[Line]:
    """The page's lines with its footnotes moved in front of a last paragraph that the page cuts off.

    What stands above the first line but is drawn after it (a masthead) comes first. Notes stay at the end
    of the page where its last paragraph is whole, or follows a heading, or is all there is.
    """
    lines = _heads_first(lines)
    notes = _footnotes(lines, body)
    if not notes:
        return lines
    marked = {id(note) for note in notes}
    rest = [line for line in lines if id(line) not in marked]
    notes = [replace(note, note=True) for note in notes]
    if not rest or _CLOSED.search(rest[-1].text):
        return [*rest, *notes]
    start = len(rest) - 1
    while start > 0 and not starts_paragraph(rest[start - 1], rest[start], body):
        start -= 1
    if start == 0 or not _CLOSED.search(rest[start - 1].text):
        return [*rest, *notes]
    return [*rest[:start], *notes, *rest[start:]]


def _heads_first(lines: Sequence[Line]) -> list[Line]:
    top = lines[0].baseline + 1.5 * lines[0].size if lines else 0.0
    heads = [line for line in lines[1:] if line.baseline > top]
    # Many such lines are another column, not a masthead.
    if not heads or len(heads) > 6 or len(heads) > len(lines) // 4:
        return list(lines)
    moved = {id(line) for line in heads}
    return [*heads, *(line for line in lines if id(line) not in moved)]


def _footnotes(lines: Sequence[Line], body: Body) -> list[Line]:
    """The block of smaller lines at the foot of the page that opens with a note's marker."""
    small = [line for line in lines if line.size < _NOTE_SIZE * body.size]
    normal = [line.baseline for line in lines if line.size >= _NOTE_SIZE * body.size]
    floor = min(normal, default=0.0)
    notes = [line for line in small if line.baseline < floor]
    return notes if notes and _NOTE_MARKER.match(notes[0].text) else []


def starts_paragraph(above: Line, line: Line, body: Body) -> bool:
    """True where `line` opens a paragraph of its own after `above`."""
    if above.note != line.note:
        return True
    if above.hyphen:
        return False
    if above.page != line.page:
        return _new_after_page(above, line)
    gap = above.baseline - line.baseline
    if abs(above.size - line.size) > 0.08 * max(above.size, line.size):
        return True
    if gap < -0.5 * line.size:
        # Next column or a text box: it goes on only where the sentence does.
        return bool(_CLOSED.search(above.text)) or not line.text[:1].islower()
    leading = body.leading * max(1.0, line.size / body.size)
    return gap > 1.45 * leading or _new_by_shape(above, line, body)


def _new_by_shape(above: Line, line: Line, body: Body) -> bool:
    """Paragraphs set without space between them show by a marker, a style, an indent or a short last line."""
    closed = bool(_CLOSED.search(above.text))
    room = (body.right - above.right) / body.width
    marked = bool(PARAGRAPH_MARKER.match(line.text)) and (closed or room > 0.06)
    restyled = above.bold != line.bold and room > 0.15
    indented = (
        closed
        and line.left > above.left + 0.8 * line.size
        and above.left <= body.left + 2
        and not PARAGRAPH_MARKER.match(above.text)
    )
    short = closed and room > 0.2 and not line.text[:1].islower()
    return marked or restyled or indented or short


def _new_after_page(above: Line, line: Line) -> bool:
    if _CLOSED.search(above.text) or abs(above.size - line.size) > 0.08 * line.size:
        return True
    return bool(PARAGRAPH_MARKER.match(line.text)) and not above.text.endswith(",")
