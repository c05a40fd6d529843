from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ekr.cypher import GraphSchema, run
from ekr.errors import StoreError
from ekr.extraction import names_in_question
from ekr.extraction.records import stable_id
from ekr.store import Store
from ekr.store.schema import connect
from tests.store.builders import DIMENSION, ingest, numbered
from tests.store.graph_builders import BABBAGE, ENGINE, LOVELACE, NOTES, filled

BABBAGE_ID = stable_id("entity", "charles babbage")
LOVELACE_ID = stable_id("entity", "ada lovelace")
ENGINE_ID = stable_id("entity", "analytical engine")
DIFFERENCE_ID = stable_id("entity", "difference engine")


@pytest.fixture
def notes(store: Store) -> Store:
    filled(store, *NOTES)
    return store


def test_entities_come_with_their_counts_and_unknown_ids_are_absent(notes: Store) -> None:
    with notes.snapshot() as snapshot:
        found = snapshot.graph.entities([BABBAGE_ID, ENGINE_ID, "nobody"])
        assert set(found) == {BABBAGE_ID, ENGINE_ID}
        babbage = found[BABBAGE_ID]
        assert (babbage.name, babbage.labels, babbage.mentions, babbage.chunks) == (
            "Charles Babbage",
            ("Person",),
            3,
            3,
        )
        assert found[ENGINE_ID].defined
        assert not babbage.defined
        assert snapshot.graph.entities([]) == {}


def test_relations_are_found_by_their_ends_and_by_type_in_any_case(notes: Store) -> None:
    with notes.snapshot() as snapshot:
        touching = snapshot.graph.relations_of([LOVELACE_ID])
        stated = {(r.source, r.type, r.target) for r in touching if r.type != "RELATED_TO"}
        assert stated == {
            ("Charles Babbage", "WORK_WITH", "Ada Lovelace"),
            ("Ada Lovelace", "DESCRIBE", "Analytical Engine"),
        }
        only = snapshot.graph.relations_of([LOVELACE_ID], ["work_with"])
        assert [r.type for r in only] == ["WORK_WITH"]
        assert snapshot.graph.relations([only[0].id]) == {only[0].id: only[0]}
        assert snapshot.graph.chunks_of_relations([only[0].id]) == {only[0].id: [BABBAGE.chunks[1].id]}
        assert snapshot.graph.relations_of([LOVELACE_ID], []) == []


def test_the_chunks_of_a_defined_entity_are_all_those_of_its_parent_first(notes: Store) -> None:
    own = [chunk.id for chunk in ENGINE.chunks]
    with notes.snapshot() as snapshot:
        assert snapshot.graph.defining_chunks([ENGINE_ID, BABBAGE_ID]) == {ENGINE_ID: own}
        every = snapshot.graph.chunks_of_entities([ENGINE_ID])[ENGINE_ID]
        assert every[:2] == own
        assert set(every[2:]) == {BABBAGE.chunks[1].id, LOVELACE.chunks[0].id}
        # The passage that is about it comes before what it only mentions.
        assert snapshot.graph.entities_of_chunks([ENGINE.chunks[1].id]) == {ENGINE.chunks[1].id: [ENGINE_ID]}


def test_a_mention_of_a_defined_entity_links_to_the_passages_that_define_it(notes: Store) -> None:
    with notes.snapshot() as snapshot:
        links = snapshot.graph.links_from([LOVELACE.chunks[0].id, ENGINE.chunks[0].id])
        from_lovelace = [link for link in links if link.source_chunk == LOVELACE.chunks[0].id]
        assert [(link.type, link.via, link.target_chunk_ids) for link in from_lovelace] == [
            ("MENTIONS", ENGINE_ID, tuple(chunk.id for chunk in ENGINE.chunks))
        ]
        assert from_lovelace[0].in_degree == 3
        # Its own passage leads on to the rest of the definition, never to itself.
        from_itself = [link for link in links if link.source_chunk == ENGINE.chunks[0].id]
        assert [link.target_chunk_ids for link in from_itself] == [(ENGINE.chunks[1].id,)]


