"""How names are cut into words and compared: folding, articles, possessives, plural, acronyms, numbers."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from ekr.extraction.words import word_list

# Scripts written without spaces are matched character by character.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:[^\W_{_UNSPACED}]|[\u0300-\u036f])+")
# The dots between single letters: "U.S." is "US", "J. R. R. Tolkien" is "JRR Tolkien".
_INITIALS = re.compile(r"(?<=\b[^\W\d_])\.\s?(?=[^\W\d_]\b)")
_ACCENTS = re.compile("[\u0300-\u036f]")
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "đ": "d", "ł": "l"})

# Words and names repeat nearby and by Zipf's law: more makes nothing faster and takes 200 bytes each.
_REMEMBERED = 32_768

ARTICLES = word_list("articles")
LINKING = word_list("linking")


class Token(NamedTuple):
    """A word of a text: its offsets and its folded form."""

    start: int
    end: int
    folded: str


@lru_cache(maxsize=_REMEMBERED)
def fold(word: str) -> str:
    """NFKC, case and Latin accents removed, ligatures opened."""
    folded = unicodedata.normalize("NFKC", word).casefold().translate(_LIGATURES)
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", folded)))


@lru_cache(maxsize=_REMEMBERED)
def singular(folded: str) -> str:
    """A folded word without its English or French plural mark; short words and -ss stay as they are."""
    if len(folded) <= 3 or not folded.isalpha():
        return folded
    # "-y", "-ies" and the French "-ie", "-ié", "-iés" meet in one form: this is a key, never shown.
    for ending in ("ies", "ie", "y"):
        if folded.endswith(ending) and len(folded) > len(ending) + 2:
            return folded[: -len(ending)] + "i"
    if folded.endswith("aux") and len(folded) > 4:
        return folded[:-3] + "al"
    if folded.endswith(("sses", "shes", "ches", "xes")):
        return folded[:-2]
    if folded.endswith(("s", "x")) and not folded.endswith(("ss", "us", "is", "ux")):
        return folded[:-1]
    return folded


def tokenize(text: str) -> list[Token]:
    """Words of a text with their offsets."""
    return [Token(m.start(), m.end(), fold(m[0])) for m in _WORD.finditer(text)]


def words(name: str) -> list[str]:
    """The folded words of a name, without possessive endings."""
    found = [fold(m) for m in _WORD.findall(_INITIALS.sub("", name))]
    return found[:-1] if len(found) > 1 and found[-1] == "s" and re.search(r"['’]s\W*$", name) else found


@lru_cache(maxsize=_REMEMBERED)
def key_of(name: str) -> str:
    """The canonical key: folded words without leading articles. Empty when the name has no word."""
    found = words(name)
    while len(found) > 1 and found[0] in ARTICLES:
        found = found[1:]
    return " ".join(found)


def numbers(key: str) -> frozenset[str]:
    """Numbers in a key, Arabic and Roman: names whose numbers differ are different things."""
    return frozenset(w for w in key.split() if any(c.isdigit() for c in w) or _ROMAN.fullmatch(w))


_ROMAN = re.compile(r"(?=[ivxlc])(?:x[lc]|l?x{0,3})(?:i[xv]|v?i{0,3})")


def is_acronym(name: str) -> bool:
    """Two to seven letters, mostly capitals, in one word."""
    letters = [c for c in name if c.isalpha()]
    return 2 <= len(letters) <= 7 and " " not in name and sum(c.isupper() for c in letters) >= max(2, len(letters) - 1)


def initials(name: str) -> set[str]:
    """What an acronym of the name could be: first letters with and without linking words."""
    every = [w for w in words(name) if w]
    content = [w for w in every if w not in LINKING]
    return {"".join(w[0] for w in chosen) for chosen in (every, content) if len(chosen) > 1}


def clean(name: str) -> str:
    """A name for display: white space collapsed, outer quotes, brackets, possessive and punctuation removed."""
    name = re.sub(r"\s+", " ", name).strip(" \t'’\"“”«»‹›`,;:.!?()[]{}–—-*•/|_")
    name = re.sub(r"['’]s$", "", name)
    if name.count("(") > name.count(")"):
        name += ")"
    return name
