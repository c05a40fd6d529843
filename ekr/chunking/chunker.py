"""Document in, parent and child records out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from ekr.chunking.packing import group, pack
from ekr.chunking.sections import Section, sections
from ekr.chunking.units import Opening, Unit, counted, table_header, units
from ekr.models.base import Tokenizer
from ekr.reading.document import Document
from ekr.store.records import ChunkRecord, ParentRecord


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Sizes in tokens of the embedder's tokenizer. No child is above `child_max_tokens`."""

    child_min_tokens: int = 120
    child_max_tokens: int = 220
    parent_max_tokens: int = 1200

    def __post_init__(self) -> None:
        if not 8 <= self.child_max_tokens <= self.parent_max_tokens:
            raise ValueError("child_max_tokens must be at least 8 and at most parent_max_tokens")
        if not 0 <= self.child_min_tokens <= self.child_max_tokens:
            raise ValueError("child_min_tokens must be between 0 and child_max_tokens")


@dataclass(frozen=True, slots=True)
class _Child:
    section: int
    units: tuple[Unit, ...]

    @property
    def start(self) -> int:
        return self.units[0].start

    @property
    def end(self) -> int:
        return self.units[-1].end


def chunk(
    document: Document, document_id: str, tokenizer: Tokenizer, settings: ChunkSettings
) -> tuple[list[ParentRecord], list[ChunkRecord]]:
    """Parents along the document's sections and the children inside them, both in document order.

    Every character that is neither white space nor part of a heading lies in exactly one child; a child
    never crosses a heading. `text` is `document.text[start:end]` of both.
    """
    parts = list(sections(document))
    children, tokens = _children(document, parts, tokenizer, settings)
    parents: list[ParentRecord] = []
    records: list[ChunkRecord] = []
    first = 0
    for index, section in enumerate(parts):
        last = first
        while last < len(children) and children[last].section == index:
            last += 1
        good = [child.units[0].opening <= Opening.PARAGRAPH for child in children[first:last]]
        for begin, end in group(tokens[first:last], good, settings.parent_max_tokens):
            members = children[first + begin : first + end]
            parent = _parent(document, document_id, len(parents), section, members)
            parents.append(parent)
            for member, count in zip(members, tokens[first + begin : first + end], strict=True):
                records.append(_record(document, document_id, len(records), parent, member, count))
        first = last
    return parents, records


def _children(
    document: Document, parts: Sequence[Section], tokenizer: Tokenizer, settings: ChunkSettings
) -> tuple[list[_Child], list[int]]:
    """All children with the exact tokens of their text; counts are batched over the whole document."""
    text = document.text
    raw: list[Unit] = []
    owners: list[tuple[int, int]] = []
    for section in parts:
        begin = len(raw)
        raw.extend(units(document, section.start, section.end))
        owners.append((begin, len(raw)))
    measured = counted(text, raw, tokenizer, settings.child_max_tokens)
    children: list[_Child] = []
    position = 0
    for index, section in enumerate(parts):
        begin = position
        while position < len(measured) and measured[position].start < section.end:
            position += 1
        own = measured[begin:position]
        for first, last in pack(own, settings.child_min_tokens, settings.child_max_tokens):
            children.append(_Child(index, tuple(own[first:last])))
    tokens = tokenizer.count([text[child.start : child.end] for child in children])
    if max(tokens, default=0) <= settings.child_max_tokens:
        return children, tokens
    return _refit(text, children, tokens, tokenizer, settings)


def _refit(
    text: str, children: Sequence[_Child], tokens: Sequence[int], tokenizer: Tokenizer, settings: ChunkSettings
) -> tuple[list[_Child], list[int]]:
    """Cuts again, ever smaller, the children whose joined text has more tokens than its units in sum."""
    result: list[_Child] = []
    sizes: list[int] = []
    limit = settings.child_max_tokens
    for child, size in zip(children, tokens, strict=True):
        fitting, counts = [child], [size]
        allowed = limit
        while max(counts) > limit and allowed > 1:
            allowed = max(1, allowed * 3 // 4)
            pieces = counted(text, child.units, tokenizer, allowed)
            fitting = [_Child(child.section, tuple(pieces[a:b])) for a, b in pack(pieces, 0, allowed)]
            counts = tokenizer.count([text[piece.start : piece.end] for piece in fitting])
        result.extend(fitting)
        sizes.extend(counts)
    return result, sizes


def _parent(
    document: Document, document_id: str, ordinal: int, section: Section, members: Sequence[_Child]
) -> ParentRecord:
    start, end = members[0].start, members[-1].end
    text = document.text[start:end]
    return ParentRecord(
        id=_identity(document_id, "parent", start, end, text),
        document_id=document_id,
        ordinal=ordinal,
        heading=section.breadcrumb,
        text=text,
        start=start,
        end=end,
        page_start=document.page_at(start),
        page_end=document.page_at(end - 1),
    )


def _record(
    document: Document, document_id: str, ordinal: int, parent: ParentRecord, child: _Child, tokens: int
) -> ChunkRecord:
    text = document.text[child.start : child.end]
    return ChunkRecord(
        id=_identity(document_id, "chunk", child.start, child.end, text),
        document_id=document_id,
        parent_id=parent.id,
        ordinal=ordinal,
        heading=parent.heading,
        text=text,
        context=table_header(document.tables, child.start, document.text),
        start=child.start,
        end=child.end,
        page_start=document.page_at(child.start),
        page_end=document.page_at(child.end - 1),
        tokens=tokens,
        language=document.language,
    )


def _identity(document_id: str, kind: str, start: int, end: int, text: str) -> str:
    """A key that the same passage of the same document always gets; 96 bits as hex."""
    return sha256("\x1f".join((document_id, kind, str(start), str(end), text)).encode()).hexdigest()[:24]
