"""Relations of a parsed text: subject–verb–object, subject–verb–preposition–object, "X is the N of Y", appositions.

The English model uses ClearNLP dependency labels, the French one Universal Dependencies; both are read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ekr.extraction.names import fold
from ekr.extraction.words import word_list

if TYPE_CHECKING:
    from spacy.tokens import Token

_SUBJECT = frozenset({"nsubj", "nsubjpass", "nsubj:pass", "nsubj:caus"})
_PASSIVE = frozenset({"nsubjpass", "nsubj:pass"})
_OBJECT = frozenset({"dobj", "obj", "dative", "iobj"})
_OBLIQUE = frozenset({"obl", "obl:arg", "obl:mod", "nmod"})
_PERSONAL = frozenset(["he", "she", "it", "they", "il", "elle", "ils", "elles", "who", "which", "qui"])
_NOUN_TAGS = ("NOUN", "PROPN")
_LONGEST_TYPE = 32
# Lemmas that say nothing by themselves, or that read badly as a type.
_LEMMAS = {"bear": "BORN", "naitre": "NAITRE", "etre": "BE"}
_EMPTY_VERBS = word_list("empty_verbs")
_INDEFINITE = frozenset({"a", "an", "un", "une"})
_PERSONS = frozenset(["he", "she", "il", "elle", "who", "qui"])


@dataclass(frozen=True, slots=True)
class Triple:
    """Indices of the source and target candidates, the relation's type, and a token of the sentence."""

    source: int
    target: int
    type: str
    token: int
    weight: float = 1.0


def relation_type(*words: str) -> str:
    """UPPER_SNAKE of the words, ASCII letters and digits only; empty when nothing is left."""
    parts = [
        "".join(c if c.isalnum() and c.isascii() else "_" for c in _LEMMAS.get(fold(w), fold(w))) for w in words if w
    ]
    name = "_".join(p.strip("_") for p in parts if p.strip("_")).upper()
    while "__" in name:
        name = name.replace("__", "_")
    return name if len(name) <= _LONGEST_TYPE and name[:1].isalpha() else ""


class Arguments:
    """Which candidate a token stands for: the one that covers it, or the person a pronoun points back to."""

    def __init__(self, owner: Mapping[int, int], persons: frozenset[int], phrases: frozenset[int]) -> None:
        self._owner = owner
        self._persons = persons
        self._phrases = phrases
        self._last_person: int | None = None

    def of(self, token: Token) -> list[tuple[int, float]]:
        """Candidates of a token and of what is coordinated with it; a pronoun's antecedent weighs half."""
        found = []
        for part in (token, *_conjuncts(token)):
            index = self._owner.get(part.i)
            if index is not None:
                found.append((index, 1.0))
            elif part.pos_ == "PRON" and part.lower_ in _PERSONS and self._last_person is not None:
                found.append((self._last_person, 0.5))
        return found

    def kinds_of(self, token: Token, source: int) -> list[tuple[int, float]]:
        """The phrase that a token heads, as a kind of thing that `source` is; nothing else is a kind."""
        index = self._owner.get(token.i)
        return [(index, 1.0)] if index in self._phrases and index != source and index is not None else []

    def saw_subject(self, token: Token) -> None:
        """Remembers the subject, if a person, for the pronouns that follow."""
        index = self._owner.get(token.i)
        if index in self._persons:
            self._last_person = index


def triples(sentence: list[Token], arguments: Arguments) -> Iterator[Triple]:
    """Relations of one sentence."""
    for token in sentence:
        if token.pos_ in ("VERB", "AUX"):
            yield from _of_verb(token, arguments)
        elif token.pos_ in _NOUN_TAGS:
            yield from _of_noun(token, arguments)


def _conjuncts(token: Token) -> list[Token]:
    return [child for child in token.children if child.dep_ == "conj"]


def _subjects(verb: Token) -> list[Token]:
    found = [c for c in verb.children if c.dep_ in _SUBJECT]
    # "X founded A and directed B": the second verb shares the first one's subject.
    if not found and verb.dep_ == "conj" and verb.head.pos_ in ("VERB", "AUX"):
        found = [c for c in verb.head.children if c.dep_ in _SUBJECT]
    if not found and verb.dep_ in ("acl", "acl:relcl", "relcl"):
        found = [verb.head]
    return found


