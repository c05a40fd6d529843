"""Reads legal cross-references in English and French: "Articles 8 to 15", « l'article 6, paragraphe 1 »."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ekr.extraction.names import fold

_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|last|premiers?|première|deuxième|second|seconde|troisième|quatrième"
    r"|cinquième|dernier)"
)
_NUMBER = r"(?:\d{1,4}(?:\s?(?:bis|ter|quater)\b|[a-z]\b)?|premier\b)"
_ROMAN = r"(?:[IVXLC]{1,7}\b|\d{1,3}\b)"
_JOIN = (
    r"(?:\s*,\s*(?:et|ou|and|or|à|to)?\s*"
    r"|\s+(?:et|ou|and|or|à|to|et/ou|and/or)\s+(?:(?:à|aux|to|l['’])\s*)?|\s*[–-]\s*)"
)
# "paragraphe 1, premier alinéa, point c)", "(1), points (a) and (b)": the inner address of a reference.
_PLACE = (
    rf"(?:(?:,|\s+and|\s+et)?\s*(?i:{_ORDINAL}\s+)?(?i:paragraph(?:e)?s?|points?|alinéas?|subparagraphs?|sections?"
    rf"|parties?|parts?|sous-points?|phrases?|sentences?|litt?\.|titres?)"
    rf"(?:\s*(?:\(?[0-9]{{1,3}}\)?|\(?[a-z]{{1,2}}\)|\(?[ivx]{{1,4}}\)|[A-Z]\b)(?:{_JOIN}(?=\(?(?:\d{{1,3}}\b|[a-z]{{1,2}}\)|[ivx]{{1,4}}\))))?)*)"
)
_INNER = rf"(?P<inner>(?:\s?\((?:\d{{1,3}}|[a-z])\))*(?:{_PLACE})*)"

_KINDS: dict[str, tuple[str, str]] = {
    "article": (r"\b(?:articles?|art\.)\s+", _NUMBER),
    "annex": (r"\bannexe?s?\s+", _ROMAN),
    "chapter": (r"\b(?:chapters?|chapitres?)\s+", _ROMAN),
    "recital": (r"\b(?:recitals?|considérants?)\s+", r"\(?\d{1,3}\)?"),
    "section": (r"(?:§{1,2}\s*|\bsections?\s+)", r"\d{1,4}(?:\.\d{1,3})*[a-z]?"),
}
_PATTERNS = {
    kind: re.compile(
        rf"(?i:{word})(?P<numbers>{number}(?:\(\d{{1,3}}\))?(?:{_JOIN}{number}(?:\(\d{{1,3}}\))?(?![\w’']))*){_INNER}"
    )
    for kind, (word, number) in _KINDS.items()
}
_HEADINGS = {
    kind: re.compile(rf"^\s*(?i:{word})(?P<number>{number})\s*(?P<rest>.*)$", re.S)
    for kind, (word, number) in _KINDS.items()
}
_LOOSE_SECTION = re.compile(
    r"^\s*(?i:section)\s+(?P<number>\d{1,3}(?:\.\d{1,3})*|[IVXLC]{1,6})\b\s*(?P<rest>.*)$", re.S
)
_RANGE = re.compile(r"\s(?:à|to)\s|\s*[–-]\s*")
_SECTION = re.compile(r"\bsections?\s+(\d{1,2})", re.I)
_OTHER_LAW = re.compile(
    r"\s*,?\s*(?:of|du|de|des|from|to|in|dudit|desdits)\s*(?:the|la|l['’]|le|les|cette|cet|ce|that|said)?\s*"
    r"(?:(?:same|même|délégué|delegated|implementing|cadre|framework)\s+)*"
    r"(?P<law>présente?s?|this|regulations?|directives?|règlements?|traités?|treat(?:y|ies)|tfue|tfeu|tue|teu|chart(?:er|e)"
    r"|conventions?|protocol(?:e)?s?|décisions?|decisions?|accords?|agreements?|recommandations?|recommendations?|code|loi|act)\b",
    re.I,
)
_OWN = frozenset({"this", "present", "presente", "presents", "presentes"})
_MOST_IN_A_RANGE = 40
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to one numbered unit. `paragraph` is the first paragraph number named, if any.

    `kind` is article, annex, chapter, recital or section; `number` is in lower case, Roman numerals too.
    """

    kind: str
    number: str
    paragraph: int | None
    start: int
    end: int


def references(text: str) -> list[Reference]:
    """References to units of the same document, in order; those to another law are left out."""
    found = []
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            law = _OTHER_LAW.match(text, match.end())
            if law and fold(law["law"]) not in _OWN:
                continue
            units = _expand(match["numbers"])
            section = (
                _SECTION.search(match["inner"] or "") if kind in ("chapter", "annex") and len(units) == 1 else None
            )
            if section:
                units = [f"{units[0]} section {section[1]}"]
            # "Articles 9, 10 and 11(2)": whose paragraph it is can't be told for all of them.
            paragraph = _paragraph(match["numbers"] + " " + (match["inner"] or "")) if len(units) == 1 else None
            for number in units:
                found.append(Reference(kind, number, paragraph, match.start(), match.end()))
    # "chapter III, section 2" is one reference, not two.
    inside = [(r.start, r.end) for r in found if r.kind != "section"]
    kept = [r for r in found if r.kind != "section" or not any(a <= r.start < b for a, b in inside)]
    return sorted(kept, key=lambda r: (r.start, r.kind, r.number))


def numbered_heading(heading: str) -> tuple[str, str, str] | None:
    """(kind, number, rest) of a heading such as "Article 6 – Classification rules", or None."""
    for kind, pattern in (*_HEADINGS.items(), ("section", _LOOSE_SECTION)):
        match = pattern.match(heading)
        if match:
            number = _plain(match["number"])
            return kind, number, match["rest"].strip(" \n\t–—-:.>")
    return None


def _plain(number: str) -> str:
    folded = re.sub(r"[\s()]", "", fold(number))
    return "1" if folded == "premier" else folded


def _expand(numbers: str) -> list[str]:
    parts = re.split(rf"({_JOIN})", re.sub(r"\(\d{1,3}\)", "", numbers))
    plain = [_plain(p) for p in parts[0::2]]
    result = [plain[0]]
    for joint, number in zip(parts[1::2], plain[1:], strict=False):
        last = result[-1]
        if _RANGE.fullmatch(joint) or re.search(r"\b(?:à|to)\b", joint):
            span = _between(last, number)
            result.extend(span)
        result.append(number)
    return list(dict.fromkeys(n for n in result if n))


def _between(first: str, last: str) -> list[str]:
    if first in _ROMANS and last in _ROMANS:
        return list(_ROMANS[_ROMANS.index(first) + 1 : _ROMANS.index(last)])
    if first.isdigit() and last.isdigit() and 0 < int(last) - int(first) <= _MOST_IN_A_RANGE:
        return [str(n) for n in range(int(first) + 1, int(last))]
    return []


def _paragraph(address: str) -> int | None:
    match = re.search(r"\((\d{1,3})\)|paragraph(?:e)?s?\s+(\d{1,3})|(?:points?)\s+(\d{1,3})\b", address)
    return int(next(g for g in match.groups() if g)) if match else None
