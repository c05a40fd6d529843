"""Texts as the bench compares them: before regexes, and before exact match and F1."""

from __future__ import annotations

import re
import string
import unicodedata

_CHARACTERS = str.maketrans(
    {
        "\u2019": "'",
        "\u2018": "'",
        "\u02bc": "'",
        "\u00b4": "'",
        "`": "'",
        "\u00a0": " ",
        "\u202f": " ",
        "\u2007": " ",
        "\u00ad": None,
        "\u200b": None,
        "\u2060": None,
        "\ufeff": None,
    }
)
_WHITE_SPACE = re.compile(r"\s+")
_VERBOSE = re.compile(r"\(\?[aiLmsu]*x")
# Of a regex: a run of white space written in any way, a character by its number, any other character or escape.
_TOKEN = re.compile(
    r"(?P<blank>(?:\\?\s|\\[nrtfv]|\\u(?:00a0|200[0-9a]|202f|205f|3000)|\\xa0)+)"
    r"|\\[ux](?P<code>(?<=u)[0-9a-f]{4}|(?<=x)[0-9a-f]{2})|\\.|.",
    re.DOTALL | re.IGNORECASE,
)
_CITATION = re.compile(r"\s*\[\d+(?:\s*[,;\u2013-]\s*\d+)*\]")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """NFC, straight apostrophes, plain spaces, runs of white space as one space, no invisible characters."""
    return _WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", text).translate(_CHARACTERS)).strip()


def normalise_pattern(pattern: str) -> str:
    """A regex with its literal characters, also those by number, as `normalise` leaves them in a text.

    A run of white space is one space, but for a regex with (?x), where it only lays the regex out.
    """
    verbose = _VERBOSE.search(pattern) is not None

    def plain(token: re.Match[str]) -> str:
        if token["blank"]:
            return token[0].translate(_CHARACTERS) if verbose else " "
        if token["code"]:
            character = chr(int(token["code"], 16))
            return character.translate(_CHARACTERS) if ord(character) in _CHARACTERS else token[0]
        return token[0].translate(_CHARACTERS)

    return _TOKEN.sub(plain, unicodedata.normalize("NFC", pattern))


def without_citations(answer: str) -> str:
    """An answer without its markers `[1]` or `[1, 3]`: a number in a marker is not a claim."""
    return _CITATION.sub("", answer)


def normalise_answer(text: str) -> str:
    """Lower case, no ASCII punctuation, no English article, single spaces.

    The normalisation of the SQuAD evaluation (Rajpurkar et al. 2016), which HotpotQA and MuSiQue use too.
    """
    plain = normalise(text).lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", plain).split())
