"""Rows of the graph lost or altered where no block is damaged: doctor names it, --repair or an ingest mends."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from ekr.store import Store
from ekr.store.check import examine
from ekr.store.graph_schema import RESOLVED_TABLES
from tests.reliability import shelves

COUNT = 4
RESOLVED = "; ".join(f"DELETE FROM {table}" for table in RESOLVED_TABLES)


def harm(store: Path, statements: str) -> None:
    with duckdb.connect(str(shelves.generation_of(store) / "graph.duckdb")) as connection:
        connection.execute(statements)


def facts(store: Path) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    return shelves.rows(store), shelves.vectors(store), shelves.postings(store)


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ("DELETE FROM entity_names", "entity_names has 0 rows, not the"),
        ("DELETE FROM communities; DELETE FROM community_members", "communities has 0 rows, not the"),
        (RESOLVED, "entities has 0 rows, not the"),
        (RESOLVED + "; DELETE FROM graph_vectors", "graph_vectors has 0 rows, not the"),
        ("DELETE FROM links", "links has 0 rows, not the"),
        ("DROP VIEW kg_nodes", "the view kg_nodes is missing"),
        ("DROP VIEW kg_edges; DROP TABLE entities; DROP TABLE graph_state", "the table entities is missing"),
        ("UPDATE entities SET mentions = mentions + 1", "entities whose number of mentions is wrong"),
        ("UPDATE entities SET chunks = 99", "entities whose number of chunks is wrong"),
        ("UPDATE entities SET relations = 99", "entities whose number of relations is wrong"),
        ("UPDATE mentions SET end_offset = 100000", "rows of mentions that lie outside the text of their passage"),
        ("UPDATE relation_evidence SET start_offset = -1", "rows of relation_evidence that lie outside"),
        ("UPDATE graph_state SET value = '[' WHERE key = 'rows'", "the noted numbers of rows cannot be read"),
    ],
)
def test_a_graph_that_lost_rows_is_named_and_made_anew(sound: Path, store: Path, statements: str, message: str) -> None:
    assert shelves.problems(store) == []
    harm(store, statements)
    assert message in "\n".join(problem.problem for problem in shelves.problems(store))
    mended = shelves.mend(store)
    assert mended.examination.findings == mended.failed == ()
    assert facts(store) == facts(sound)


def test_embedded_texts_that_are_lost_with_their_vectors_are_made_anew(sound: Path, store: Path) -> None:
    harm(store, "DELETE FROM graph_vectors")
    for kind in ("entities", "relations", "reports"):
        shutil.rmtree(shelves.generation_of(store) / "vectors" / f"{kind}.lance")
    assert [problem.part for problem in shelves.problems(store)] == ["duckdb"]
    assert shelves.mend(store).done == ("the graph is resolved anew",)
    assert facts(store) == facts(sound)


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ("DELETE FROM extractions", "4 documents of which extractions are missing"),
        ("DELETE FROM extractions WHERE chunk_id = (SELECT min(id) FROM chunks)", "1 documents of which extractions"),
        ("DELETE FROM extracted", "extracted has 0 rows, not the 4"),
        ("DROP TABLE extracted", "the table extracted is missing"),
    ],
)
def test_lost_extractions_are_named_and_made_by_the_next_ingest(
    sound: Path, store: Path, statements: str, message: str
) -> None:
    harm(store, statements)
    assert message in "\n".join(problem.problem for problem in shelves.problems(store))
    mended = shelves.mend(store)
    assert mended.examination.findings == mended.failed == ()
    assert any("run ekr ingest again" in note for note in mended.examination.notes)
    shelves.make(store, sound.parent / "notes")
    assert examine(Store(store)).notes == ()
    assert shelves.problems(store) == []
    assert facts(store) == facts(sound)


def test_a_store_without_noted_numbers_is_sound(store: Path) -> None:
    harm(store, "DELETE FROM graph_state WHERE key = 'rows'")
    found = examine(Store(store))
    assert (found.findings, found.notes) == ((), ())


def test_an_altered_parent_is_named(store: Path) -> None:
    harm(store, "UPDATE parents SET text = upper(text) WHERE id = (SELECT min(id) FROM parents)")
    (problem,) = shelves.problems(store)
    assert "1 parents whose text is not at their place" in problem.problem
    assert problem.advice == "delete their documents and ingest them again"