def _of_verb(verb: Token, arguments: Arguments) -> Iterator[Triple]:
    subjects = _subjects(verb)
    sources = [s for subject in subjects for s in arguments.of(subject)]
    for subject in subjects:
        arguments.saw_subject(subject)
    if not sources:
        return
    lemma = verb.lemma_.strip().lower()
    if lemma in _EMPTY_VERBS:
        yield from _copula(verb, sources, arguments)
        return
    if not lemma.isalpha() or any(c.dep_ in ("neg",) or c.lower_ in ("ne", "n'") for c in verb.children):
        return
    particle = next((c.lower_ for c in verb.children if c.dep_ == "prt"), "")
    passive = any(s.dep_ in _PASSIVE for s in subjects) or any(c.dep_ in ("auxpass", "aux:pass") for c in verb.children)
    participle = verb.dep_ in ("acl", "acl:relcl", "relcl") and not any(c.dep_ in _SUBJECT for c in verb.children)
    passive = passive or (participle and "Part" in verb.morph.get("VerbForm") and "Pres" not in verb.morph.get("Tense"))
    for preposition, target, agent in _complements(verb):
        for index, weight in arguments.of(target):
            kind = relation_type(lemma, particle, "" if agent else preposition)
            if not kind:
                continue
            if passive and not preposition and not agent:
                continue
            for source, share in sources:
                if source != index:
                    pair = (index, source) if agent else (source, index)
                    yield Triple(*pair, kind, verb.i, min(weight, share))


def _complements(verb: Token) -> Iterator[tuple[str, Token, bool]]:
    """(preposition or empty, noun, whether it is the agent of a passive) of a verb."""
    for child in verb.children:
        if child.dep_ in _OBJECT:
            yield "", child, False
            yield from _noun_prepositions(child)
        elif child.dep_ in ("prep", "agent"):
            for noun in child.children:
                if noun.dep_ in ("pobj", "obj"):
                    yield child.lower_, noun, child.dep_ == "agent"
        elif child.dep_ == "obl:agent":
            yield "par", child, True
        elif child.dep_ in _OBLIQUE:
            yield _case(child), child, False


def _noun_prepositions(noun: Token) -> Iterator[tuple[str, Token, bool]]:
    """Prepositions that the parser hangs on the object: "published a paper with X"."""
    for child in noun.children:
        if child.dep_ == "prep" and child.lower_ in ("with", "to", "for", "from"):
            for inner in child.children:
                if inner.dep_ == "pobj":
                    yield child.lower_, inner, False


def _case(noun: Token) -> str:
    marks = [c for c in noun.children if c.dep_ == "case"]
    lemma = marks[0].lemma_.lower() if marks else ""
    return {"à": "a", "du": "de", "des": "de", "d'": "de", "au": "a", "aux": "a"}.get(lemma, lemma)


def _copula(verb: Token, sources: list[tuple[int, float]], arguments: Arguments) -> Iterator[Triple]:
    """English "X is the capital of Y" gives CAPITAL_OF; "X is a Z" gives IS_A."""
    if verb.lemma_ != "be":
        return
    for child in verb.children:
        if child.dep_ == "attr":
            yield from _predicate(child, sources, arguments, verb.i)


def _predicate(
    noun: Token, sources: list[tuple[int, float]], arguments: Arguments, at: int, *, apposed: bool = False
) -> Iterator[Triple]:
    for part in (noun, *_conjuncts(noun)):
        if any(c.dep_ == "case" for c in part.children):
            continue
        related = False
        if part.pos_ == "NOUN":
            for preposition, target in _noun_complements(part):
                for index, weight in arguments.of(target):
                    kind = relation_type(part.lemma_.lower(), preposition)
                    for source, share in sources:
                        if kind and source != index:
                            related = True
                            yield Triple(source, index, kind, at, min(weight, share))
        # Lists are often parsed as appositions; "X, a Z" says what X is only with the article.
        stated = any(c.lower_ in _INDEFINITE for c in part.children) if apposed else True
        if not related and stated:
            for source, share in sources:
                for index, weight in arguments.kinds_of(part, source):
                    yield Triple(source, index, "IS_A", at, min(weight, share))


def _noun_complements(noun: Token) -> Iterator[tuple[str, Token]]:
    for child in noun.children:
        if child.dep_ == "prep" and child.lower_ in ("of", "in", "at", "for", "to", "by"):
            yield from ((child.lower_, inner) for inner in child.children if inner.dep_ == "pobj")
        elif child.dep_ == "nmod":
            yield _case(child), child
        elif child.dep_ == "poss":
            yield "of", child


def _of_noun(noun: Token, arguments: Arguments) -> Iterator[Triple]:
    """French "X est la capitale de Y" (the noun is the head) and appositions: "X, founder of Y"."""
    if any(c.dep_ == "cop" for c in noun.children):
        subjects = [c for c in noun.children if c.dep_ in _SUBJECT]
        sources = [s for subject in subjects for s in arguments.of(subject)]
        for subject in subjects:
            arguments.saw_subject(subject)
        yield from _predicate(noun, sources, arguments, noun.i)
    elif noun.dep_ == "appos" and noun.pos_ == "NOUN" and noun.head.i != noun.i:
        sources = arguments.of(noun.head)[:1]
        if sources:
            yield from _predicate(noun, sources, arguments, noun.i, apposed=True)
