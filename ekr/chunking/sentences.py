"""Sentence boundaries in French, English and languages written alike; CJK full stops as well."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ekr.text import words

_ABBREVIATIONS = words(
    # English
    "mr mrs ms dr prof rev gen col sgt capt lt sen rep gov hon st jr sr inc ltd co corp vs etc fig figs eq "
    "vol vols no nos pp p ed eds e.g i.e cf al approx dept est jan feb mar apr jun jul aug sep sept oct nov "
    "dec u.s u.k u.n a.m p.m b.c a.d ph.d art arts sec secs para paras ch chap app reg dir ca c viz ibid "
    # French
    "m mm mme mmes mlle me mgr pr ste sts av bd boul tél ex env janv févr avr juil déc n° nº nos numéro "
    "alin al. ann chap coll dir éd éds fasc hab ibid id inf loc op cit par ex p.ex réf rééd sect "
    "sq sqq ss suiv sup suppl s t tr trad v j.-c c.-à-d"
)
_END = re.compile(
    r"""(?<![.!?…])(?P<stop>[.!?…]+)(?P<close>[»”’"')\]]*)(?P<space>\s+)(?=[«“"'‘(\[]*\s?[^\W_a-zà-öø-ÿ])"""
    r"""|(?P<cjk>[。！？｡]+[」』）】]*)"""
    r"""|(?P<guillemet>[.!?…]\s»)(?P<after>\s+)(?=[«(]*\s?[^\W_a-zà-öø-ÿ])"""
)
_LAST_WORD = re.compile(r"[^\s(«“\"'’\[]+$")
_INITIAL = re.compile(r"^(?:[^\W\d_]\.?-?)+$")
_LIST_NUMBER = re.compile(r"^\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxlcIVXLC]{1,6})$")


def sentence_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of `text[start:end]`, white space trimmed; they hold every other character."""
    begin = start
    for match in _END.finditer(text, start, end):
        boundary = match.end("close") if match["stop"] else match.end("cjk") if match["cjk"] else match.end("guillemet")
        if boundary >= end or (match["stop"] == "." and ends_abbreviation(text, begin, match.start("stop"))):
            continue
        yield from _trim(text, begin, boundary)
        begin = boundary
    yield from _trim(text, begin, end)


def ends_abbreviation(text: str, begin: int, stop: int) -> bool:
    """Whether the full stop at `stop`, in a sentence that begins at `begin`, is an abbreviation's or an initial's."""
    word = _LAST_WORD.search(text, max(begin, stop - 24), stop)
    if word is None:
        return False
    token = word[0]
    if token.casefold() in _ABBREVIATIONS:
        return True
    if text[begin:stop].strip() == token and _LIST_NUMBER.match(token):
        return True
    # "J. S. Bach", "U.S. Army": an initial, but not a sentence's last roman numeral or letter after a noun.
    return bool(_INITIAL.match(token)) and ((len(token) == 1 and token.isupper()) or "." in token)


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        offset = start + len(piece) - len(piece.lstrip())
        yield offset, offset + len(stripped)
