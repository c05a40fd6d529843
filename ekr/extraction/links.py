"""Structural links: which passage defines an entity, which mention it, which refer to which numbered unit."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from ekr.extraction.drafts import Drafts
from ekr.extraction.names import key_of
from ekr.extraction.records import Definition, Link
from ekr.extraction.references import Reference, numbered_heading
from ekr.extraction.resolution import ResolutionSettings
from ekr.extraction.structure import keys_of
from ekr.extraction.tables import groups, rows_of
from ekr.store.records import ChunkRecord

_WIKI = re.compile(r"\[\[([^\[\]|#\n]{1,120})(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_PARAGRAPH = re.compile(r"(?m)^\s*\(?(\d{1,3})[.)]\s")
_Target = tuple[str, str]


def build_links(
    drafts: Drafts, cited: Mapping[int, Sequence[Reference]], settings: ResolutionSettings
) -> Sequence[Link]:
    """All links, sorted. `cited` has the references of each chunk that has any, by its number.

    An entity that more than a tenth of the chunks mention gets no MENTIONS links: it tells nothing. Neither does a
    numbered unit, whose REFERS_TO links say the same more exactly.
    """
    defines = {
        (*_passage(definition), drafts.ids[draft])
        for draft, definitions in enumerate(drafts.definitions)
        for definition in definitions
    }
    links = [Link("DEFINES", kind, source, "entity", target) for kind, source, target in sorted(defines)]
    links += _mentioned(drafts, settings)
    definitions = [d for of_draft in drafts.definitions for d in of_draft]
    refers = Counter(
        (chunk.id, *target)
        for chunk, target in chain(
            _references(definitions, drafts.passages, cited), _wiki_links(definitions, drafts.passages)
        )
    )
    links += [Link("REFERS_TO", "chunk", *ends, count) for ends, count in sorted(refers.items())]
    return links


def _mentioned(drafts: Drafts, settings: ResolutionSettings) -> Iterator[Link]:
    most = max(settings.common_floor, int(settings.common_share * len(drafts.passages)))
    telling = np.array(
        [
            count <= most and not any(d.scoped for d in definitions)
            for count, definitions in zip(drafts.chunk_counts, drafts.definitions, strict=True)
        ],
        dtype=bool,
    )
    rows = drafts.mentions[telling[drafts.mentions[:, 0]]]
    starts, ends = groups(rows, 0, 1)
    counts = np.column_stack([rows[starts, :2], ends - starts])
    rank = np.argsort(np.argsort(np.array(drafts.ids, dtype=str)))
    for draft, chunk, count in rows_of(counts[np.lexsort([rank[counts[:, 0]], counts[:, 1]])]):
        yield Link("MENTIONS", "chunk", drafts.passages[chunk].id, "entity", drafts.ids[draft], count)


def _passage(definition: Definition) -> _Target:
    return ("chunk", definition.chunk_id) if definition.chunk_id else ("parent", definition.parent_id)


def _references(
    definitions: Sequence[Definition], chunks: Sequence[ChunkRecord], cited: Mapping[int, Sequence[Reference]]
) -> Iterator[tuple[ChunkRecord, _Target]]:
    units: dict[tuple[str, str], set[str]] = defaultdict(set)
    for definition in definitions:
        if definition.scoped:
            units[(definition.document_id, definition.names[-1])].add(definition.parent_id)
    starts = _paragraph_chunks(chunks, {parent for parents in units.values() for parent in parents})
    for number, references in cited.items():
        chunk = chunks[number]
        for reference in references:
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


def _paragraph_chunks(chunks: Sequence[ChunkRecord], parents: Collection[str]) -> dict[str, dict[int, str]]:
    """For each of these parents the chunk in which each numbered paragraph begins first."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for chunk in sorted((c for c in chunks if c.parent_id in parents), key=lambda c: c.ordinal):
        for match in _PARAGRAPH.finditer(chunk.text):
            found[chunk.parent_id].setdefault(int(match[1]), chunk.id)
    return found


def _own_heading(chunk: ChunkRecord, reference: Reference) -> bool:
    """Whether the reference is the chunk's own heading, repeated at the start of its text."""
    if reference.start > 2:
        return False
    unit = numbered_heading((chunk.heading or "").split(" > ")[-1])
    return unit is not None and unit[:2] == (reference.kind, reference.number)
