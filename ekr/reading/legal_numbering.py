"""Numbering of laws, contracts and manuals: Article 6, CHAPITRE III, § 12, Annex IV, 1.2.3."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Outermost first. Annexes stand beside the body, so they open at the top again.
_KINDS: tuple[tuple[str, str, int], ...] = (
    ("part", r"partie|part|livre|book|tome", 1),
    ("title", r"titre|title", 2),
    ("chapter", r"chapitre|chapter", 3),
    ("section", r"section", 4),
    ("subsection", r"sous-section|subsection|sub-section", 5),
    ("article", r"article|art\.?|clause|rule|règle|§{1,2}", 6),
    ("annex", r"annexe?|appendi(?:x|ce)|schedule", 1),
)
ARTICLE_LEVEL = 6

_ORDINAL = (
    r"premi(?:er|ère)|unique|préliminaire|preliminary|first|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|deux(?:ième)?|trois(?:ième)?|quatre|cinq|sept|huit|neuf|dix"
)
_NUMBER = (
    r"(?:(?:[LRDA]\.?\s?)?\*?\d+(?:[.\-]\d+)*(?:er|ère|re)?(?:\s?(?:bis|ter|quater|quinquies|sexies))?[a-z]?"
    rf"|(?-i:[IVXLCDM]+|[A-Z])(?:\s?(?:bis|ter))?|{_ORDINAL})"
)
_LABELS = tuple(
    (
        kind,
        level,
        re.compile(
            rf"^(?P<label>(?:{words})(?:\s+|(?<=[.§])\s*)(?:n[°o]\s*)?{_NUMBER})(?P<rest>$|(?=[\s.:,;()–—-]).*)",
            re.IGNORECASE,
        ),
    )
    for kind, words, level in _KINDS
)
_BARE_ANNEX = re.compile(r"^(?:annexe?s?|appendi(?:x|ce)|schedule)$", re.IGNORECASE)
_SEPARATED = re.compile(r"^\s*(?:[.:]|[–—-])*\s*")
_DECIMAL = re.compile(r"^(?P<number>\d{1,3}(?:\.\d{1,3}){0,4})\.?\s+(?P<rest>[^\W\d_].*)$")
_CONTENTS_LINE = re.compile(r"(?:\.\s?){4,}\s*\d*$|…\s*\d+$|_{4,}\s*\d+$")

PARAGRAPH_MARKER = re.compile(
    r"^(?:\(?\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3}){1,4}\.?|\(?(?:[a-z]|[A-Z]|([a-z])\1)\)|\(?[ivxlc]{1,6}\)|[•▪◦‣●○*·–—-])\s"
)


@dataclass(frozen=True, slots=True)
class Label:
    """A numbered heading: its kind, its level among legal kinds, its number part and the title after it."""

    kind: str
    level: int
    label: str
    title: str


def legal_label(text: str) -> Label | None:
    """The label that `text` opens with ("Article 6", "CHAPITRE III – Dispositions"), if it opens with one."""
    if _BARE_ANNEX.match(text):
        return Label("annex", 1, text, "")
    for kind, level, pattern in _LABELS:
        match = pattern.match(text)
        if match is None:
            continue
        title = match["rest"][_SEPARATED.match(match["rest"]).end() :].strip()  # type: ignore[union-attr]
        return Label(kind, level, match["label"], title)
    return None


def is_contents_line(text: str) -> bool:
    """True for an entry of a table of contents with leaders ("Article 5 ........ 12")."""
    return bool(_CONTENTS_LINE.search(text))


def decimal_depth(text: str) -> int:
    """The depth of decimal numbering before a title: 2 for "1.2 Scope", 0 where there is none."""
    match = _DECIMAL.match(text)
    return match["number"].count(".") + 1 if match else 0


def decimal_number(text: str) -> str:
    """The decimal number that `text` opens with, or ""."""
    match = _DECIMAL.match(text)
    return match["number"] if match else ""
