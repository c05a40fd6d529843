"""Which spellings are one entity: keys joined by plural, acronym, alias, honorific, legal form and surname.

Everything here is decided from counts over all raw records, so the order of documents cannot matter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ekr.extraction.names import initials, is_acronym, key_of, numbers, singular
from ekr.extraction.records import Definition, Kind, RawExtraction
from ekr.extraction.vocabulary import HONORIFICS
from ekr.extraction.words import word_list

_LEGAL_FORMS = word_list("legal_forms")
# Words whose final s is no plural mark.
_INVARIABLE = word_list("invariable")
_COMMON = ("term", "phrase", "heading", "title")
# Below this share of one long form, an acronym is ambiguous and is only resolved inside its own document.
_CLEAR_MAJORITY = 0.8


@dataclass(slots=True)
class Node:
    """What is counted of one key over all its spellings: occurrences, and those of some labels and kinds.

    There is one for each name of a store, so it holds numbers only.
    """

    count: int = 0
    persons: int = 0
    organizations: int = 0
    labelled: bool = False
    names: int = 0
    common: int = 0
    terms: int = 0
    titles: int = 0
    acronym: bool = False

    def add(self, surface: str, label: str, kind: Kind, times: int) -> None:
        """Count a spelling; an empty label counts for none."""
        self.count += times
        self.persons += times * (label == "Person")
        self.organizations += times * (label == "Organization")
        self.labelled |= bool(label)
        self.names += times * (kind == "name")
        self.common += times * (kind in _COMMON)
        self.terms += times * (kind == "term")
        self.titles += times * (kind == "title")
        self.acronym = self.acronym or is_acronym(surface)


class Clusters:
    """Resolves a name of a document to the key of its entity.

    `find(document_id, name)` applies what is known of that document first (its acronyms, its persons' surnames),
    then what holds everywhere.
    """

    def __init__(self, raws: Iterable[RawExtraction], definitions: Iterable[Definition]) -> None:
        self.nodes: dict[str, Node] = defaultdict(Node)
        self._joined: dict[str, str] = {}
        self._local: dict[tuple[str, str], str] = {}
        self._short_forms: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        # The documents in which a name is a person's; some of them more than once.
        self._persons: dict[str, list[str]] = defaultdict(list)
        # Names of one word in each document, and whether they are a person's there.
        self._singles: dict[tuple[str, str], bool] = {}
        defined = list(definitions)
        for raw in raws:
            self._count(raw)
        for definition in defined:
            self._define(definition)
        self._join_honorifics_and_forms()
        self._join_plurals()
        self._join_short_forms()
        self._join_aliases(defined)
        self._resolve_single_names()

    def find(self, document_id: str, name: str) -> str:
        """The key of the entity that `name` means in that document; empty when the name has no word."""
        key = key_of(name)
        return self.root(self._local.get((document_id, key), key))

    def root(self, key: str) -> str:
        """The key that stands for `key` everywhere."""
        while key in self._joined:
            key = self._joined[key]
        return key

    def _count(self, raw: RawExtraction) -> None:
        for entity in raw.entities:
            key = key_of(entity.name)
            if not key:
                continue
            self.nodes[key].add(entity.name, entity.label, entity.kind, len(entity.spans) or 1)
            for alias in entity.aliases:
                if key_of(alias) and key_of(alias) != key:
                    self._short_forms[key_of(alias)][(raw.document_id, key)] += 1
            person = entity.label == "Person"
            if person and raw.document_id not in self._persons[key][-1:]:
                self._persons[key].append(raw.document_id)
            if entity.kind == "name" and " " not in key:
                place = (raw.document_id, key)
                self._singles[place] = self._singles.get(place, False) or person

    def _define(self, definition: Definition) -> None:
        if definition.scoped:
            return
        name, label = definition.names[0], definition.label
        node = self.nodes[key_of(name)]
        node.add(name, "" if label == "Other" and node.labelled else label, definition.kind, 1)

    def _join(self, key: str, into: str) -> None:
        key, into = self.root(key), self.root(into)
        if key != into:
            self._joined[key] = into

    def _join_honorifics_and_forms(self) -> None:
        for key in sorted(self.nodes):
            parts = key.split()
            rest = " ".join(parts[1:])
            if self.nodes[key].persons and len(parts) > 1 and parts[0] in HONORIFICS and rest in self.nodes:
                self._join(key, rest)
            base = " ".join(parts[:-1])
            owner = self.nodes.get(base) if len(parts) > 1 and parts[-1] in _LEGAL_FORMS else None
            if owner is not None and owner.organizations:
                self._join(key, base)

    def _join_plurals(self) -> None:
        """Terms and phrases only, and only where both forms are found: "Bra" and "Bras" stay apart."""
        groups: dict[str, list[str]] = defaultdict(list)
        for key, node in self.nodes.items():
            if node.common and not node.names * 2 > node.count:
                groups[" ".join(w if w in _INVARIABLE else singular(w) for w in key.split())].append(key)
        for keys in groups.values():
            best = min(keys, key=lambda k: (not self.nodes[k].terms, -self.nodes[k].count, len(k), k))
            for key in sorted(keys):
                if numbers(key) == numbers(best):
                    self._join(key, best)

    def _join_short_forms(self) -> None:
        for short in sorted(self._short_forms):
            pairs = Counter[str]()
            for (_, long_key), times in self._short_forms[short].items():
                pairs[self.root(long_key)] += times
            best = min(pairs, key=lambda k: (-pairs[k], -len(k), k))
            if pairs[best] >= _CLEAR_MAJORITY * pairs.total() and short in self.nodes:
                if numbers(short) == numbers(best) or self._spelt(short, best):
                    self._join(short, best)
                continue
            by_document: dict[str, list[str]] = defaultdict(list)
            for document_id, long_key in self._short_forms[short]:
                by_document[document_id].append(long_key)
            for document_id, keys in by_document.items():
                self._local[(document_id, short)] = min(keys, key=lambda k: (-len(k), k))

    def _spelt(self, short: str, long_key: str) -> bool:
        return self.nodes[short].acronym and short in initials(long_key)

    def _join_aliases(self, definitions: Iterable[Definition]) -> None:
        """A title without its parenthesis is the title's entity where no other title claims it."""
        owners: dict[str, set[str]] = defaultdict(set)
        named: set[str] = set()
        for definition in definitions:
            if definition.scoped:
                continue
            own = key_of(definition.names[0])
            named.add(own)
            for alias in definition.names[1:]:
                owners[key_of(alias)].add(own)
        for alias in sorted(owners):
            if alias and len(owners[alias]) == 1 and alias not in named and alias in self.nodes:
                self._join(alias, next(iter(owners[alias])))

    def _resolve_single_names(self) -> None:
        """ "Babbage" is "Charles Babbage" where only one person of the document, or else of all, is so called.

        Small pipelines take surnames for places, so the label decides only where the name also stands in documents
        that don't know the person ("Washington").
        """
        documents: dict[str, list[str]] = defaultdict(list)
        for document_id, key in self._singles:
            documents[key].append(document_id)
        everywhere: dict[str, list[str]] = defaultdict(list)
        within: dict[tuple[str, str], list[str]] = defaultdict(list)
        for person, homes in self._persons.items():
            for part in _parts(person):
                if part in documents:
                    everywhere[part].append(person)
                    for home in homes:
                        within[(home, part)].append(person)
        for (document_id, key), person_here in self._singles.items():
            node = self.nodes[key]
            if node.titles or node.terms or (document_id, key) in self._local:
                continue
            near = {self.root(k) for k in within.get((document_id, key), ())}
            only_here = all((other, key) in within for other in documents[key])
            surname = len(near) == 1 and next(iter(near)).endswith(" " + key)
            if not near and person_here and node.persons * 2 >= node.count:
                near = {self.root(k) for k in everywhere.get(key, ()) if k.endswith(" " + key)}
                surname = True
            if len(near) == 1 and (person_here or (surname and only_here)):
                self._local[(document_id, key)] = near.pop()


def _parts(person: str) -> set[str]:
    """First and last word of a full personal name; none of what is no such name."""
    parts = person.split()
    if not 2 <= len(parts) <= 4 or numbers(person):
        return set()
    return {part for part in (parts[0], parts[-1]) if len(part) > 2 and part not in HONORIFICS}
