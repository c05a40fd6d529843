"""Finds, in every chunk, the names that definitions and proper names give the graph, besides what extraction saw."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ekr.extraction.matcher import Name, NameMatcher, match_key
from ekr.extraction.names import LINKING, is_acronym, key_of, tokenize
from ekr.extraction.records import Definition, SearchName
from ekr.extraction.references import references
from ekr.extraction.resolution import Draft, scoped_key
from ekr.extraction.structure import keys_of
from ekr.extraction.vocabulary import FUNCTION_WORDS, NOT_NAMES
from ekr.store.records import ChunkRecord

_MOST_MEANINGS = 5
_SENTENCE_CASE = re.compile(r"[^\W\d_][\w '’-]*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]{2,}")


def search_names(drafts: Mapping[str, Draft]) -> list[SearchName]:
    """Names worth searching texts and questions for, sorted.

    Every name of a definition, and proper names of two words and more. Names that are function words, very short,
    or mean too many things are left out; numbered units, which every law has, are not.
    """
    found: dict[tuple[str, bool, str], SearchName] = {}
    for draft in drafts.values():
        unit = next((d for d in draft.definitions if d.scoped), None)
        if unit is not None:
            key = unit.names[-1]
            found[(key, False, draft.id)] = SearchName(
                key, unit.names[0], draft.id, term=False, defined=True, unit=True
            )
            continue
        for definition in draft.definitions:
            for text in definition.names:
                _put(found, draft, text, _is_term(definition, text), defined=True)
        for surface in draft.surfaces:
            if draft.definitions and is_acronym(surface):
                _put(found, draft, surface, False, defined=True)
            elif "name" in draft.kinds and " " in key_of(surface) and not surface.islower():
                _put(found, draft, surface, False, defined=bool(draft.definitions))
    meanings: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for name in found.values():
        meanings[(name.key, name.term)].add(name.entity_id)
    return sorted(
        (n for n in found.values() if n.unit or len(meanings[(n.key, n.term)]) <= _MOST_MEANINGS),
        key=lambda n: (n.key, n.term, n.entity_id, n.text),
    )


def add_matches(drafts: Mapping[str, Draft], names: list[SearchName], texts: Mapping[str, str]) -> None:
    """Adds what the matcher finds in the chunks to the drafts' mentions; the same place is counted once."""
    by_id = {draft.id: draft for draft in drafts.values()}
    matcher = NameMatcher(Name(n.text, n.entity_id, n.term) for n in names if not n.unit)
    for chunk_id, text in texts.items():
        for match in matcher.find(text):
            for entity_id in match.targets:
                draft = by_id[entity_id]
                draft.mentions.add((chunk_id, match.start, match.end))
                draft.chunks.add(chunk_id)
    for draft in drafts.values():
        draft.mentions = _without_overlaps(draft.mentions)


def add_references(drafts: Mapping[str, Draft], chunks: Sequence[ChunkRecord]) -> None:
    """Adds each reference to a numbered unit of the same document to the mentions of that unit."""
    for chunk in chunks:
        for reference in references(chunk.text):
            known = (drafts.get(scoped_key(key, chunk.document_id)) for key in keys_of(reference))
            draft = next(filter(None, known), None)
            if draft is not None:
                draft.mentions.add((chunk.id, reference.start, reference.end))
                draft.chunks.add(chunk.id)


def _put(found: dict[tuple[str, bool, str], SearchName], draft: Draft, text: str, term: bool, *, defined: bool) -> None:
    if not _tells(text):
        return
    key = match_key(text, term)
    old = found.get((key, term, draft.id))
    if old is None or (defined, old.text) > (old.defined, text):
        found[(key, term, draft.id)] = SearchName(
            key, text, draft.id, term, defined or bool(old and old.defined), unit=False
        )


def _tells(text: str) -> bool:
    folded = [t.folded for t in tokenize(text)]
    if not any(w not in LINKING and w not in FUNCTION_WORDS for w in folded) or len(folded) > 12:
        return False
    if len(folded) == 1:
        word = folded[0]
        return word not in NOT_NAMES and not word.isdigit() and (len(word) > 2 or is_acronym(text.strip()))
    return any(c.isalpha() for c in text) or bool(_UNSPACED.search(text))


def _is_term(definition: Definition, text: str) -> bool:
    """Whether texts write it like a common noun: a defined term, or a title or heading in sentence case."""
    if definition.kind == "term":
        return not is_acronym(text)
    parts = text.split()
    inner = [w for w in parts[1:] if w.casefold() not in LINKING]
    return bool(inner) and all(w[0].islower() for w in inner) and _SENTENCE_CASE.fullmatch(text) is not None


def _without_overlaps(mentions: set[tuple[str, int, int]]) -> set[tuple[str, int, int]]:
    """Of overlapping mentions of one entity, the first and longest."""
    kept: set[tuple[str, int, int]] = set()
    last = ("", 0)
    for chunk_id, start, end in sorted(mentions, key=lambda m: (m[0], m[1], -m[2])):
        if chunk_id != last[0] or start >= last[1]:
            kept.add((chunk_id, start, end))
            last = (chunk_id, end)
    return kept