def test_names_of_a_question_are_looked_up_by_key(notes: Store) -> None:
    with notes.snapshot() as snapshot:
        found = names_in_question("Who worked with Charles Babbage?", snapshot.graph.names)
        assert [name.entity_ids for name in found] == [(BABBAGE_ID,)]
        assert snapshot.graph.names(["nothing at all"]) == []


def test_the_arrays_hold_every_relation_and_every_passage_with_its_entities(notes: Store) -> None:
    with notes.snapshot() as snapshot:
        edges = snapshot.graph.edges()
        assert edges is snapshot.graph.edges()
        assert edges.entity_ids == sorted(edges.entity_ids)
        assert len(edges.entity_ids) == snapshot.counts()["entities"]
        assert len(edges.source) == len(edges.target) == len(edges.weight) == snapshot.counts()["relations"]
        pairs = {(edges.entity_ids[s], edges.entity_ids[t]) for s, t in zip(edges.source, edges.target, strict=True)}
        assert (BABBAGE_ID, DIFFERENCE_ID) in pairs
        held = snapshot.graph.passage_edges()
        assert held.entity_ids == edges.entity_ids
        at = held.entity_ids.index(DIFFERENCE_ID)
        passages = [held.chunk_ids[c] for c, e in zip(held.chunk, held.entity, strict=True) if e == at]
        assert passages == [BABBAGE.chunks[0].id]
        assert held.weight[held.entity == at] == pytest.approx([math.log(1 + 6 / 1)])


def test_communities_are_ordered_by_what_they_share_with_the_entities(notes: Store) -> None:
    with notes.snapshot() as snapshot:
        overlaps = snapshot.graph.communities_of([BABBAGE_ID, LOVELACE_ID, DIFFERENCE_ID])
        assert [count for _, count in overlaps] == sorted((count for _, count in overlaps), reverse=True)
        best, shared = overlaps[0]
        members = snapshot.graph.members(best)
        assert shared == len({BABBAGE_ID, LOVELACE_ID, DIFFERENCE_ID} & set(members))
        record = snapshot.graph.communities([best])[best]
        assert record.size == len(members)
        assert record.text.startswith(record.title)
        assert record.by == "template"


def test_evidence_names_the_documents_of_entities_relations_and_communities(notes: Store) -> None:
    with notes.snapshot() as snapshot:
        graph = snapshot.graph
        ids = {prepared.record.id: prepared.record.display for prepared in NOTES}
        documents = graph.evidence_documents("entity", [BABBAGE_ID, ENGINE_ID])
        assert {ids[d] for d in documents[BABBAGE_ID]} == {"babbage.txt", "lovelace.txt"}
        assert {ids[d] for d in documents[ENGINE_ID]} == {"babbage.txt", "lovelace.txt", "engine.txt"}
        worked = graph.relations_of([LOVELACE_ID], ["WORK_WITH"])[0].id
        assert graph.evidence_documents("relation", [worked]) == {worked: {BABBAGE.record.id}}
        for kind in ("entity", "relation", "community"):
            there = graph.supported_by(kind, [LOVELACE.record.id])  # type: ignore[arg-type]
            found = graph.evidence_documents(kind, there)  # type: ignore[arg-type]
            assert there
            assert all(LOVELACE.record.id in documents for documents in found.values())
            assert graph.supported_by(kind, []) == set()  # type: ignore[arg-type]


def test_labels_and_types_are_counted(notes: Store) -> None:
    with notes.snapshot() as snapshot:
        assert snapshot.graph.labels() == {"Person": 2, "Product": 2, "Place": 1}
        types = snapshot.graph.relation_types()
        assert {"DESIGN": 1, "WORK_WITH": 1, "DESCRIBE": 1}.items() <= types.items()
        assert sum(types.values()) == snapshot.counts()["relations"]


