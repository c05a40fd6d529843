"""BM25 in Tantivy: child chunks and whole parents, an index each and language analyser.

An index of its own gives each language its own document frequencies and average length, which fields of one
index would share.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from ekr.errors import StoreError
from ekr.store.analysis import analyser, analyser_for, query_terms
from ekr.store.faults import told_as
from ekr.store.records import ChunkRecord, DocumentRecord, ParentRecord

Kind = Literal["chunk", "parent"]
KINDS: tuple[Kind, ...] = ("chunk", "parent")

K1, B = 1.2, 0.75  # fixed in Tantivy
_HEAP_BYTES = 20_000_000
_MAX_TERMS = 128
_TIES = 32
_SAME_SCORE = 1e-4
_RESCORED = 300
_META_LOCK = ".tantivy-meta.lock"


def _schema() -> Any:
    import tantivy

    return (
        tantivy.SchemaBuilder()
        .add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        .add_text_field("document_id", stored=True, tokenizer_name="raw", index_option="basic")
        .add_text_field("text", tokenizer_name="whitespace", index_option="freq")
        .build()
    )


def _index_name(kind: Kind, language_analyser: str) -> str:
    return f"{kind}-{language_analyser}"


def index_names(directory: Path) -> list[str]:
    """Names of the indexes in a `bm25/` directory: kind, hyphen, analyser."""
    return sorted(entry.parent.name for entry in directory.glob("*/meta.json"))


def expected_names(languages: Iterable[str]) -> set[str]:
    """Names of the indexes that documents of these languages are in."""
    return {_index_name(kind, analyser_for(language)) for kind in KINDS for language in languages}


class Bm25Writer:
    """Adds and deletes passages in a generation under construction."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._writers: dict[str, Any] = {}

    def add_document(
        self, record: DocumentRecord, chunks: Sequence[ChunkRecord], parents: Sequence[ParentRecord]
    ) -> None:
        """Index passages of one document, headings included, with the analyser of its language."""
        for kind, passages in (("chunk", chunks), ("parent", parents)):
            self._add(
                cast(Kind, kind),
                record.language,
                [(part.id, record.id, indexed_text(record, part.heading, part.text)) for part in passages],
            )

    def delete_documents(self, document_ids: Sequence[str]) -> None:
        """Remove every passage of these documents that was added before."""
        for name in {*index_names(self._directory), *self._writers}:
            writer = self._writer(name)
            for document_id in document_ids:
                writer.delete_documents_by_term("document_id", document_id)

    def finish(self) -> None:
        """Commit and wait until the files no longer change."""
        for name in list(self._writers):
            writer = self._writers.pop(name)
            writer.commit()
            writer.garbage_collect_files()
            writer.wait_merging_threads()
        for name in index_names(self._directory):
            # Readers open this file; on a full disk they could not create it.
            (self._directory / name / _META_LOCK).touch()

    def abandon(self) -> None:
        """Let go of the writers without a commit."""
        self._writers.clear()

    def _add(self, kind: Kind, language: str, rows: Sequence[tuple[str, str, str]]) -> None:
        import tantivy

        if not rows:
            return
        name = analyser_for(language)
        how = analyser(name)
        writer = self._writer(_index_name(kind, name))
        for row_id, document_id, text in rows:
            document = tantivy.Document()
            document.add_text("id", row_id)
            document.add_text("document_id", document_id)
            document.add_text("text", " ".join(how.terms(text)))
            writer.add_document(document)

    def _writer(self, name: str) -> Any:
        import tantivy

        if name not in self._writers:
            folder = self._directory / name
            folder.mkdir(parents=True, exist_ok=True)
            self._writers[name] = tantivy.Index(_schema(), path=str(folder)).writer(_HEAP_BYTES, 1)
        return self._writers[name]


def indexed_text(record: DocumentRecord, heading: str | None, text: str) -> str:
    """What is indexed of a passage: breadcrumb, its last heading once more, text; the title without headings.

    The repetition weighs the words of the nearest heading double.
    """
    headline = heading or record.title
    return f"{headline}\n{headline.rpartition(' > ')[2]}\n{text}"


@dataclass(frozen=True, slots=True)
class _Open:
    searcher: Any
    schema: Any
    analyser: str


