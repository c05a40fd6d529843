"""Structural links: which passage defines an entity, which mention it, which refer to which numbered unit."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from ekr.extraction.names import key_of
from ekr.extraction.records import Definition, Link
from ekr.extraction.references import Reference, numbered_heading, references
from ekr.extraction.resolution import Draft, ResolutionSettings
from ekr.extraction.structure import keys_of
from ekr.store.records import ChunkRecord

_WIKI = re.compile(r"\[\[([^\[\]|#\n]{1,120})(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_PARAGRAPH = re.compile(r"(?m)^\s*\(?(\d{1,3})[.)]\s")
_Target = tuple[str, str]


def build_links(drafts: Mapping[str, Draft], chunks: Sequence[ChunkRecord], settings: ResolutionSettings) -> list[Link]:
    """All links, sorted.

    An entity that more than a tenth of the chunks mention gets no MENTIONS links: it tells nothing. Neither does a
    numbered unit, whose REFERS_TO links say the same more exactly.
    """
    links: Counter[tuple[str, str, str, str, str]] = Counter()
    most = max(settings.common_floor, int(settings.common_share * len(chunks)))
    for draft in drafts.values():
        for definition in draft.definitions:
            links[("DEFINES", *_passage(definition), "entity", draft.id)] = 1
        if len(draft.chunks) <= most and not any(d.scoped for d in draft.definitions):
            for chunk_id, _, _ in draft.mentions:
                links[("MENTIONS", "chunk", chunk_id, "entity", draft.id)] += 1
    definitions = [d for draft in drafts.values() for d in draft.definitions]
    for chunk, target in chain(_references(definitions, chunks), _wiki_links(definitions, chunks)):
        links[("REFERS_TO", "chunk", chunk.id, *target)] += 1
    return [
        Link(kind, source_kind, source, target_kind, target, count)  # type: ignore[arg-type]
        for (kind, source_kind, source, target_kind, target), count in sorted(links.items())
    ]


def _passage(definition: Definition) -> _Target:
    return ("chunk", definition.chunk_id) if definition.chunk_id else ("parent", definition.parent_id)


def _references(
    definitions: Sequence[Definition], chunks: Sequence[ChunkRecord]
) -> Iterator[tuple[ChunkRecord, _Target]]:
    units: dict[tuple[str, str], set[str]] = defaultdict(set)
    for definition in definitions:
        if definition.scoped:
            units[(definition.document_id, definition.names[-1])].add(definition.parent_id)
    children: dict[str, list[ChunkRecord]] = defaultdict(list)
    for chunk in chunks:
        children[chunk.parent_id].append(chunk)
    starts = {parent: _paragraph_chunks(found) for parent, found in children.items()}
    for chunk in chunks:
        for reference in references(chunk.text):
            known = (units.get((chunk.document_id, key)) for key in keys_of(reference))
            parents = next(filter(None, known), set())
            # Sections are numbered anew in each chapter: which one is meant can't be told.
            ambiguous = reference.kind == "section" and len(parents) > 1
            if not ambiguous and not _own_heading(chunk, reference):
                for target in _targets(reference, sorted(parents), starts):
                    if target not in (("chunk", chunk.id), ("parent", chunk.parent_id)):
                        yield chunk, target


def _wiki_links(
    definitions: Sequence[Definition], chunks: Sequence[ChunkRecord]
) -> Iterator[tuple[ChunkRecord, _Target]]:
    """[[Title]] and [[Title|shown]] lead to the document of that title."""
    titles: dict[str, set[str]] = defaultdict(set)
    for definition in definitions:
        if definition.kind == "title":
            for name in definition.names:
                titles[key_of(name)].add(definition.parent_id)
    for chunk in chunks:
        for match in _WIKI.finditer(chunk.text):
            for parent in sorted(titles.get(key_of(match[1]), ())):
                if parent != chunk.parent_id:
                    yield chunk, ("parent", parent)


def _targets(reference: Reference, parents: Sequence[str], starts: Mapping[str, Mapping[int, str]]) -> list[_Target]:
    """The chunk in which the named paragraph begins; else every parent of the unit."""
    if reference.paragraph is not None:
        for parent in parents:
            chunk_id = starts.get(parent, {}).get(reference.paragraph)
            if chunk_id is not None:
                return [("chunk", chunk_id)]
    return [("parent", parent) for parent in parents]


def _paragraph_chunks(chunks: Sequence[ChunkRecord]) -> dict[int, str]:
    found: dict[int, str] = {}
    for chunk in sorted(chunks, key=lambda c: c.ordinal):
        for match in _PARAGRAPH.finditer(chunk.text):
            found.setdefault(int(match[1]), chunk.id)
    return found


def _own_heading(chunk: ChunkRecord, reference: Reference) -> bool:
    """Whether the reference is the chunk's own heading, repeated at the start of its text."""
    if reference.start > 2:
        return False
    unit = numbered_heading((chunk.heading or "").split(" > ")[-1])
    return unit is not None and unit[:2] == (reference.kind, reference.number)
