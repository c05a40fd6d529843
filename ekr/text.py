"""Unicode clean-up shared by the readers and by everything that compares text."""

from __future__ import annotations

import re
import unicodedata

REPLACEMENT = "\ufffd"

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Soft hyphens and zero-width no-break spaces split words for every analyser and are never seen.
_INVISIBLE = re.compile("[\u00ad\ufeff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff\ufffe\uffff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SPACES = re.compile(r"\s+")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "`": "'"})


def clean(text: str) -> str:
    """NFC, `\\n` line ends, no NUL, lone surrogate or noncharacter: what a store can always hold.

    Surrogate pairs (from UTF-16 sources) become the character they stand for; what cannot be stored
    becomes U+FFFD, so that it stays visible.
    """
    if text.isascii() and "\r" not in text and "\x00" not in text and "\x0b" not in text and "\x0c" not in text:
        return text
    text = _LINE_ENDS.sub("\n", text)
    text = _SURROGATE_PAIR.sub(_join_pair, text)
    text = _INVISIBLE.sub("", text)
    text = _UNSTORABLE.sub(REPLACEMENT, text)
    return unicodedata.normalize("NFC", text)


def collapse(text: str) -> str:
    """The text on one line: every run of white space is one space, none at the ends."""
    return _SPACES.sub(" ", text).strip()


def words(text: str) -> frozenset[str]:
    """The words of a white-space separated list, for lookup tables."""
    return frozenset(text.split())


def comparable(text: str) -> str:
    """For comparing what people type: NFC, plain apostrophes, one space for any run of white space."""
    return collapse(unicodedata.normalize("NFC", text).translate(_APOSTROPHES))


def _join_pair(match: re.Match[str]) -> str:
    return match[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
