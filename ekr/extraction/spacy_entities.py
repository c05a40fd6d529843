"""Entities of a parsed text: named entities, laws and dates by their form, defined terms, key noun phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ekr.extraction.names import clean, fold, is_acronym
from ekr.extraction.records import Kind
from ekr.extraction.vocabulary import (
    FUNCTION_WORDS,
    HONORIFICS,
    NOT_NAMES,
    SPACY_LABELS,
    WEAK_HEADS,
    WEAK_OPENERS,
)
from ekr.extraction.words import word_list

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LAW = re.compile(
    r"\b(?i:(?:council\s+|commission\s+|delegated\s+|implementing\s+|framework\s+)*(?:regulation|directive|decision|act)"
    r"|règlement(?:\s+(?:délégué|d['’]exécution))?|directive|décision(?:-cadre)?|loi)\s+"
    r"(?:\((?:EU|EC|EEC|UE|CE|CEE)(?:,\s?Euratom)?\)\s*)?(?:(?:No|n[°o])\.?\s*)?\d{2,4}[/-]\d{1,4}(?:/(?:EU|EC|EEC|UE|CE|CEE|JHA|JAI))?"
)
_MONTHS = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|janvier|février|mars"
    r"|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)"
)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:er|st|nd|rd|th)?\s+{_MONTHS},?\s+\d{{3,4}}|{_MONTHS}\s+\d{{1,2}},?\s+\d{{3,4}}|{_MONTHS}\s+\d{{4}}"
    rf"|(?<=\bin\s)\d{{4}}|(?<=\ben\s)\d{{4}})\b",
    re.I,
)
_ROMAN_ONLY = re.compile(r"[IVXLC]+(?:\s+\d+)?")
_LAW_WORDS = word_list("law_words")
_LONGEST_NAME_TOKENS = 8
_LONGEST_PHRASE_TOKENS = 6
_LONGEST_FRENCH_PHRASE_TOKENS = 9
_DETERMINERS = frozenset({"le", "la", "les", "l'", "des"})
_PERSON_WORD = re.compile(r"[^\W\d_][\w'’.-]*")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span that may be an entity: token offsets [first, last), its cleaned name, label and kind."""

    first: int
    last: int
    name: str
    label: str
    kind: Kind


def candidates(doc: Doc, language: str) -> list[Candidate]:
    """Entities of the text in order, without overlap: laws and dates first, then names, then noun phrases."""
    taken = [False] * len(doc)
    found: list[Candidate] = []
    for source in (_by_form(doc), _named(doc), _proper_nouns(doc), _phrases(doc, language)):
        for candidate in source:
            if not any(taken[candidate.first : candidate.last]):
                taken[candidate.first : candidate.last] = [True] * (candidate.last - candidate.first)
                found.append(candidate)
    return sorted(found, key=lambda c: c.first)


def _by_form(doc: Doc) -> Iterator[Candidate]:
    for pattern, label in ((_LAW, "Law"), (_DATE, "Date")):
        for match in pattern.finditer(doc.text):
            span = doc.char_span(match.start(), match.end(), alignment_mode="expand")
            if span is not None:
                yield Candidate(span.start, span.end, clean(match[0]), label, "name")


def _named(doc: Doc) -> Iterator[Candidate]:
    for span in doc.ents:
        label = SPACY_LABELS.get(span.label_)
        if label is None or label == "Date":
            continue
        first, last = _trim(doc, span.start, span.end)
        if first >= last or last - first > _LONGEST_NAME_TOKENS:
            continue
        name = clean(doc[first:last].text)
        if _is_name(doc, first, last, name, label):
            yield Candidate(first, last, name, label, "name")


def _trim(doc: Doc, first: int, last: int) -> tuple[int, int]:
    """Without function words, numbers of list items and punctuation at either end."""
    while first < last and (_is_weak(doc[first]) or (doc[first].is_digit and last - first > 1)):
        first += 1
    while last > first and _is_weak(doc[last - 1]):
        last -= 1
    # Where the French recogniser runs on: "Commission adopte des actes", "Union et les États membres".
    for index in range(first + 1, last):
        word = doc[index].lower_
        runs_on = word == "sur" or (word == "et" and index + 1 < last and doc[index + 1].lower_ in _DETERMINERS)
        if runs_on or (doc[index].pos_ in ("VERB", "AUX") and doc[index].text.islower()):
            return _trim(doc, first, index)
    return first, last


def _is_weak(token: Token) -> bool:
    return bool(token.is_punct or token.is_space or token.lower_.strip("'’") in FUNCTION_WORDS)


def _is_name(doc: Doc, first: int, last: int, name: str, label: str) -> bool:
    inner = [doc[i] for i in range(first, last)]
    return (
        _is_written_as_name(inner, name)
        and not (inner[0].lower_ in NOT_NAMES and label not in ("Work", "Event"))
        and not (len(inner) == 1 and not _is_one_word_name(inner[0], name, label))
        and not (label in ("Other", "Organization") and _only_opens_sentence(inner))
        and not (label == "Person" and not _is_person(inner))
    )


def _is_written_as_name(inner: list[Token], name: str) -> bool:
    return (
        len(name) >= 2
        and any(t.text[:1].isupper() for t in inner)
        and any(c.isalpha() for c in name)
        and not any(c in name for c in "{}<>=|\\@#*")
        and "://" not in name
        and name.count('"') % 2 == 0
        and not _ROMAN_ONLY.fullmatch(name)
    )


