"""The extractor that asks a generator, chunk by chunk, under a grammar, with one gleaning pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ekr.extraction.constrained import (
    Cache,
    NoCache,
    ask,
    field_rule,
    flat_objects,
    list_rule,
    prompt,
    string_rule,
)
from ekr.extraction.definitions import defined_terms, sentence_around
from ekr.extraction.matcher import Name, NameMatcher
from ekr.extraction.names import clean, fold, key_of, singular, tokenize
from ekr.extraction.records import LABELS, RELATED_TO, Kind, RawEntity, RawExtraction, RawRelation
from ekr.extraction.spacy_relations import relation_type
from ekr.extraction.vocabulary import FUNCTION_WORDS
from ekr.models.base import Generator, Message
from ekr.store.records import ChunkRecord

_MOST_ENTITIES = 16
_MOST_RELATIONS = 12
_MAX_TOKENS = 900
_LEAST_SUPPORT = 0.7
_STEM = 4
_PRONOUNS = frozenset({"he", "she", "they", "it", "il", "elle", "ils", "elles"})
_PREFIX = "llm:"


def extraction_grammar() -> str:
    """GBNF of one answer: bounded lists of flat objects, types from the one vocabulary."""
    types = " | ".join(f'"\\"{label}\\""' for label in LABELS)
    fields = {
        "entity": [field_rule("name", "name"), field_rule("type", "label"), field_rule("description", "text")],
        "relation": [
            field_rule("source", "name"),
            field_rule("target", "name"),
            field_rule("type", "verb"),
            field_rule("description", "text"),
        ],
    }
    rules = [
        r'root ::= "{\"entities\":" entities ",\"relations\":" relations "}"',
        f"entities ::= {list_rule('entity', _MOST_ENTITIES)}",
        f"relations ::= {list_rule('relation', _MOST_RELATIONS)}",
        *(f'{name} ::= "{{" ' + ' "," '.join(parts) + ' "}"' for name, parts in fields.items()),
        f"label ::= {types}",
        f"name ::= {string_rule(80)}",
        f"text ::= {string_rule(200)}",
        r'verb ::= "\"" [A-Z] [A-Z_]{1,30} "\""',
    ]
    return "\n".join(rules) + "\n"


class LlmExtractor:
    """Entities and relations as a generator reads them; only names that stand in the chunk's text are kept."""

    def __init__(self, generator: Generator, cache: Cache | None = None, *, gleaning: bool = True) -> None:
        self.name = _PREFIX + generator.name
        self._generator = generator
        self._cache = cache or NoCache()
        self._gleaning = gleaning
        self._grammar = extraction_grammar()
        self._notes: list[str] = []

    def notes(self) -> list[str]:
        """Remarks since the last call: chunks whose answer held nothing usable."""
        notes, self._notes = self._notes, []
        return notes

    def extract(self, chunks: Sequence[ChunkRecord], language: str) -> list[RawExtraction]:
        """One result a chunk. Raises ModelError when the generator fails."""
        results = [self._of_chunk(chunk, language) for chunk in chunks]
        empty = sum(not result.entities for result in results)
        if empty:
            self._notes.append(f"{self._generator.name} found no entity in {empty} of {len(chunks)} chunks")
        return results

    def _of_chunk(self, chunk: ChunkRecord, language: str) -> RawExtraction:
        heading = f"{chunk.heading}\n\n" if chunk.heading else ""
        example = language if language == "fr" else "en"
        messages = [
            Message("system", prompt("extract")),
            Message("user", prompt(f"extract_text_{example}")),
            Message("assistant", prompt(f"extract_answer_{example}")),
            Message("user", f"{heading}{chunk.text}"),
        ]
        answers = [self._ask(messages, chunk)]
        if self._gleaning:
            follow_up = [*messages, Message("assistant", answers[0]), Message("user", prompt("glean"))]
            answers.append(self._ask(follow_up, chunk))
        objects = [value for answer in answers for value in flat_objects(answer)]
        entities = _entities(chunk.text, objects)
        names = {key_of(entity.name): entity.name for entity in entities}
        return RawExtraction(
            chunk.id, chunk.document_id, language, tuple(entities), tuple(_relations(chunk.text, objects, names))
        )

    def _ask(self, messages: Sequence[Message], chunk: ChunkRecord) -> str:
        return ask(
            self._generator, messages, self._grammar, self._cache, owner=chunk.document_id, max_tokens=_MAX_TOKENS
        )