def test_a_store_without_a_graph_answers_with_nothing(store: Store) -> None:
    ingest(store, numbered(1))
    with store.snapshot() as snapshot:
        graph = snapshot.graph
        assert graph.entities(["x"]) == graph.labels() == graph.communities(["x"]) == {}
        assert graph.links_from([numbered(1).chunks[0].id]) == graph.names(["report"]) == graph.top_entities(5) == []
        assert len(graph.edges().weight) == len(graph.passage_edges().weight) == 0
        assert snapshot.search_vectors("entities", np.ones(DIMENSION, np.float32), 5) == []


def test_a_generation_from_before_the_graph_answers_with_nothing(store: Store) -> None:
    ingest(store, numbered(1))
    file = next(store.path.glob("generations/*/graph.duckdb"))
    with connect(file, read_only=False) as connection:
        for view in ("kg_edges", "kg_nodes"):
            connection.execute(f"DROP VIEW {view}")
        for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            if table not in ("manifest", "documents", "pages", "parents", "chunks", "model_calls"):
                connection.execute(f"DROP TABLE {table}")
    with store.snapshot() as snapshot:
        assert snapshot.counts()["entities"] == 0
        assert snapshot.graph.entities(["x"]) == {}
        assert len(snapshot.graph.passage_edges().chunk) == 0
    filled(store, *NOTES)
    with store.snapshot() as snapshot:
        assert snapshot.counts()["entities"] == 5


def test_a_graph_that_lost_a_table_is_an_error_and_not_an_empty_graph(notes: Store) -> None:
    file = next(notes.path.glob("generations/*/graph.duckdb"))
    with connect(file, read_only=False) as connection:
        for view in ("kg_edges", "kg_nodes"):
            connection.execute(f"DROP VIEW {view}")
        connection.execute("DROP TABLE entity_chunks")
    with notes.snapshot() as snapshot, pytest.raises(StoreError, match="ekr doctor"):
        snapshot.graph.chunks_of_entities([BABBAGE_ID])


def test_threads_share_one_reader(notes: Store) -> None:
    with notes.snapshot() as snapshot, ThreadPoolExecutor(8) as pool:
        expected = snapshot.graph.relations_of([BABBAGE_ID])
        found = list(pool.map(lambda _: snapshot.graph.relations_of([BABBAGE_ID]), range(64)))
        assert all(one == expected for one in found)


def test_graph_queries_see_entities_passages_documents_and_communities(notes: Store) -> None:
    with notes.snapshot() as snapshot:
        schema = GraphSchema.read(snapshot.connection)
        assert {"Person", "Entity", "Chunk", "Document", "Community"} <= set(schema.labels)
        assert {"MENTIONS", "DEFINES", "PART_OF", "IN_COMMUNITY", "WORK_WITH"} <= set(schema.types)

        def rows(query: str) -> list[list[object]]:
            return [list(row) for row in run(snapshot.connection, schema, query).rows]

        assert rows("MATCH (a:Person)-[:WORK_WITH]->(b) RETURN a.name, b.name") == [["Charles Babbage", "Ada Lovelace"]]
        assert rows(
            "MATCH (e {name: 'Analytical Engine'})<-[:MENTIONS]-(c:Chunk)-[:PART_OF]->(d:Document) "
            "RETURN DISTINCT d.document ORDER BY d.document"
        ) == [["babbage.txt"], ["engine.txt"], ["lovelace.txt"]]
        assert rows("MATCH (e:Entity)-[:IN_COMMUNITY]->(c:Community) RETURN count(DISTINCT e) > 1") == [[True]]
        ids = {row[0] for row in snapshot.connection.cursor().execute("SELECT id FROM kg_nodes").fetchall()}
        edges = snapshot.connection.cursor().execute("SELECT id, src, dst FROM kg_edges").fetchall()
        assert {end for _, *ends in edges for end in ends} <= ids
        assert len({edge for edge, _, _ in edges}) == len(edges)
