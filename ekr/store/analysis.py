"""Text analysis for BM25: one analyser for English, one for French, one for every other language."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

# Scripts written without spaces (and Hangul, whose particles cling to words): found by their character pairs.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]+"
)
# Combining accents of Latin, Greek and Cyrillic, vowel points of Hebrew and Arabic.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u065f\u0670]")
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\u2032\u00b4`\u201b\uff07]")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|quelqu|presqu)'(?=\w)")
_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"'s\b")
_LONGEST_TOKEN = 64

ANALYSERS = {"en": "en", "fr": "fr"}
_SNOWBALL = {"en": "english", "fr": "french"}
OTHER = "other"
VERSION = 1


def settings() -> dict[str, Any]:
    """What a manifest records of the analysers; BM25 is rebuilt when it differs."""
    return {"version": VERSION, "languages": dict(ANALYSERS), "stemmers": dict(_SNOWBALL)}


def analyser_for(language: str) -> str:
    """Name of the analyser of a language (ISO 639-1)."""
    return ANALYSERS.get(language, OTHER)


def folded(text: str) -> str:
    """Lower case without accents, compatibility forms unified, straight apostrophes; any string is valid."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    marked = unicodedata.normalize("NFKD", _APOSTROPHES.sub("'", clean.casefold()))
    return unicodedata.normalize("NFKC", _MARKS.sub("", marked))


@dataclass(frozen=True)
class Analyser:
    """Splits text into the terms that are indexed and searched."""

    name: str
    words: Any  # Tantivy's own analyser: splits, folds, drops stop words, stems

    def terms(self, text: str) -> list[str]:
        """Terms of a text in order, stop words left out."""
        plain = folded(text)
        plain = _ELISION.sub(" ", plain) if self.name == "fr" else _POSSESSIVE.sub(" ", plain)
        words: list[str] = self.words.analyze(_UNSPACED.sub(_pairs, plain))
        return words


def query_terms(name: str, query: str) -> Counter[str]:
    """Terms to search in the index of one analyser, with how often each occurs in the query.

    The stop words of the query's own language go first: "le" is rare in English text, and would weigh most.
    """
    words = _WORD.findall(_ELISION.sub(" ", folded(query)))
    hits = {language: sum(word in _stopwords(language) for word in words) for language in ANALYSERS.values()}
    spoken = max(hits, key=lambda language: (hits[language], language))
    # One stop word alone proves nothing: "on" and "a" are words of both languages.
    if hits[spoken] > 1 and spoken != name:
        query = " ".join(word for word in words if word not in _stopwords(spoken))
    return Counter(analyser(name).terms(query))


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    pairs = [run[index : index + 2] for index in range(len(run) - 1)]
    return f" {' '.join([*run, *pairs])} "


@functools.cache
def analyser(name: str) -> Analyser:
    """The analyser of that name: en, fr or other."""
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(_LONGEST_TOKEN)).filter(tantivy.Filter.ascii_fold())
    if name in ANALYSERS.values():
        builder = builder.filter(tantivy.Filter.custom_stopword(sorted(_stopwords(name))))
    if name in _SNOWBALL:
        builder = builder.filter(tantivy.Filter.stemmer(_SNOWBALL[name]))
    return Analyser(name, builder.build())


@functools.cache
def _stopwords(name: str) -> frozenset[str]:
    text = files("ekr.store").joinpath("stopwords", f"{name}.txt").read_text(encoding="utf-8")
    return frozenset(folded(word) for word in text.split())
