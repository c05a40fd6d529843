"""What a document's own structure defines: its title, its headings, its numbered units, its defined terms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ekr.extraction.definitions import DefinedTerm, defined_terms
from ekr.extraction.names import LINKING, clean, key_of
from ekr.extraction.records import Definition
from ekr.extraction.references import Reference, numbered_heading
from ekr.extraction.words import line_list
from ekr.store.records import ChunkRecord, DocumentRecord, ParentRecord

# A document with more parents than this is about many things; its title is no definition of any of them.
_SMALL_DOCUMENT_PARENTS = 3
_LONGEST_HEADING_WORDS = 8
_FIRST_SENTENCE = re.compile(r".{40,300}?[.!?](?=\s+[^\W\d_a-zà-öø-ÿ]|$)")
_TRAILING_PARENTHESIS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
_UNIT_NAMES = {"article": "Article", "annex": "Annex", "chapter": "Chapter", "recital": "Recital", "section": "§"}
_FRENCH_UNIT_NAMES = {"article": "Article", "annex": "Annexe", "chapter": "Chapitre", "recital": "Considérant"}
_COMMON_HEADINGS = line_list("common_headings")
_COMMON_KEYS = frozenset(key_of(heading) for heading in _COMMON_HEADINGS)


def title_names(title: str) -> tuple[str, ...]:
    """A title and, where it ends in a disambiguating parenthesis, the title without it."""
    full = re.sub(r"\s+", " ", title).strip()
    short = _TRAILING_PARENTHESIS.sub("", full).strip()
    return tuple(dict.fromkeys(name for name in (full, short) if key_of(name)))


def definitions_of(
    document: DocumentRecord, parents: Sequence[ParentRecord], chunks: Sequence[ChunkRecord]
) -> list[Definition]:
    """Every definition that one document holds, in reading order.

    A title counts for records of a JSONL file and for small documents. A heading counts when it says something of
    its own; a numbered unit ("Article 6") always, for the parents that carry it; a defined term for its chunk.
    """
    found: list[Definition] = []
    if document.record_id is not None or len(parents) <= _SMALL_DOCUMENT_PARENTS:
        names = title_names(document.title)
        opening = _opening(parents[0].text) if parents else ""
        found += [
            Definition(names, "Other", "title", document.id, parent.id, None, description=opening)
            for parent in parents
            if names and key_of(document.title) not in _COMMON_KEYS
        ]
    seen: set[tuple[str, str]] = set()
    for parent in parents:
        found += _of_headings(document, parent, seen)
    found += [_of_term(document, chunk, term) for chunk in chunks for term in defined_terms(chunk.text)]
    return found


def unit_key(kind: str, number: str) -> str:
    """The name by which a numbered unit and a reference to it meet, in any language: "article 6"."""
    return f"{kind} {number}"


def keys_of(reference: Reference) -> tuple[str, ...]:
    """The names of the unit that a reference means: that of the section, then that of the chapter around it."""
    whole = reference.number.split(" section ")[0]
    return tuple(dict.fromkeys(unit_key(reference.kind, number) for number in (reference.number, whole)))


def _of_headings(document: DocumentRecord, parent: ParentRecord, seen: set[tuple[str, str]]) -> list[Definition]:
    trail = [part.strip() for part in (parent.heading or "").split(" > ") if part.strip()]
    found = []
    container = ("", "")
    said = ""
    for depth, heading in enumerate(trail):
        following = trail[depth + 1] if depth + 1 < len(trail) else ""
        said = heading
        unit = numbered_heading(heading)
        if unit is None:
            continue
        kind, number, said = unit
        if kind in ("chapter", "annex"):
            container = (kind, number)
        elif kind == "section" and container[0]:
            # Sections are numbered anew in each chapter: "chapter iii section 2".
            kind, number = container[0], f"{container[1]} section {number}"
        # An article is defined by every parent that it was cut into, a chapter by its first.
        place = (kind, " > ".join(trail[: depth + 1]))
        if kind in ("article", "annex") or not following or place not in seen:
            explains = said or ("" if numbered_heading(following) else following)
            found.append(_of_unit(document, parent, kind, number, explains))
        seen.add(place)
    if _tells(said) and key_of(said) != key_of(document.title):
        found.append(
            Definition(
                (clean(said),), "Concept", "heading", document.id, parent.id, None, description=_opening(parent.text)
            )
        )
    return found


def _of_unit(document: DocumentRecord, parent: ParentRecord, kind: str, number: str, rest: str) -> Definition:
    names = _FRENCH_UNIT_NAMES if document.language == "fr" else _UNIT_NAMES
    shown = number.upper() if kind in ("annex", "chapter") else number
    shown = shown.replace(" SECTION ", ", section ")
    name = f"{names.get(kind, _UNIT_NAMES[kind])} {shown}"
    return Definition(
        (name, unit_key(kind, number)), "Law", "number", document.id, parent.id, None, scoped=True, description=rest
    )


def _of_term(document: DocumentRecord, chunk: ChunkRecord, term: DefinedTerm) -> Definition:
    begin, end = term.sentence
    return Definition(
        (term.term, *term.aliases),
        "Concept",
        "term",
        document.id,
        chunk.parent_id,
        chunk.id,
        description=re.sub(r"\s+", " ", chunk.text[begin:end]).strip(),
    )


def _opening(text: str) -> str:
    """The first sentence of a text that says something, on one line."""
    flat = re.sub(r"\s+", " ", text[:600]).strip()
    end = _FIRST_SENTENCE.match(flat)
    return end[0] if end else flat[:300]


def _tells(heading: str) -> bool:
    key = key_of(heading)
    content = [w for w in key.split() if w not in LINKING]
    return (
        bool(content)
        and key not in _COMMON_KEYS
        and len(key.split()) <= _LONGEST_HEADING_WORDS
        and any(len(w) > 2 and not w.isdigit() for w in content)
    )
