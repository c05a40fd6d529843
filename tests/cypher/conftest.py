"""A small graph of people and works, as the two relations a store offers."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from ekr.cypher import GraphSchema

NODES = [
    ("ada", "Person", "Ada Lovelace", "wrote the first program", 1815, None),
    ("charles", "Person", "Charles Babbage", "designed the Analytical Engine", 1791, None),
    ("luigi", "Person", "Luigi Menabrea", None, 1809, None),
    ("engine", "Work", "Analytical Engine", "a mechanical computer", 1837, None),
    ("notes", "Work", "Notes", "Ada's notes on the engine", 1843, None),
    ("sketch", "Work", "Sketch", "Menabrea's article", 1842, None),
    ("london", "Place", "London", None, None, None),
    ("turin", "Place", "Turin", None, None, None),
    ("c1", "Chunk", None, None, None, "Babbage designed the Analytical Engine."),
]
EDGES = [
    ("r1", "charles", "engine", "DESIGNED", 3.0),
    ("r2", "ada", "notes", "WROTE", 2.0),
    ("r3", "luigi", "sketch", "WROTE", 1.0),
    ("r4", "ada", "sketch", "TRANSLATED", 1.0),
    ("r5", "notes", "engine", "DESCRIBES", 2.0),
    ("r6", "sketch", "engine", "DESCRIBES", 1.0),
    ("r7", "ada", "charles", "KNOWS", 4.0),
    ("r8", "charles", "ada", "KNOWS", 1.0),
    ("r9", "charles", "luigi", "KNOWS", 1.0),
    ("r10", "ada", "london", "LIVED_IN", 1.0),
    ("r11", "charles", "london", "LIVED_IN", 1.0),
    ("r12", "luigi", "turin", "LIVED_IN", 1.0),
    ("r13", "c1", "engine", "MENTIONS", None),
    ("r14", "notes", "notes", "DESCRIBES", 0.5),
]


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "CREATE TABLE kg_nodes "
        "(id VARCHAR, label VARCHAR, name VARCHAR, description VARCHAR, year INTEGER, text VARCHAR)"
    )
    connection.execute("CREATE TABLE kg_edges (id VARCHAR, src VARCHAR, dst VARCHAR, type VARCHAR, weight DOUBLE)")
    connection.executemany("INSERT INTO kg_nodes VALUES (?, ?, ?, ?, ?, ?)", NODES)
    connection.executemany("INSERT INTO kg_edges VALUES (?, ?, ?, ?, ?)", EDGES)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    found = duckdb.connect()
    fill(found)
    yield found
    found.close()


@pytest.fixture(scope="module")
def schema(connection: duckdb.DuckDBPyConnection) -> GraphSchema:
    return GraphSchema.read(connection)
