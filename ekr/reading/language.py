"""The language of a text, as ISO 639-1."""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import cache
from typing import Any

from ekr.errors import ModelError
from ekr.text import words

UNDETERMINED = "und"

# Languages with too little text in the wild (Nigerian Pidgin, Aragonese, ...) win on names and short
# passages of the big ones, so only languages that documents are usually written in compete.
LANGUAGES = words(
    "ar bg bn ca cs da de el en es et fa fi fr he hi hr hu hy id it ja ka ko lt lv nl no pl pt ro ru "
    "sk sl sr sv ta te th tr uk ur vi zh"
)

_SAMPLE = 2_000
_MIN_LETTERS = 20
_MIN_CONFIDENCE = 0.5


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        # It is unpacked there first; without this, each document would be blamed for a full disk.
        folder = tempfile.gettempdir()
        raise ModelError(
            f"cannot unpack the language data in {folder}: {error.strerror}; make room or set TMPDIR"
        ) from None
    identifier.set_languages(sorted(LANGUAGES))
    return identifier


def detect(text: str, fallback: str = UNDETERMINED) -> str:
    """The language of `text`, or `fallback` where the text is too short or too mixed to tell."""
    sample = text if len(text) <= _SAMPLE else _spread(text)
    wide = sum(1 for character in sample if ord(character) >= 0x2E80)
    letters = sum(map(str.isalpha, sample))
    if letters < _MIN_LETTERS and wide < 5:
        return fallback
    language, confidence = _identifier().classify(sample)
    return str(language) if confidence >= _MIN_CONFIDENCE else fallback


class DominantLanguage:
    """Detects record after record; one that cannot be told takes the most frequent language so far."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def detect(self, text: str) -> str:
        """The language of `text`, else the dominant one, else `und`."""
        language = detect(text)
        if language != UNDETERMINED:
            self._seen[language] += 1
            return language
        return self._seen.most_common(1)[0][0] if self._seen else UNDETERMINED


def _spread(text: str) -> str:
    """Four samples over the whole text: a foreign title page or licence must not decide."""
    piece = _SAMPLE // 4
    step = (len(text) - piece) // 3
    return "\n".join(text[start : start + piece] for start in range(0, 3 * step + 1, step))
