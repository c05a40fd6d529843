"""Running heads and feet: lines at the edge of the page that come back from page to page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ekr.reading.legal_numbering import legal_label
from ekr.reading.pdf_lines import Line

_NUMBERS = re.compile(r"\d+|^\W*[ivxlcdm]+\W*$", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"^(?:page\s*)?[-–—\s]*(\d{1,4})(?:\s*(?:/|of|sur|de)\s*\d{1,5})?[-–—\s]*$", re.IGNORECASE)
_EDGE = 0.12
_MIN_REPEATS = 3
_MIN_SHARE = 0.2


def strip_running_heads(pages: Sequence[Sequence[Line]], heights: Sequence[float]) -> list[list[Line]]:
    """The pages without the lines that repeat in their top or bottom eighth.

    A line repeats when the same words, numbers apart, stand within 6 points of the same height on at
    least three pages (both of two) and a fifth of the pages. Printed page numbers go where as many of them
    count in step with the pages.
    """
    edges = [[line for line in lines if _at_edge(line, height)] for lines, height in zip(pages, heights, strict=True)]
    usual = Counter(round(line.size) for lines in pages for line in lines)
    display = 1.12 * usual.most_common(1)[0][0] if usual else 0.0
    counts: Counter[tuple[str, int]] = Counter()
    for edge in edges:
        counts.update({_key(line, display) for line in edge})
    needed = max(min(_MIN_REPEATS, len(pages)), round(_MIN_SHARE * len(pages)))
    steps = Counter(step for edge in edges for step in {_step(line) for line in edge} if step is not None)
    counting = {step for step, pages_in_step in steps.items() if pages_in_step >= needed}

    def running(line: Line) -> bool:
        text, place = _key(line, display)
        # A head whose height lies on the border of two classes must not escape.
        repeats = sum(counts[text, place + shift] for shift in (-1, 0, 1))
        return repeats >= needed or _step(line) in counting

    dropped = [{id(line) for line in edge if running(line)} for edge in edges]
    return [[line for line in lines if id(line) not in gone] for lines, gone in zip(pages, dropped, strict=True)]


def _at_edge(line: Line, height: float) -> bool:
    return line.baseline > height * (1 - _EDGE) or line.baseline < height * _EDGE


def _key(line: Line, display: float) -> tuple[str, int]:
    """What must come back for a line to run, and its height class."""
    place = round(line.baseline / 6)
    if line.size >= display:
        # "Lesson 1", "Lesson 2" in display type open their pages.
        return line.text.casefold(), place
    label = legal_label(line.text)
    if label is None:
        return _NUMBERS.sub("#", line.text.casefold()), place
    # So do "Annex I", "Annex II"; only the same annex again and again is a running head.
    return f"{label.label} {_NUMBERS.sub('#', label.title)}".casefold(), place


def _step(line: Line) -> int | None:
    match = _PAGE_NUMBER.match(line.text)
    return int(match[1]) - line.page if match else None
