"""Patterns that nothing can match, and strings that no name is like, are named with what would fit."""

from __future__ import annotations

import duckdb
import pytest

from ekr.cypher import GraphSchema, run
from ekr.cypher.fit import (
    Joined,
    counts_itself,
    misfits,
    read_joined,
    turned,
    without_directions,
    without_impossible_labels,
)
from ekr.cypher.literals import string_literals, unknown_names, without_wrong_labels


@pytest.fixture(scope="module")
def joined(connection: duckdb.DuckDBPyConnection, schema: GraphSchema) -> Joined:
    return read_joined(connection, schema)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("MATCH (w:Work)-[:WROTE]->(p:Person) RETURN p", "MATCH (w:Work)<-[:WROTE]-(p:Person) RETURN p"),
        ("MATCH (p:Person)<-[r:WROTE]-(w:Work) RETURN p", "MATCH (p:Person)-[r:WROTE]->(w:Work) RETURN p"),
        (
            "MATCH (l:Place)-[:LIVED_IN]->(p:Person), (w:Work)-[:WROTE]->(p) RETURN p",
            "MATCH (l:Place)<-[:LIVED_IN]-(p:Person), (w:Work)<-[:WROTE]-(p) RETURN p",
        ),
    ],
)
def test_an_arrow_that_points_the_wrong_way_is_turned(
    schema: GraphSchema, joined: Joined, query: str, wanted: str
) -> None:
    assert len(misfits(query, schema, joined)) == query.count("[")
    assert turned(query, schema, joined) == wanted
    assert not misfits(wanted, schema, joined)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (p:Person)-[:WROTE]->(w:Work) RETURN p",
        "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a",
        "MATCH (a)<-[:WROTE]-(b) RETURN a",
        "MATCH (w:Work)-[:WROTE]-(p:Person) RETURN p",
        "MATCH (w:Work)-[:WROTE*1..2]->(p:Person) RETURN p",
        "MATCH (w:Work)-->(p:Person) RETURN p",
    ],
)
def test_what_may_match_stays_as_it_is(schema: GraphSchema, joined: Joined, query: str) -> None:
    assert misfits(query, schema, joined) == []
    assert turned(query, schema, joined) == query


def test_a_type_that_holds_both_ways_loses_its_direction() -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE kg_nodes AS SELECT id, 'Person' AS label, id AS name FROM unnest(['a', 'b']) t(id)"
    )
    connection.execute("CREATE TABLE kg_edges AS SELECT 'r' AS id, 'a' AS src, 'b' AS dst, 'WORK_WITH' AS type")
    schema = GraphSchema.read(connection)
    query = "MATCH (x)-[:WORK_WITH]->(y {name: 'a'}) RETURN x.name"
    mutual = turned(query, schema, read_joined(connection, schema))
    assert mutual == "MATCH (x)-[:WORK_WITH]-(y {name: 'a'}) RETURN x.name"
    assert run(connection, schema, mutual).rows == [("b",)]


def test_a_type_that_joins_other_labels_is_an_error_that_says_which(schema: GraphSchema, joined: Joined) -> None:
    query = "MATCH (p:Person)-[:LIVED_IN]->(w:Work) RETURN p"
    (error,) = misfits(query, schema, joined)
    assert (error.line, error.column) == (1, 17)
    assert "(:Person)-[:LIVED_IN]->(:Place)" in str(error)
    assert turned(query, schema, joined) == query


def test_without_directions_strings_stay(connection: duckdb.DuckDBPyConnection, schema: GraphSchema) -> None:
    query = "MATCH (a:Work)-[:WROTE]->(b) WHERE b.name <> '-[x]->' RETURN b.name"
    loose = without_directions(query)
    assert loose == "MATCH (a:Work)-[:WROTE]-(b) WHERE b.name <> '-[x]->' RETURN b.name"
    assert not run(connection, schema, query).rows
    assert run(connection, schema, loose).rows


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("n.name = 'Ada Lovlace'", "did you mean Ada Lovelace?"),
        ("n.name IN ['Notes', 'Turn']", "did you mean Turin?"),
        ("n.name CONTAINS 'Zaphod'", "no name in the graph is like 'Zaphod'"),
        ("n.name STARTS WITH 'Lovelace'", "did you mean Ada Lovelace?"),
        ("'london' = n.name", "did you mean London?"),
    ],
)
def test_a_string_that_no_name_is_like_is_named(
    connection: duckdb.DuckDBPyConnection, schema: GraphSchema, condition: str, told: str
) -> None:
    (error,) = unknown_names(connection, schema, f"MATCH (n) WHERE {condition} RETURN n")
    assert told in str(error)
    assert error.caret is not None


@pytest.mark.parametrize(
    "condition",
    ["n.name = 'London'", "n.name CONTAINS 'Love'", "n.name <> 'Nobody'", "n.text = 'x'", "n.name = n.description"],
)
def test_known_names_and_other_comparisons_are_not(
    connection: duckdb.DuckDBPyConnection, schema: GraphSchema, condition: str
) -> None:
    assert unknown_names(connection, schema, f"MATCH (n) WHERE {condition} RETURN n") == []


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("MATCH (a:Work) WHERE a.name = 'Turin' RETURN a", "MATCH (a) WHERE a.name = 'Turin' RETURN a"),
        (
            "MATCH (b)-->(a:Work|Chunk {year: 1}) WHERE 'Turin' = a.name RETURN a",
            "MATCH (b)-->(a{year: 1}) WHERE 'Turin' = a.name RETURN a",
        ),
        ("MATCH (a:Place) WHERE a.name = 'Turin' RETURN a", None),
        ("MATCH (a:Work) WHERE a.name = 'Nowhere' RETURN a", None),
        ("MATCH (a:Work) WHERE a.name <> 'Turin' RETURN a", None),
    ],
)
def test_a_label_that_the_name_contradicts_is_dropped(
    connection: duckdb.DuckDBPyConnection, schema: GraphSchema, query: str, wanted: str | None
) -> None:
    assert without_wrong_labels(connection, schema, query) == (wanted or query)


def test_a_label_where_the_type_joins_one_kind_only_is_dropped(schema: GraphSchema, joined: Joined) -> None:
    query = "MATCH (p:Place)-[:MENTIONS]->(w:Work) RETURN count(p)"
    assert without_impossible_labels(query, schema, joined) == "MATCH (p)-[:MENTIONS]->(w:Work) RETURN count(p)"
    for same in ("MATCH (p:Person)-[:WROTE]->(l:Work) RETURN p", "MATCH (p:Place)-[:DESCRIBES]-(w:Work) RETURN p"):
        assert without_impossible_labels(same, schema, joined) == same


def test_a_node_counted_beside_its_own_name_is_an_error(joined: Joined) -> None:
    error = counts_itself("MATCH (w:Work) RETURN w.name, count(DISTINCT w) AS n", joined)
    assert error is not None
    assert "(x)-[:DESIGNED]->(w)" in str(error)
    assert counts_itself("MATCH (w:Work)<--(p) RETURN w.name, count(p) AS n", joined) is None
    assert counts_itself("MATCH (w:Work) RETURN w.year, count(w) AS n", joined) is None


def test_strings_are_found_in_the_order_of_the_text() -> None:
    query = "MATCH (a {name: 'x'}) WHERE a.name IN ['y', 'z'] RETURN 'w' AS w"
    assert [literal.value for literal in string_literals(query)] == ["x", "y", "z", "w"]
