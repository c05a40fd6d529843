"""Levels of a PDF's headings, from the kinds of legal numbering, decimal depth and type size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ekr.reading.legal_numbering import Label

_Style = tuple[float, bool]


@dataclass(frozen=True, slots=True)
class LineHeading:
    """A heading made of `lines[first:last]` of the document's lines; `level` from 1."""

    first: int
    last: int
    level: int


@dataclass(frozen=True, slots=True)
class FoundHeading:
    """A heading before it has a level: its lines, its type, its legal label or the depth of its decimals."""

    first: int
    last: int
    size: float
    bold: bool
    label: Label | None
    depth: int

    @property
    def style(self) -> _Style:
        """Sorts the biggest, boldest style first."""
        return -self.size, not self.bold

    @property
    def plain(self) -> bool:
        """True where nothing but its type makes it a heading."""
        return self.label is None and not self.depth


def with_levels(found: Sequence[FoundHeading]) -> list[LineHeading]:
    """Legal kinds by their order in law, decimals by depth, others by the rank of their type style.

    What stands before the first legal label, in a style that never comes back, is a law's title and
    preamble; it does not enclose the chapters, else every breadcrumb would begin with it.
    """
    ranks = _ranks(sorted({item.style for item in found if item.plain}))
    top_numbered = min((item.style for item in found if item.depth == 1), default=None)
    base = sum(1 for rank in set(ranks.values()) if top_numbered and _is_bigger(ranks, rank, top_numbered))
    labels = [item.label.level for item in found if item.label is not None]
    first_label = next((index for index, item in enumerate(found) if item.label is not None), 0)
    later_styles = {item.style for item in found[first_label:] if item.plain}
    headings: list[LineHeading] = []
    enclosing, enclosing_size = 0, 0.0
    for index, item in enumerate(found):
        if item.label is not None:
            level = item.label.level
            enclosing, enclosing_size = level, item.size
        elif item.depth:
            level = (enclosing or base) + item.depth
        elif index < first_label and item.style not in later_styles:
            level = max(labels)
        else:
            # An unnumbered heading inside an article or annex stands below it, a bigger one beside it.
            if item.size > enclosing_size + 0.5:
                enclosing = 0
            level = enclosing + ranks[item.style]
        headings.append(LineHeading(item.first, item.last, level))
    return headings


def _ranks(styles: Sequence[_Style]) -> dict[_Style, int]:
    """Rank 1 for the biggest style; sizes within half a point of each other are one."""
    ranks: dict[_Style, int] = {}
    rank = 0
    previous: _Style | None = None
    for style in styles:
        if previous is None or abs(style[0] - previous[0]) > 0.5 or style[1] != previous[1]:
            rank += 1
            previous = style
        ranks[style] = rank
    return ranks


def _is_bigger(ranks: dict[_Style, int], rank: int, style: _Style) -> bool:
    return any(other[0] < style[0] - 0.5 for other, other_rank in ranks.items() if other_rank == rank)
