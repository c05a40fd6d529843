"""The language of a question, from its function words: too short a text for a statistical identifier."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from ekr.answering.words import FUNCTION_WORDS

# Scripts that name their language well enough to answer in it.
_SCRIPTS = (("HIRAGANA", "ja"), ("KATAKANA", "ja"), ("HANGUL", "ko"), ("CYRILLIC", "ru"), ("ARABIC", "ar"))
_TOKEN = re.compile(r"[^\W\d_]+")


def question_language(text: str, default: str = "en") -> str:
    """ISO 639-1 code of the language `text` is asked in; `default` when nothing tells.

    `default` also wins a tie, so pass the language of the documents.
    """
    words = _TOKEN.findall(unicodedata.normalize("NFC", text).lower())
    scores = Counter({code: sum(w in known for w in words) for code, known in FUNCTION_WORDS.items()})
    best = max(scores.values())
    if best:
        tied = [code for code, score in scores.items() if score == best]
        if len(tied) == 1 or default not in tied:
            return _prefer_accents(text, tied)
        return default
    return _by_script(text) or default


def _prefer_accents(text: str, tied: list[str]) -> str:
    """Among equally likely languages, one whose usual accents the text shows; else the first."""
    marks = {"fr": "êèçœàù", "de": "äöüß", "es": "ñ¿¡óíú", "pt": "ãõ", "it": "ìò"}
    lowered = text.lower()
    return max(tied, key=lambda code: sum(lowered.count(c) for c in marks.get(code, "")))


def _by_script(text: str) -> str | None:
    letters = [unicodedata.name(c, "") for c in text if c.isalpha()]
    for script, code in _SCRIPTS:
        if any(name.startswith(script) for name in letters):
            return code
    if any(name.startswith("CJK") for name in letters):
        return "zh"
    return None
