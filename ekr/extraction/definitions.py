"""Finds defined terms and acronyms by their form: «X» désigne …, 'X' means …, on entend par X …, Long Name (LN)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ekr.extraction.names import LINKING, clean, fold, is_acronym, key_of, tokenize
from ekr.extraction.words import word_list

_QUOTED = (
    r"(?:«\s*(?P<{0}a>[^«»]{{2,90}}?)\s*»|“\s*(?P<{0}b>[^“”]{{2,90}}?)\s*”|‘(?P<{0}c>[^‘\n]{{2,90}}?)’"
    r"|\"(?P<{0}d>[^\"\n]{{2,90}}?)\"|(?<!\w)'(?P<{0}e>[^'\n]{{2,90}}?)'(?!\w))"
)
_ALIAS = r"(?:\s*\(\s*[«“‘\"']?(?P<alias>[^()«»“”\"]{2,40}?)[»”’\"']?\s*\))?"
_MEANS = (
    r"(?:(?:shall\s+|should\s+)?(?:means?\b|denotes?\b|stands?\s+for\b|refers?\s+to\b(?!\s+the\s+fact)"
    r"|(?:is|are|be)\s+(?:defined|understood)\s+as\b|(?:is|are)\s+(?:the\s+)?(?:terms?|names?)\s+for\b)"
    r"|(?:désigne|signifie)(?:nt)?\b|(?:doit\s+|doivent\s+|devrait\s+)?(?:s['’]\s*entend(?:ent|re)?\b)"
    r"|(?:est|sont|être)\s+(?:définie?s?|entendue?s?)\s+comme\b)"
)
_BEFORE = r"(?:on\s+entend\s+par|il\s+faut\s+entendre\s+par|est\s+(?:dénommée?|appelée?)|by|the\s+term|le\s+terme)"
_ITEM = r"(?:^|\n)\s*(?:[-–—•*]\s*)?(?:\(?(?:\d{1,3}|[a-z]{1,2})\s*[.)°]+\s*)?"

_CUED = re.compile(rf"{_QUOTED.format('q')}{_ALIAS}\s*,?\s*(?P<cue>{_MEANS})", re.I)
# A dictionary entry: a list item, or the first words after a heading, that opens with a quoted term.
_ENTRY = re.compile(rf"{_ITEM}{_QUOTED.format('q')}{_ALIAS}\s*(?P<cue>[,:])\s*(?=\w)")
_ANNOUNCED = re.compile(rf"\bon\s+entend\s+par\s*:?\s*{_QUOTED.format('q')}{_ALIAS}\s*(?P<cue>[,:])", re.I)
_UNQUOTED_FR = re.compile(
    r"\b(?:on\s+entend|il\s+faut\s+entendre)\s+par\s+(?P<qa>[^\W\d_][^,:;.«»“”\"\n]{1,60}?)\s*(?P<cue>[,:])\s*(?=\w)",
    re.I,
)
_UNQUOTED_EN = re.compile(
    r"(?:^|[\n.;:])\s*(?:(?:a|an|the)\s+)?(?P<qa>[^\W\d_][\w'’-]*(?:\s[\w'’-]+){0,4})\s+(?P<cue>means|is\s+defined\s+as|are\s+defined\s+as)\s+(?=(?:a|an|the|any|all|to|one|each)\b)",
    re.I,
)
_NOT_TERMS = word_list("not_terms")
_PARENTHESIS = re.compile(
    r"\s\((?:(?:the|ci-après(?:\s+(?:le|la|les|dénommée?s?|l['’]))?|hereinafter(?:\s+referred\s+to\s+as)?)\s*)?"
    r"[«“‘\"]?\s?(?P<short>[^\W\d_][\w.&’'-]{1,11})\s?[»”’\"]?\)"
)
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s|\n\s*\n")


@dataclass(frozen=True, slots=True)
class DefinedTerm:
    """A defined term: its span and that of its definition, both in the text."""

    term: str
    aliases: tuple[str, ...]
    start: int
    end: int
    sentence: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Acronym:
    """A short form in parentheses after its long form, with the span of the long form."""

    short: str
    long: str
    start: int
    end: int


def sentence_around(text: str, start: int, end: int, longest: int = 400) -> tuple[int, int]:
    """The sentence (or list item) that holds `text[start:end]`, at most `longest` characters after `start`."""
    begin = 0
    for boundary in _SENTENCE_END.finditer(text, max(0, start - longest), start):
        begin = boundary.end()
    begin = max(begin, start - longest)
    stop = _SENTENCE_END.search(text, end, min(len(text), start + longest))
    return begin, stop.start() if stop else min(len(text), start + longest)


def defined_terms(text: str) -> list[DefinedTerm]:
    """Terms that the text defines, in order, one for each place."""
    found: dict[int, DefinedTerm] = {}
    for pattern in (_CUED, _ENTRY, _ANNOUNCED, _UNQUOTED_FR, _UNQUOTED_EN):
        for match in pattern.finditer(text):
            group = next(g for g in ("qa", "qb", "qc", "qd", "qe") if match.groupdict().get(g))
            term = clean(match[group])
            key = key_of(term)
            if not key or len(term) < 2 or len(key.split()) > 10 or key.split()[0] in _NOT_TERMS:
                continue
            alias = clean(match.groupdict().get("alias") or "")
            begin, end = match.span(group)
            opening = begin - 1 if begin and text[begin - 1] in "«“‘\"'" else begin
            sentence = (opening, sentence_around(text, begin, match.end())[1])
            aliases = (alias,) if alias and not alias[0].isdigit() else ()
            found.setdefault(begin, DefinedTerm(term, aliases, begin, end, sentence))
    return [found[start] for start in sorted(found)]


def acronyms(text: str) -> list[Acronym]:
    """Short forms in parentheses that the words before them spell.

    After Schwartz & Hearst (2003), stricter: the long form opens with the short form's first letter, and the
    initial of each of its content words must stand in the short form, in order.
    """
    found = []
    for match in _PARENTHESIS.finditer(text):
        short = match["short"].rstrip(".")
        if not is_acronym(short):
            continue
        before = text[max(0, match.start() - 120) : match.start()]
        before = re.split(r"[.;:()«»“”]", before)[-1]
        offset = match.start() - len(before)
        start = _long_form("".join(c for c in fold(short) if c.isalnum()), before)
        if start is not None:
            found.append(Acronym(short, clean(before[start:]), offset + start, match.start()))
    return found


def _long_form(letters: str, before: str) -> int | None:
    """Where the shortest run of words that spells `letters` starts in `before`."""
    content: list[str] = []
    for token in reversed(tokenize(before)):
        if token.folded in LINKING:
            continue
        content.insert(0, token.folded)
        if len(content) > len(letters):
            return None
        spelt = token.folded[0] == letters[0] and _in_order("".join(w[0] for w in content), letters)
        if spelt and len(content) > 1 and _in_order(letters, before[token.start :].casefold()):
            return token.start
    return None


def _in_order(letters: str, within: str) -> bool:
    rest = iter(within)
    return all(letter in rest for letter in letters)