def _is_one_word_name(token: Token, name: str, label: str) -> bool:
    if is_acronym(name):
        return token.lower_ not in FUNCTION_WORDS
    return (
        len(name) > 2
        and token.lower_ not in FUNCTION_WORDS
        and token.lower_ not in _LAW_WORDS
        and not (_opens(token) and (label == "Other" or token.pos_ != "PROPN"))
    )


def _opens(token: Token) -> bool:
    """Whether the token stands where any word has a capital: first in a sentence, or first in quotes there."""
    before = token.nbor(-1) if token.i else token
    return bool(token.is_sent_start or (before.is_sent_start and before.is_punct))


def _only_opens_sentence(inner: list[Token]) -> bool:
    """Whether the one capital of several words is that of the sentence."""
    capitals = sum(t.text[:1].isupper() for t in inner)
    return len(inner) > 1 and capitals == 1 and bool(inner[0].is_sent_start) and inner[0].text[:1].isupper()


def _is_person(inner: list[Token]) -> bool:
    return all(_PERSON_WORD.fullmatch(t.text) or t.is_punct for t in inner) and not inner[0].is_digit


def _proper_nouns(doc: Doc) -> Iterator[Candidate]:
    """Runs of capitalised proper nouns inside a sentence: what the small pipelines' entity recognisers pass over."""
    index = 0
    while index < len(doc):
        end = index
        while end < len(doc) and end - index < _LONGEST_NAME_TOKENS and _is_proper(doc[end]):
            end += 1
        # Acronyms alone stay parts of phrases ("système d'IA").
        alone = end - index == 1 and (doc[index].is_sent_start or is_acronym(doc[index].text))
        if end > index and not alone and _is_written_as_name(list(doc[index:end]), doc[index:end].text):
            yield Candidate(index, end, clean(doc[index:end].text), "Other", "name")
        index = max(end, index + 1)


def _is_proper(token: Token) -> bool:
    return (
        token.pos_ == "PROPN"
        and token.text[:1].isupper()
        and len(token) > 1
        and token.lower_ not in NOT_NAMES
        and token.lower_ not in _LAW_WORDS
        and token.lower_ not in FUNCTION_WORDS
    )


def _phrases(doc: Doc, language: str) -> Iterator[Candidate]:
    """Runs of nouns and adjectives of two words and more, with "de …" in French."""
    index = 0
    while index < len(doc):
        end = _phrase_end(doc, index, language)
        if end - index >= 2 and _is_phrase(doc, index, end):
            yield Candidate(index, end, clean(doc[index:end].text), "Concept", "phrase")
        index = max(end, index + 1)


def _phrase_end(doc: Doc, first: int, language: str) -> int:
    token = doc[first]
    hyphenated = first + 1 < len(doc) and doc[first + 1].text == "-"
    if not hyphenated and (token.lower_ in WEAK_OPENERS or token.lower_ in WEAK_HEADS or token.like_num):
        return first
    if language == "fr":
        return _french_phrase_end(doc, first) if token.pos_ in ("NOUN", "PROPN") else first
    if token.pos_ not in ("NOUN", "ADJ", "PROPN"):
        return first
    last_noun, index = first, first
    while index < len(doc) and index - first < _LONGEST_PHRASE_TOKENS:
        token = doc[index]
        if token.pos_ in ("NOUN", "PROPN"):
            last_noun = index + 1
        elif not (token.pos_ == "ADJ" or (token.text == "-" and index > first)):
            break
        index += 1
    return last_noun


def _french_phrase_end(doc: Doc, first: int) -> int:
    end, index = first + 1, first + 1
    while index < len(doc) and index - first < _LONGEST_FRENCH_PHRASE_TOKENS:
        token = doc[index]
        if token.pos_ == "ADJ" and token.lower_ not in WEAK_OPENERS and token.lower_ not in FUNCTION_WORDS:
            end = index = index + 1
        elif token.lower_ in ("de", "d'", "à", "en", "du", "des") and index + 1 < len(doc):
            index += 1
            if doc[index].lower_ in (
                "l'",
                "la",
                "haut",
                "haute",
                "hauts",
                "hautes",
                "usage",
                "grande",
            ) and index + 1 < len(doc):
                index += doc[index].pos_ != "NOUN"
            token = doc[index]
            named = token.pos_ == "PROPN" and token.text[:1].isupper() and not is_acronym(token.text)
            if token.pos_ not in ("NOUN", "PROPN") or token.lower_ in WEAK_HEADS or named:
                break
            end = index = index + 1
        else:
            break
    return end


def _is_phrase(doc: Doc, first: int, last: int) -> bool:
    words = [doc[i].lower_ for i in range(first, last)]
    head = words[0] if doc[first].pos_ == "NOUN" and doc.lang_ == "fr" else words[-1]
    content = [w for w in words if w.isalpha() and len(w) > 1 and fold(w) not in FUNCTION_WORDS]
    return (
        len(content) >= 2
        and head not in WEAK_HEADS
        and words[0] not in HONORIFICS
        and not any(c.isdigit() for w in words for c in w)
        and not any(doc[i].is_space for i in range(first, last))
    )
