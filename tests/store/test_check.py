"""The cross-checks find each kind of disagreement between the engines, and count it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ekr.store import Store, Writer, analysis
from ekr.store.check import Finding, check, examine
from tests.store.builders import MANIFEST, ingest, numbered, put, vectors_of


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
            {
                ("duckdb", "2 chunks whose text is not at their place in the document: report-2.txt"),
                ("duckdb", "1 parents whose text is not at their place in the document: report-2.txt"),
            },
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


def test_postings_of_another_text_analysis_are_found_and_made_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(store, numbered(1))
    monkeypatch.setattr(analysis, "VERSION", analysis.VERSION + 1)
    assert [(finding.engine, finding.repair) for finding in check(store)] == [("tantivy", "bm25")]
    with store.writer() as writer:
        writer.rebuild_postings()
        writer.publish()
    assert check(store) == []


def test_lost_pages_are_named_and_hide_nothing_else(store: Store) -> None:
    ingest(store, numbered(1), numbered(2), numbered(3))
    with store.writer(MANIFEST) as writer:
        writer.connection.execute("DELETE FROM pages WHERE document_id = ?", [numbered(2).record.id])
        spoil(writer, "extra posting")
        writer.delete_vectors("chunks", [numbered(1).chunks[0].id])
        writer.put_vectors("chunks", ["x"], ["d"], vectors_of(numbered(1))[:1])
        writer.publish()
    found = check(store)
    assert found[0] == Finding(
        "duckdb",
        "1 documents have lost their pages: report-2.txt",
        "none",
        "delete them and ingest them again",
    )
    assert {finding.engine for finding in found[1:]} == {"lancedb", "tantivy"}


def test_properties_that_are_no_json_are_found(store: Store) -> None:
    ingest(store, numbered(1), numbered(2))
    with store.writer(MANIFEST) as writer:
        writer.connection.execute("UPDATE documents SET metadata = '{\"a\": ' WHERE id = ?", [numbered(2).record.id])
        writer.publish()
    (found,) = check(store)
    assert (found.message, found.repair) == ("the properties of 1 documents cannot be read: report-2.txt", "none")


def test_an_unfinished_graph_is_a_remark(store: Store) -> None:
    ingest(store, numbered(1))
    examination = examine(store)
    assert examination.findings == ()
    assert examination.notes == ("the graph is not finished (1 documents wait to be extracted); run ekr ingest again",)
    with store.writer(replace(MANIFEST, extractor="none")) as writer:
        put(writer, numbered(2))
        writer.publish()
    assert examine(store).notes == ()
