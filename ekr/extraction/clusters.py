"""Which spellings are one entity: keys joined by plural, acronym, alias, honorific, legal form and surname.

Everything here is decided from counts over all raw records, so the order of documents cannot matter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ekr.extraction.names import initials, is_acronym, key_of, numbers, singular
from ekr.extraction.records import Definition, Kind, RawExtraction
from ekr.extraction.vocabulary import HONORIFICS
from ekr.extraction.words import word_list

_LEGAL_FORMS = word_list("legal_forms")
# Words whose final s is no plural mark.
_INVARIABLE = word_list("invariable")
# Below this share of one long form, an acronym is ambiguous and is only resolved inside its own document.
_CLEAR_MAJORITY = 0.8


@dataclass(slots=True)
class Node:
    """All that carries one key: spellings, labels and kinds with their counts."""

    surfaces: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    kinds: Counter[Kind] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        return self.surfaces.total()


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
        self._persons: dict[str, set[str]] = defaultdict(set)
        self._singles: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
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
            node = self.nodes[key]
            times = len(entity.spans) or 1
            node.surfaces[entity.name] += times
            node.labels[entity.label] += times
            node.kinds[entity.kind] += times
            for alias in entity.aliases:
                if key_of(alias) and key_of(alias) != key:
                    self._short_forms[key_of(alias)][(raw.document_id, key)] += 1
            if entity.label == "Person":
                self._persons[raw.document_id].add(key)
            if entity.kind == "name" and " " not in key:
                self._singles[(raw.document_id, key)][entity.label] += times

    def _define(self, definition: Definition) -> None:
        if definition.scoped:
            return
        node = self.nodes[key_of(definition.names[0])]
        node.surfaces[definition.names[0]] += 1
        node.kinds[definition.kind] += 1
        if definition.label != "Other" or not node.labels:
            node.labels[definition.label] += 1

    def _join(self, key: str, into: str) -> None:
        key, into = self.root(key), self.root(into)
        if key != into:
            self._joined[key] = into

    def _join_honorifics_and_forms(self) -> None:
        for key in sorted(self.nodes):
            parts = key.split()
            labels = self.nodes[key].labels
            rest = " ".join(parts[1:])
            if labels["Person"] and len(parts) > 1 and parts[0] in HONORIFICS and rest in self.nodes:
                self._join(key, rest)
            base = " ".join(parts[:-1])
            if len(parts) > 1 and parts[-1] in _LEGAL_FORMS and self.nodes.get(base, Node()).labels["Organization"]:
                self._join(key, base)

    def _join_plurals(self) -> None:
        """Terms and phrases only, and only where both forms are found: "Bra" and "Bras" stay apart."""
        groups: dict[str, list[str]] = defaultdict(list)
        for key, node in self.nodes.items():
            common = node.kinds["term"] + node.kinds["phrase"] + node.kinds["heading"] + node.kinds["title"]
            if common and not _proper(node):
                groups[" ".join(w if w in _INVARIABLE else singular(w) for w in key.split())].append(key)
        for keys in groups.values():
            best = min(keys, key=lambda k: (not self.nodes[k].kinds["term"], -self.nodes[k].count, len(k), k))
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
        written = self.nodes[short].surfaces
        return any(is_acronym(surface) for surface in written) and short in initials(long_key)

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
        everywhere = _by_part(key for keys in self._persons.values() for key in keys)
        within = {document: _by_part(keys) for document, keys in self._persons.items()}
        documents: dict[str, list[str]] = defaultdict(list)
        for document_id, key in self._singles:
            documents[key].append(document_id)
        fixed = {key for key, node in self.nodes.items() if node.kinds["title"] or node.kinds["term"]}
        for (document_id, key), labels in self._singles.items():
            if key in fixed or (document_id, key) in self._local:
                continue
            near = {self.root(k) for k in within.get(document_id, {}).get(key, ())}
            person = labels["Person"] > 0
            only_here = all(key in within.get(other, {}) for other in documents[key])
            surname = len(near) == 1 and next(iter(near)).endswith(" " + key)
            if not near and person and self.nodes[key].labels["Person"] * 2 >= self.nodes[key].count:
                near = {self.root(k) for k in everywhere.get(key, ()) if k.endswith(" " + key)}
                surname = True
            if len(near) == 1 and (person or (surname and only_here)):
                self._local[(document_id, key)] = near.pop()


def _proper(node: Node) -> bool:
    """Whether a key is written as a proper name more often than not."""
    names = node.kinds["name"]
    return names * 2 > node.count


def _by_part(keys: Iterable[str]) -> Mapping[str, set[str]]:
    """First and last words of full personal names, and the names they belong to."""
    found: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        parts = key.split()
        if 2 <= len(parts) <= 4 and not numbers(key):
            for part in {parts[0], parts[-1]}:
                if len(part) > 2 and part not in HONORIFICS:
                    found[part].add(key)
    return found
