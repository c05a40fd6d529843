from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import pytest

from ekr.models.base import Vectors
from ekr.store import Store, graph_writer
from ekr.store.backup import backup
from ekr.store.check import check
from ekr.store.graph_schema import RAW_TABLES, RESOLVED_TABLES
from ekr.store.vectors import VectorReader
from tests.store.builders import DIMENSION, MANIFEST, contents, document, ingest, numbered, put, vectors_of
from tests.store.graph_builders import BABBAGE, ENGINE, LOVELACE, NOTES, embed, extract, filled, resolve

TABLES = (*RAW_TABLES, *RESOLVED_TABLES, "graph_vectors")


def rows_of(store: Store) -> dict[str, list[tuple[object, ...]]]:
    with store.snapshot() as snapshot, snapshot.connection.cursor() as cursor:
        return {table: sorted(cursor.execute(f"FROM {table}").fetchall(), key=str) for table in TABLES}


def vectors_in(store: Store) -> dict[str, set[str]]:
    with store.snapshot() as snapshot:
        reader = VectorReader(snapshot.directory / "vectors", DIMENSION, "tiny")
        return {kind: {row for row, _ in reader.rows(kind)} for kind in ("entities", "relations", "reports")}


def test_a_graph_has_one_vector_for_each_text_and_is_sound(store: Store) -> None:
    graph = filled(store, *NOTES)
    found = vectors_in(store)
    assert found["entities"] == {entity.id for entity in graph.entities}
    assert found["relations"] == {relation.id for relation in graph.relations}
    assert len(found["reports"]) == len(rows_of(store)["communities"]) > 0
    assert check(store) == []


def test_only_texts_that_are_new_or_changed_are_embedded(store: Store) -> None:
    asked: list[str] = []

    def listening(texts: Sequence[str]) -> Vectors:
        asked.extend(texts)
        return embed(texts)

    with store.writer(MANIFEST) as writer:
        put(writer, numbered(1))
        done = graph_writer.embed_texts(writer, "entities", {"a": "first", "b": "second", "c": "third"}, listening)
        assert done == {"kept": 0, "embedded": 3, "removed": 0}
        asked.clear()
        done = graph_writer.embed_texts(writer, "entities", {"a": "first", "b": "other", "d": "fourth"}, listening)
        assert done == {"kept": 1, "embedded": 2, "removed": 2}
        assert sorted(asked) == ["fourth", "other"]
        writer.publish()
    assert vectors_in(store)["entities"] == {"a", "b", "d"}
    with store.snapshot() as snapshot:
        hits = dict(snapshot.search_vectors("entities", embed(["other"])[0], 3))
        assert hits["b"] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_a_deleted_document_takes_what_only_it_supports(store: Store, order: list[int]) -> None:
    filled(store, *NOTES)
    documents = [NOTES[index] for index in order]
    for number, prepared in enumerate(documents, start=1):
        with store.writer(MANIFEST) as writer:
            writer.delete([prepared.record.id])
            writer.publish()
        rows = rows_of(store)
        left = documents[number:]
        assert {row[0] for row in rows["extracted"]} == {d.record.id for d in left}
        present = {c.id for d in left for c in d.chunks}
        for table, column in (("mentions", 1), ("entity_chunks", 1), ("relation_evidence", 1), ("extractions", 1)):
            assert {row[column] for row in rows[table]} <= present
        assert check(store) == []
    assert {table: found for table, found in rows_of(store).items() if found} == {}
    assert set().union(*vectors_in(store).values()) == set()


def test_a_relation_that_another_document_supports_stays(store: Store) -> None:
    again = document("/notes/again.txt", "Charles Babbage worked with Ada Lovelace. ")
    filled(store, BABBAGE, again)
    with store.writer(MANIFEST) as writer:
        writer.delete([BABBAGE.record.id])
        writer.publish()
    rows = rows_of(store)
    assert [row[3] for row in rows["relations"]] == ["WORK_WITH"]
    assert {row[2] for row in rows["entities"]} == {"Charles Babbage", "Ada Lovelace"}
    assert {row[1] for row in rows["relation_evidence"]} == {again.chunks[0].id}


