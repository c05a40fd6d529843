"""The cross-checks find each kind of disagreement between the engines, and count it."""

from __future__ import annotations

import pytest

from ekr.store import Store, Writer
from ekr.store.check import Finding, check
from tests.store.builders import MANIFEST, ingest, numbered


def spoil(writer: Writer, what: str) -> None:
    prepared = numbered(2)
    chunk = prepared.chunks[0]
    if what == "posting":
        writer._begun().postings.delete_documents([prepared.record.id])
    elif what == "extra posting":
        stranger = numbered(9)
        writer._begun().postings.add_document(stranger.record, stranger.chunks, stranger.parents)
    elif what == "swapped vector":
        writer.delete_vectors("chunks", [chunk.id])
        from tests.store.builders import vectors_of

        writer.put_vectors("chunks", ["stranger"], [prepared.record.id], vectors_of(prepared)[:1])
    else:
        writer.connection.execute(what, [] if "?" not in what else [prepared.record.id])


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("posting", {("tantivy", "3 chunks have no postings"), ("tantivy", "1 parents have no postings")}),
        (
            "extra posting",
            {
                ("tantivy", "3 postings of chunks that do not exist"),
                ("tantivy", "1 postings of parents that do not exist"),
            },
        ),
        (
            "swapped vector",
            {("lancedb", "1 chunks have no vectors"), ("lancedb", "1 vectors of chunks that do not exist")},
        ),
        (
            "INSERT INTO pages VALUES ('nobody', 1, '')",
            {("duckdb", "1 rows of pages whose document_id is not in documents")},
        ),
        (
            "INSERT INTO model_calls VALUES ('k', 'x', 'nobody', '1')",
            {("duckdb", "1 rows of model_calls whose document_id is not in documents")},
        ),
        (
            "UPDATE pages SET text = 'other' WHERE page = 2 AND document_id = ?",
            {("duckdb", "2 chunks whose text is not at their place in the document")},
        ),
        (
            "INSERT INTO documents SELECT * FROM documents WHERE id = ?",
            {("duckdb", "1 repeated ids in documents"), ("duckdb", "1 documents are in twice")},
        ),
    ],
)
def test_each_disagreement_is_found_and_counted(store: Store, what: str, expected: set[tuple[str, str]]) -> None:
    ingest(store, numbered(1), numbered(2))
    assert check(store) == []
    with store.writer(MANIFEST) as writer:
        spoil(writer, what)
        writer.publish()
    assert {(finding.engine, finding.message) for finding in check(store)} == expected


def test_a_finding_names_what_can_be_made_anew(store: Store) -> None:
    ingest(store, numbered(1))
    with store.writer(MANIFEST) as writer:
        spoil(writer, "extra posting")
        writer.publish()
    assert Finding("tantivy", "1 postings of parents that do not exist", "bm25") in check(store)