class Bm25Reader:
    """Searches the indexes of one generation; any number of threads may share it."""

    def __init__(self, directory: Path, expected: Collection[str] = ()) -> None:
        """`expected` names indexes without which no search of their kind is whole."""
        self._directory = directory
        self._names = index_names(directory)
        self._missing = sorted(set(expected) - set(self._names))
        self._open: dict[str, _Open] = {}
        self._lock = threading.Lock()
        self._links = contextlib.ExitStack()

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            self._open.clear()
            self._links.close()

    def search(
        self,
        query: str,
        limit: int,
        *,
        kind: Kind = "chunk",
        documents: Collection[str] | None = None,
        k1: float = K1,
        b: float = B,
    ) -> list[tuple[str, float]]:
        """The `limit` best passages as (id, BM25 score), best first, ties by id; any string is a valid query.

        Each index is searched with its own analyser. The document filter is part of the search. With k1 or b
        other than Tantivy's, its best candidates are scored again from their term statistics. Raises StoreError
        for an index that is damaged or missing.
        """
        for name in self._missing:
            if name.startswith(f"{kind}-"):
                raise StoreError(f"the BM25 index {name} is missing; run: ekr doctor --repair")
        if limit < 1 or (documents is not None and not documents):
            return []
        hits: list[tuple[str, float]] = []
        for name in self._names:
            if name.startswith(f"{kind}-"):
                with told_as(f"the BM25 index {name} cannot be read", "run: ekr doctor --repair"):
                    hits += self._search(name, query, limit, documents, k1, b)
        hits.sort(key=lambda hit: (-round(hit[1], 4), hit[0]))
        return hits[:limit]

    def rows(self, kind: Kind) -> list[tuple[str, str]]:
        """(id, document id) of every passage, for cross-checks."""
        found = []
        for name in self._names:
            if name.startswith(f"{kind}-"):
                with told_as(f"the BM25 index {name} cannot be read", "run: ekr doctor --repair"):
                    found += self._rows(name)
        return found

    def _rows(self, name: str) -> list[tuple[str, str]]:
        import tantivy

        searcher = self._opened(name).searcher
        if not searcher.num_docs:
            return []
        hits = searcher.search(tantivy.Query.all_query(), searcher.num_docs, count=False).hits
        stored = [searcher.doc(address) for _, address in hits]
        return [(document.get_first("id"), document.get_first("document_id")) for document in stored]

    def _search(
        self, name: str, query: str, limit: int, documents: Collection[str] | None, k1: float, b: float
    ) -> list[tuple[str, float]]:

        opened = self._opened(name)
        searcher = opened.searcher
        weights = _weights(searcher, query_terms(opened.analyser, query))
        if not weights:
            return []
        terms = _any_of(opened.schema, weights)
        whole = terms if documents is None else _within(opened.schema, terms, documents)
        if (k1, b) == (K1, B):
            hits = _with_ties(searcher, whole, limit)
            return [(searcher.doc(address).get_first("id"), float(score)) for score, address in hits]
        fetch = min(max(_RESCORED, 4 * limit), max(1, searcher.num_docs))
        hits = searcher.search(whole, fetch, count=False).hits
        return [
            (searcher.doc(address).get_first("id"), rescored(terms.explain(searcher, address).to_json(), k1, b))
            for _, address in hits
        ]

    def _opened(self, name: str) -> _Open:
        with self._lock:
            if name not in self._open:
                index = self._index(name)
                self._open[name] = _Open(index.searcher(), index.schema, name.partition("-")[2])
            return self._open[name]

    def _index(self, name: str) -> Any:
        import tantivy

        folder = self._directory / name
        return tantivy.Index.open(str(folder if os.access(folder, os.W_OK) else self._linked(folder)))

    def _linked(self, folder: Path) -> Path:
        # Tantivy refuses a directory that it may not write to, even for reading.
        target = Path(self._links.enter_context(tempfile.TemporaryDirectory(prefix="ekr-bm25-")))
        for file in folder.iterdir():
            if not file.name.endswith(".lock"):
                (target / file.name).symlink_to(file.absolute())
        return target


def _any_of(schema: Any, weights: Mapping[str, int]) -> Any:
    from tantivy import Occur, Query

    terms = [
        Query.boost_query(Query.term_query(schema, "text", term, "freq"), float(weight))
        for term, weight in weights.items()
    ]
    return Query.boolean_query([(Occur.Should, term) for term in terms])


def _within(schema: Any, query: Any, documents: Collection[str]) -> Any:
    from tantivy import Occur, Query

    among = Query.const_score_query(Query.term_set_query(schema, "document_id", list(documents)), 0.0)
    return Query.boolean_query([(Occur.Must, query), (Occur.Must, among)])


def _with_ties(searcher: Any, query: Any, limit: int) -> list[tuple[float, Any]]:
    """The best `limit` and all that tie with the last of them, so that their order can be by id."""
    everything = max(1, searcher.num_docs)
    fetch = min(limit + _TIES, everything)
    while True:
        hits: list[tuple[float, Any]] = searcher.search(query, fetch, count=False).hits
        if len(hits) < fetch or fetch == everything or hits[-1][0] < hits[limit - 1][0] - _SAME_SCORE:
            return hits
        fetch = min(4 * fetch, everything)


def _weights(searcher: Any, terms: Counter[str]) -> dict[str, int]:
    """How often each term occurs in the query; of a very long one, the rarest terms that occur at all."""
    if len(terms) <= _MAX_TERMS:
        return dict(terms)
    frequencies = {term: searcher.doc_freq("text", term) for term in terms}
    present = sorted((count, term) for term, count in frequencies.items() if count)
    return {term: terms[term] for _, term in present[:_MAX_TERMS]}


def rescored(explanation: str, k1: float, b: float) -> float:
    """BM25 of one passage with another k1 and b, from the statistics that Tantivy used for its own score.

    Score = Σ weight · idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average length)), Robertson and
    Zaragoza 2009, with Tantivy's idf. `explanation` is Tantivy's, as JSON.
    """
    return _part(json.loads(explanation), k1, b)


def _part(node: dict[str, Any], k1: float, b: float) -> float:
    text, details = node["description"], node.get("details", [])
    if text.startswith("TermQuery"):
        idf = next(part["value"] for part in details if part["description"].startswith("idf"))
        saturation = next(part["details"] for part in details if part["description"].startswith("freq"))
        value = {part["description"].split(",")[0]: part["value"] for part in saturation}
        length = 1 - b + b * value["dl"] / value["avgdl"]
        return float(idf * value["freq"] * (k1 + 1) / (value["freq"] + k1 * length))
    weight = float(text.split()[1][1:]) if text.startswith("Boost x") else 1.0
    return weight * sum(_part(part, k1, b) for part in details)