def test_a_community_that_loses_a_member_has_its_new_size_before_the_graph_is_resolved_again(store: Store) -> None:
    again = document("/notes/again.txt", "Charles Babbage worked with Ada Lovelace. ")
    filled(store, BABBAGE, again)

    def sizes() -> dict[str, int]:
        with store.snapshot() as snapshot:
            graph = snapshot.graph
            found = graph.largest_communities(9)
            assert [community.size for community in found] == [len(graph.members(c.id)) for c in found]
            return {community.id: community.size for community in found}

    before = sizes()
    with store.writer(MANIFEST) as writer:
        writer.delete([BABBAGE.record.id])
        writer.publish()
    after = sizes()
    assert after and any(size < before[id_] for id_, size in after.items())
    assert check(store) == []


def test_resolving_after_a_deletion_equals_a_store_that_never_held_the_document(store: Store, tmp_path: Path) -> None:
    filled(store, *NOTES)
    with store.writer(MANIFEST) as writer:
        writer.delete([LOVELACE.record.id])
        assert graph_writer.resolved_from(writer.connection) is None
        resolve(writer)
        writer.publish()
    other = Store(tmp_path / "other")
    filled(other, BABBAGE, ENGINE)
    assert rows_of(store) == rows_of(other)
    assert vectors_in(store) == vectors_in(other)


def test_replacing_a_document_drops_what_its_old_text_said(store: Store) -> None:
    filled(store, *NOTES)
    changed = document("/notes/lovelace.txt", "Ada Lovelace wrote notes. ")
    with store.writer(MANIFEST) as writer:
        put(writer, changed)
        writer.publish()
    assert check(store) == []
    rows = rows_of(store)
    assert LOVELACE.record.id not in {row[0] for row in rows["extracted"]}
    assert not {row[1] for row in rows["relation_evidence"]} & {chunk.id for chunk in LOVELACE.chunks}
    assert "She read Charles Babbage" not in str(rows["extractions"])


def test_a_graph_that_holds_the_documents_says_so_and_any_change_takes_that_back(store: Store) -> None:
    filled(store, *NOTES)
    with store.writer(MANIFEST) as writer:
        with writer.reading() as connection:
            assert connection is not None
            assert graph_writer.resolved_from(connection) == graph_writer.inputs_of(connection)
        put(writer, numbered(1))
        with writer.changing() as connection:
            assert graph_writer.resolved_from(connection) != graph_writer.inputs_of(connection)
        extract(writer, numbered(1))
        resolve(writer)
        put(writer, BABBAGE)
        with writer.changing() as connection:
            assert graph_writer.resolved_from(connection) is None


def test_the_graph_survives_compaction_and_backup(store: Store, tmp_path: Path) -> None:
    filled(store, *NOTES)
    before, vectors = rows_of(store), vectors_in(store)
    with store.writer(MANIFEST) as writer:
        writer.compact()
    assert rows_of(store) == before
    assert vectors_in(store) == vectors
    backup(store, tmp_path / "copy")
    copy = Store(tmp_path / "copy")
    assert rows_of(copy) == before
    assert check(copy) == []
    with copy.snapshot() as snapshot:
        assert snapshot.connection.execute("SELECT count(*) FROM kg_nodes WHERE 'Person' IN labels").fetchone() == (2,)


def test_a_compacted_store_holds_no_word_of_a_deleted_document(store: Store) -> None:
    filled(store, *NOTES)
    with store.writer(MANIFEST) as writer:
        writer.delete([BABBAGE.record.id])
        resolve(writer)
        writer.compact()
    for file in store.path.rglob("*"):
        assert not file.is_file() or b"Difference Engine" not in file.read_bytes(), file


