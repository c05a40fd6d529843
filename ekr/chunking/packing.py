"""The cheapest way to pack units into children, by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence

from ekr.chunking.units import Opening, Unit

# Cost of a cut in front of a unit, and of leaving the unit's opening inside a child. Small children cost
# up to 1 (quadratic in what they lack), so a numbered paragraph of two thirds of the minimum stands alone.
_CUT = {
    Opening.NUMBERED: 0.0,
    Opening.POINT: 0.15,
    Opening.PARAGRAPH: 0.1,
    Opening.ROW: 0.2,
    Opening.SENTENCE: 0.8,
    Opening.PIECE: 1.5,
}
_INSIDE = {
    Opening.NUMBERED: 0.25,
    Opening.POINT: 0.0,
    Opening.PARAGRAPH: 0.03,
    Opening.ROW: 0.0,
    Opening.SENTENCE: 0.0,
    Opening.PIECE: 0.0,
}
_AFTER_COLON = 0.4


def pack(units: Sequence[Unit], smallest: int, largest: int) -> list[tuple[int, int]]:
    """Ranges [first, last) of units, each at most `largest` tokens in sum (a unit above it stays alone).

    No range goes on over a unit that is `apart`.
    """
    best = [0.0] + [float("inf")] * len(units)
    previous = [0] * (len(units) + 1)
    for first in range(len(units)):
        opening = units[first].opening
        cost = best[first]
        if first:
            cost += _CUT[opening]
            if units[first - 1].introduces and opening is not Opening.NUMBERED:
                cost += _AFTER_COLON
        tokens = 0
        for last in range(first + 1, len(units) + 1):
            unit = units[last - 1]
            tokens += unit.tokens
            if last > first + 1 and (tokens > largest or unit.apart):
                break
            if last > first + 1:
                cost += _INSIDE[unit.opening]
            lacking = max(0.0, 1 - tokens / smallest) if smallest else 0.0
            total = cost + lacking * lacking
            if total < best[last]:
                best[last], previous[last] = total, first
    ranges: list[tuple[int, int]] = []
    last = len(units)
    while last > 0:
        ranges.append((previous[last], last))
        last = previous[last]
    return ranges[::-1]


def group(sizes: Sequence[int], good_start: Sequence[bool], largest: int) -> list[tuple[int, int]]:
    """Ranges [first, last) of children that share a parent: even in size, at most `largest` tokens.

    A new parent begins at a child with `good_start` where there is one in its second half.
    """
    total = sum(sizes)
    count = max(1, -(-total // largest))
    goal = total / count
    ranges: list[tuple[int, int]] = []
    first = 0
    used = 0
    last_good = 0
    for index, size in enumerate(sizes):
        full = used + size > largest
        enough = used >= goal * 0.95 and good_start[index]
        if index > first and (full or enough):
            cut = index
            if full and not good_start[index] and last_good > first:
                cut = last_good
            ranges.append((first, cut))
            first = cut
            used = sum(sizes[cut:index])
        if index > first and good_start[index] and used >= goal / 2:
            last_good = index
        used += size
    if first < len(sizes):
        ranges.append((first, len(sizes)))
    return ranges
