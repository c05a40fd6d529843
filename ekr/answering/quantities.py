"""Quantities in a text, and of what kind they are: a duration, an amount of money, a share."""

from __future__ import annotations

import re
from typing import Literal

from ekr.answering.support import NUMBER_WORDS

Kind = Literal["duration", "money", "share", "count"]
_UNITS: dict[Kind, str] = {
    "share": r"%|pour cent\b|percent\b",
    "money": r"€|\$|£|(?:euros?|EUR|dollars?|pounds)\b",
    "duration": r"(?:heures?|hours?|jours?|days?|semaines?|weeks?|mois|months?|ans?|années?|years?)\b",
    "count": r"(?:millions?|milliards?|billions?|thousand)\b",
}
_UNIT = "|".join(f"(?P<{kind}>{unit})" for kind, unit in _UNITS.items())
_DIGITS = r"(?<![\w.,-])\d+(?:[.,\u00a0\u202f ]\d+)*"
_WORDS = rf"\b(?:{'|'.join(sorted(NUMBER_WORDS))})"
_IN_DIGITS = re.compile(rf"{_DIGITS}\s*(?:{_UNIT})", re.IGNORECASE)
_ANY = re.compile(rf"(?:{_DIGITS}\s*|{_WORDS}\s+)(?:{_UNIT})", re.IGNORECASE)


def quantities(text: str) -> tuple[str, ...]:
    """The quantities that `text` writes in digits with a unit, in order: a figure about the world.

    One without a unit ("the 3 main duties") only says how many things are asked for.
    """
    return tuple(dict.fromkeys(" ".join(m.group().split()) for m in _IN_DIGITS.finditer(text)))


def kinds(text: str) -> frozenset[str]:
    """What kinds of quantities `text` has, those with a number word ("two days") included."""
    return frozenset(m.lastgroup for m in _ANY.finditer(text) if m.lastgroup)


def of_kinds(text: str, wanted: frozenset[str]) -> tuple[str, ...]:
    """The quantities of `text` of these kinds, folded to lower case with single spaces."""
    return tuple(" ".join(m.group().lower().split()) for m in _ANY.finditer(text) if m.lastgroup in wanted)
