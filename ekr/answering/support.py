"""How well an excerpt supports a sentence: shared words weighed by rarity, and closeness of meaning."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ekr.answering.sentences import split_sentences
from ekr.answering.words import FUNCTION_WORDS
from ekr.models.base import Embedder

_TOKEN = re.compile(r"\d+(?:[.,\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?|[^\W\d_]+")
_STEM = 6
_NUMBER_WEIGHT = 3.0
_NAME_WEIGHT = 2.0
NUMBER_WORDS = {
    word: str(value)
    for value, words in {
        1: (),
        2: ("deux", "two"),
        3: ("trois", "three"),
        4: ("quatre", "four"),
        5: ("cinq", "five"),
        6: ("six",),
        7: ("sept", "seven"),
        8: ("huit", "eight"),
        9: ("neuf", "nine"),
        10: ("dix", "ten"),
        12: ("douze", "twelve"),
        15: ("quinze", "fifteen"),
        20: ("vingt", "twenty"),
        24: (),
        30: ("trente", "thirty"),
        100: ("cent", "hundred"),
        1000: ("mille", "thousand"),
    }.items()
    for word in words
}


def _inside(text: str, position: int) -> bool:
    """Whether a word at `position` stands inside a sentence and not at its beginning."""
    before = text[:position].rstrip(" «“\"'’(-•*")
    return bool(before) and before[-1] not in ".!?:;\n"


def fold(text: str) -> str:
    """Lower case, compatibility forms and accents folded."""
    decomposed = unicodedata.normalize("NFKD", text.lower().replace("œ", "oe").replace("æ", "ae"))
    return "".join(c for c in decomposed if not unicodedata.combining(c))


_FUNCTION_WORDS = frozenset(fold(word) for words in (FUNCTION_WORDS["en"], FUNCTION_WORDS["fr"]) for word in words)


@dataclass(frozen=True, slots=True)
class Term:
    """A content word, stemmed and without accents, or a number with digits only; `weight` before rarity."""

    text: str
    weight: float


def terms(text: str) -> list[Term]:
    """Content words and numbers of `text`; numbers weigh 3, capitalised words inside a sentence 2, others 1."""
    found: list[Term] = []
    for match in _TOKEN.finditer(text):
        raw = match.group()
        if raw[0].isdigit():
            found.append(Term(_plain_number(raw), _NUMBER_WEIGHT))
            continue
        word = fold(raw)
        if word in _FUNCTION_WORDS or (len(word) == 1 and word.isascii()):
            continue
        if word in NUMBER_WORDS:
            found.append(Term(NUMBER_WORDS[word], _NUMBER_WEIGHT))
            continue
        named = raw[0].isupper() and _inside(text, match.start())
        found.append(Term(word[:_STEM], _NAME_WEIGHT if named else 1.0))
    return found


def numbers(text: str) -> set[str]:
    """Every number in `text`, digits only, number words included."""
    return {t.text for t in terms(text) if t.text[0].isdigit()}


def names(text: str) -> list[str]:
    """Capitalised words of three letters or more that do not open a sentence, in order."""
    found = [
        match.group()
        for match in _TOKEN.finditer(text)
        if match.group()[0].isupper() and len(match.group()) > 2 and _inside(text, match.start())
    ]
    return list(dict.fromkeys(found))


def written_numbers(text: str) -> set[str]:
    """The numbers that `text` writes in digits, digits only."""
    return {_plain_number(m.group()) for m in _TOKEN.finditer(text) if m.group()[0].isdigit()}


def _plain_number(raw: str) -> str:
    grouped = re.sub(r"[.,\u00a0\u202f ](?=\d{3}(?:\D|$))", "", raw)
    return grouped.replace(",", ".").lstrip("0") or "0"


class Excerpts:
    """Excerpts prepared to be compared with sentences. Vectors are made at the first use of `scores`."""

    def __init__(self, texts: Sequence[str], embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._terms = [{t.text for t in terms(text)} for text in texts]
        frequency = Counter(t for found in self._terms for t in found)
        total = len(texts)
        self._rarity = {t: math.log(1 + (total + 0.5) / (n + 0.5)) for t, n in frequency.items()}
        self._unseen = math.log(1 + (total + 0.5) / 0.5)
        self._sentences = [[text[a:b] for a, b in split_sentences(text)] or [text] for text in texts]
        self._vectors: list[npt.NDArray[np.float32]] | None = None

    def coverage(self, sentence: str) -> npt.NDArray[np.float64]:
        """Per excerpt, the share (0 to 1) of the sentence's weighted terms that it holds."""
        wanted = {t.text: t.weight for t in sorted(terms(sentence), key=lambda t: t.weight)}
        weights = {t: w * self._rarity.get(t, self._unseen) for t, w in wanted.items()}
        whole = sum(weights.values())
        if not whole:
            return np.zeros(len(self._terms))
        return np.array([sum(w for t, w in weights.items() if t in held) / whole for held in self._terms])

    def closeness(self, sentences: Sequence[str]) -> npt.NDArray[np.float64]:
        """Shape (sentences, excerpts): cosine with the closest sentence of each excerpt; zeros without embedder."""
        if self._embedder is None or not sentences:
            return np.zeros((len(sentences), len(self._terms)))
        if self._vectors is None:
            flat = [s for group in self._sentences for s in group]
            vectors = self._embedder.embed_passages(flat)
            self._vectors = []
            position = 0
            for group in self._sentences:
                self._vectors.append(vectors[position : position + len(group)])
                position += len(group)
        asked = self._embedder.embed_passages(list(sentences))
        return np.array([[float((v @ row).max()) for v in self._vectors] for row in asked])
