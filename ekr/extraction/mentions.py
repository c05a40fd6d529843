"""Finds, in every chunk, the names that definitions and proper names give the graph, besides what extraction saw."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ekr.extraction.drafts import Drafts
from ekr.extraction.findings import scoped_key
from ekr.extraction.matcher import Name, NameMatcher, match_key
from ekr.extraction.names import LINKING, is_acronym, key_of, tokenize
from ekr.extraction.records import Definition, SearchName
from ekr.extraction.references import Reference
from ekr.extraction.structure import keys_of
from ekr.extraction.vocabulary import FUNCTION_WORDS, NOT_NAMES

_MOST_MEANINGS = 5
_SENTENCE_CASE = re.compile(r"[^\W\d_][\w '’-]*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]{2,}")


def search_names(drafts: Drafts) -> list[SearchName]:
    """Names worth searching texts and questions for, sorted.

    Every name of a definition, and proper names of two words and more. Names that are function words, very short,
    or mean too many things are left out; numbered units, which every law has, are not.
    """
    found: list[SearchName] = []
    for draft, definitions in enumerate(drafts.definitions):
        found += _names_of(drafts, draft, definitions)
    meanings = Counter((name.key, name.term) for name in found)
    return sorted(
        (n for n in found if n.unit or meanings[(n.key, n.term)] <= _MOST_MEANINGS),
        key=lambda n: (n.key, n.term, n.entity_id, n.text),
    )


def add_matches(drafts: Drafts, names: Iterable[SearchName]) -> None:
    """Adds what the matcher finds in the chunks to the drafts' mentions."""
    by_id = drafts.by_id()
    matcher = NameMatcher(Name(n.text, n.entity_id, n.term) for n in names if not n.unit)
    for number, chunk in enumerate(drafts.passages):
        for match in matcher.find(chunk.text):
            for entity_id in match.targets:
                drafts.mention(by_id[entity_id], number, match.start, match.end)


def add_references(drafts: Drafts, cited: Mapping[int, Sequence[Reference]]) -> None:
    """Adds each reference to a numbered unit of the same document to the mentions of that unit.

    `cited` has the references of each chunk that has any, by its number.
    """
    for number, references in cited.items():
        document_id = drafts.passages[number].document_id
        for reference in references:
            known = (drafts.numbers.get(scoped_key(key, document_id)) for key in keys_of(reference))
            draft = next((number for number in known if number is not None), None)
            if draft is not None:
                drafts.mention(draft, number, reference.start, reference.end)


def _names_of(drafts: Drafts, draft: int, definitions: Sequence[Definition]) -> Iterable[SearchName]:
    identity = drafts.ids[draft]
    unit = next((d for d in definitions if d.scoped), None)
    if unit is not None:
        return [SearchName(unit.names[-1], unit.names[0], identity, term=False, defined=True, unit=True)]
    found: dict[tuple[str, bool], SearchName] = {}
    for definition in definitions:
        for text in definition.names:
            _put(found, identity, text, _is_term(definition, text), defined=True)
    if definitions or drafts.is_proper(draft):
        for surface in drafts.surfaces(draft):
            if definitions and is_acronym(surface):
                _put(found, identity, surface, False, defined=True)
            elif drafts.is_proper(draft) and " " in key_of(surface) and not surface.islower():
                _put(found, identity, surface, False, defined=bool(definitions))
    return found.values()


def _put(found: dict[tuple[str, bool], SearchName], identity: str, text: str, term: bool, *, defined: bool) -> None:
    if not _tells(text):
        return
    key = match_key(text, term)
    old = found.get((key, term))
    if old is None or (defined, old.text) > (old.defined, text):
        found[(key, term)] = SearchName(key, text, identity, term, defined or bool(old and old.defined), unit=False)


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