def _entities(text: str, objects: Iterable[dict[str, Any]]) -> list[RawEntity]:
    labels = {label.casefold(): label for label in LABELS}
    found: dict[str, RawEntity] = {}
    terms = {key_of(term.term): term for term in defined_terms(text)}
    for value in objects:
        name = clean(str(value.get("name", "")))
        key = key_of(name)
        spans = _spans(text, name) if key and key not in found else []
        if not spans:
            continue
        label = labels.get(str(value.get("type", "")).casefold(), "Other")
        term = terms.pop(key, None)
        kind: Kind = "term" if term else "phrase" if label == "Concept" and name.islower() else "name"
        sentence = term.sentence if term else sentence_around(text, *spans[0])
        description = str(value.get("description", "")).strip()
        said = description if key_of(description) != key and _supported(text, description) else ""
        aliases = term.aliases if term else ()
        found[key] = RawEntity(name, label, kind, tuple(spans), sentence, 3 if term else 0, said, aliases)
    for key, term in terms.items():
        found[key] = RawEntity(
            term.term, "Concept", "term", ((term.start, term.end),), term.sentence, 3, aliases=term.aliases
        )
    return list(found.values())


def _supported(text: str, description: str) -> bool:
    """Whether a description says what the text says: small models add what they know, or think they know."""
    content = [w for w in (singular(t.folded) for t in tokenize(description)) if w not in FUNCTION_WORDS]
    held = {singular(t.folded) for t in tokenize(text)}
    return bool(content) and sum(w in held for w in content) >= _LEAST_SUPPORT * len(content)


def _type(text: str, said: str) -> str:
    """The relation's type if the text has a word like its verb; else no more than that there is a relation."""
    kind = relation_type(*said.replace("_", " ").split())
    stem = fold(kind.split("_")[0])[:_STEM] if kind else ""
    return kind if stem and any(t.folded.startswith(stem) for t in tokenize(text)) else RELATED_TO


def _spans(text: str, name: str) -> list[tuple[int, int]]:
    if not tokenize(name):
        return []
    matcher = NameMatcher([Name(name, "")])
    return [(m.start, m.end) for m in matcher.find(text, any_case=True)]


def _relations(text: str, objects: Iterable[dict[str, Any]], names: dict[str, str]) -> Iterable[RawRelation]:
    found: dict[tuple[str, str, str], RawRelation] = {}
    for value in objects:
        source = names.get(key_of(clean(str(value.get("source", "")))))
        target = names.get(key_of(clean(str(value.get("target", "")))))
        kind = _type(text, str(value.get("type", "")))
        if source is None or target is None or source == target or not kind:
            continue
        said = str(value.get("description", "")).strip()
        description = said if _supported(text, said) else ""
        sentence = _common_sentence(text, source, target)
        if sentence is None:
            continue
        relation = RawRelation(source, target, kind, sentence, description)
        found.setdefault((source, kind, target), relation)
    return found.values()


def _common_sentence(text: str, source: str, target: str) -> tuple[int, int] | None:
    """The first sentence that holds both names, or one of them and a pronoun after the other.

    What two sentences say of two things apart is no relation.
    """
    sources, targets = _spans(text, source), _spans(text, target)
    for start, end in sources:
        begin, stop = sentence_around(text, start, end)
        if any(begin <= a and b <= stop for a, b in targets):
            return begin, stop
    for start, end in targets:
        begin, stop = sentence_around(text, start, end)
        pronoun = any(t.folded in _PRONOUNS for t in tokenize(text[begin:start]))
        if pronoun and any(b <= begin for _, b in sources):
            return begin, stop
    return None