def test_a_crash_before_publishing_leaves_the_old_graph(store: Store) -> None:
    filled(store, *NOTES)
    before = rows_of(store)
    with pytest.raises(RuntimeError), store.writer(MANIFEST) as writer:
        writer.delete([BABBAGE.record.id])
        resolve(writer)
        raise RuntimeError
    assert rows_of(store) == before
    assert check(store) == []


DAMAGE = (
    ("DELETE FROM entities WHERE name = 'Charles Babbage'", "relations whose source_id is not in entities"),
    ("DELETE FROM mentions; DELETE FROM entity_chunks", "entities that no chunk mentions"),
    ("DELETE FROM relation_evidence", "relations without evidence"),
    ("INSERT INTO entities FROM entities LIMIT 1", "values of entities.id are in twice"),
    ("DELETE FROM community_members", "communities of fewer than two members"),
    ("UPDATE links SET target_id = 'x' WHERE target_kind = 'entity'", "links whose target is not in entities"),
    ("UPDATE relation_evidence SET chunk_id = 'x'", "relation_evidence whose chunk_id is not in chunks"),
    ("INSERT INTO graph_vectors VALUES ('entities', 'x', 'h')", "entities have no vectors"),
    ("DELETE FROM graph_vectors WHERE kind = 'reports'", "vectors of reports that do not exist"),
)


@pytest.mark.parametrize(("damage", "message"), DAMAGE, ids=[message for _, message in DAMAGE])
def test_check_names_what_is_wrong_with_a_graph(store: Store, damage: str, message: str) -> None:
    filled(store, *NOTES)
    with duckdb.connect(str(next(store.path.glob("generations/*/graph.duckdb")))) as connection:
        connection.execute(damage)
    assert message in "\n".join(finding.message for finding in check(store))


def test_re_embedding_starts_with_no_vector_of_the_graph(store: Store) -> None:
    filled(store, *NOTES)
    with store.writer(MANIFEST, re_embed=MANIFEST.embedder) as writer:
        for prepared in NOTES:
            ids = [chunk.id for chunk in prepared.chunks]
            writer.put_vectors("chunks", ids, [prepared.record.id] * len(ids), vectors_of(prepared))
        assert graph_writer.resolved_from(writer.connection) is None
        resolve(writer)
        writer.publish()
    assert check(store) == []
    assert len(vectors_in(store)["entities"]) == 5


def test_a_cleared_graph_leaves_the_passages(store: Store) -> None:
    filled(store, *NOTES)
    before = contents(store)
    with store.writer(MANIFEST) as writer:
        graph_writer.clear_graph(writer)
        writer.publish()
    assert contents(store) == before
    assert {table: found for table, found in rows_of(store).items() if found} == {}
    assert set().union(*vectors_in(store).values()) == set()
    with store.snapshot() as snapshot:
        assert snapshot.search_vectors("entities", np.ones(DIMENSION, np.float32), 3) == []


def test_the_order_of_documents_does_not_matter(tmp_path: Path) -> None:
    found = []
    for number in range(4):
        documents = NOTES[:]
        random.Random(number).shuffle(documents)
        store = Store(tmp_path / str(number))
        for prepared in documents:
            filled(store, prepared)
        found.append((rows_of(store), vectors_in(store)))
    assert all(one == found[0] for one in found)


def test_answers_that_belong_to_no_document_go_when_they_are_no_longer_asked_for(store: Store) -> None:
    ingest(store, BABBAGE)
    with store.writer(MANIFEST) as writer:
        for key, owner in (("kept", None), ("stale", None), ("owned", BABBAGE.record.id)):
            writer.cache_call("report", key, "text", owner)
        graph_writer.forget_calls(writer, "report", {"kept"})
        assert set(writer.cached_calls("report", ["kept", "stale", "owned"])) == {"kept", "owned"}
