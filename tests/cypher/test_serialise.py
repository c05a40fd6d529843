"""Values as JSON and as a line of text."""

from __future__ import annotations

import json

import duckdb
import pytest

from ekr.cypher import GraphSchema, run
from ekr.cypher.serialise import plain, shown


def value(connection: duckdb.DuckDBPyConnection, schema: GraphSchema, query: str) -> object:
    ((found,),) = run(connection, schema, query).rows
    return found


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("MATCH (p {name: 'Turin'}) RETURN p", "Turin"),
        ("MATCH (c:Chunk) RETURN c", "Chunk c1"),
        ("MATCH (a {name: 'Sketch'})<-[r:WROTE]-() RETURN r", "[WROTE]"),
        ("MATCH p = (a {name: 'Sketch'})<-[:WROTE]-() RETURN p", "Sketch <-[WROTE]- Luigi Menabrea"),
        ("MATCH p = ()-[:TRANSLATED]->() RETURN p", "Ada Lovelace -[TRANSLATED]-> Sketch"),
        ("RETURN [1, null, 2][0..2]", "1, "),
        ("RETURN {a: 1, b: true}", "a: 1, b: true"),
        ("RETURN 1.0 / 3", "0.333333"),
        ("RETURN null", ""),
    ],
)
def test_a_value_is_one_line_for_people(
    connection: duckdb.DuckDBPyConnection, schema: GraphSchema, query: str, text: str
) -> None:
    found = value(connection, schema, query)
    assert shown(found) == text
    json.dumps(plain(found), allow_nan=False)


def test_numbers_that_json_lacks_are_strings() -> None:
    assert plain([float("nan"), float("inf"), -float("inf"), 1.5]) == ["NaN", "Infinity", "-Infinity", 1.5]


def test_a_path_holds_whole_nodes(connection: duckdb.DuckDBPyConnection, schema: GraphSchema) -> None:
    found = plain(value(connection, schema, "MATCH p = ()-[:TRANSLATED]->() RETURN p"))
    assert [node["properties"]["name"] for node in found["nodes"]] == ["Ada Lovelace", "Sketch"]
    assert found["relationships"][0] == {
        "id": "r4", "type": "TRANSLATED", "start": "ada", "end": "sketch", "properties": {"weight": 1.0},
    }  # fmt: skip
