"""The forms in which a text cites excerpts by number: `[2]`, `[1, 3]`, `[1-3]`, `[^2]`, `【2】`, `[source 2]`."""

from __future__ import annotations

import re

_NUMBER_LIST = r"\d{1,4}(?:\s*(?:,|;|et|and|&|[-–])\s*\d{1,4})*"
CITATION = re.compile(
    r"\s?[\[［【〔⟦](?:\^|(?:sources?|refs?|references?|reference_id|excerpts?|extraits?|chunks?|n°|no\.?)\s*[=:]?\s*\"?)?"
    rf"\s*({_NUMBER_LIST})\"?\s*(?:†[^\]】]*)?[\]］】〕⟧]",
    re.IGNORECASE,
)


def parse_citations(text: str) -> list[int]:
    """The ids cited in `text`, in order: `[2]`, `[1, 3]`, `[1-3]`, `[^2]`, `【2】`, `[source 2]`."""
    return [n for match in CITATION.finditer(text) for n in _expand(match.group(1))]


def _expand(listed: str) -> list[int]:
    """`1, 3-5` as 1, 3, 4, 5; a range of more than 20 counts only its ends."""
    found: list[int] = []
    for part in re.split(r"\s*(?:,|;|et|and|&)\s*", listed):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        found += range(ends[0], ends[-1] + 1) if ends[0] <= ends[-1] <= ends[0] + 20 else ends
    return found
