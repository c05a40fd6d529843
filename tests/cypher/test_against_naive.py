"""Random queries on random graphs give what the definition says.

`EKR_CYPHER_CASES` sets how many (default 150); `EKR_CYPHER_SEED` where to begin.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import pytest

from ekr.cypher import GraphSchema, Limits, Node, Path, Relationship, run

from .naive import N, P, R, TooBig, evaluate
from .random_queries import Generator, load, random_graph

CASES = int(os.environ.get("EKR_CYPHER_CASES", "150"))
SEED = int(os.environ.get("EKR_CYPHER_SEED", "0"))
PER_GRAPH = 10
PARAMETERS = {"two": 2, "word": "Bob", "list": [2, 0, None]}


def canonical(value: Any, ordered: bool) -> Any:
    if isinstance(value, N | Node | R | Relationship):
        return ("entity", value.id)
    if isinstance(value, P | Path):
        return ("path", *(canonical(list(v), True) for v in (value.nodes, value.relationships)))
    if isinstance(value, list | tuple):
        items = [canonical(v, ordered) for v in value]
        return ("list", *(items if ordered else sorted(items, key=repr)))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return round(float(value), 6) + 0.0


@pytest.mark.parametrize("block", range((CASES + PER_GRAPH - 1) // PER_GRAPH))
def test_random_queries_equal_the_definition(block: int) -> None:
    seed = SEED + block
    rng = random.Random(seed)
    several = seed % 2 == 1
    graph = random_graph(rng, several)
    connection = load(graph, several)
    schema = GraphSchema.read(connection)
    checked = number = 0
    while checked < PER_GRAPH:
        number += 1
        generator = Generator(random.Random(seed * 1000 + number), dict(PARAMETERS))
        text = generator.query()
        try:
            columns, wanted = evaluate(graph, text, PARAMETERS)
        except TooBig:
            continue
        checked += 1
        bags = {name for name, kind in generator.columns if kind == "bag"}
        result = run(connection, schema, text, PARAMETERS, Limits(rows=100_000, seconds=30))
        assert list(result.columns) == columns

        def bag(rows: Any, columns: list[str] = columns, bags: set[str] = bags) -> Counter[Any]:
            return Counter(
                tuple(canonical(v, name not in bags) for name, v in zip(columns, row, strict=True)) for row in rows
            )

        assert bag(result.rows) == bag(wanted), f"seed {seed}, case {number}: {text}"
        if "ORDER BY" in text.split("RETURN")[-1] and "UNION" not in text:
            got = [tuple(canonical(v, True) for v in row) for row in result.rows]
            assert got == [tuple(canonical(v, True) for v in row) for row in wanted], text
    connection.close()


@pytest.mark.parametrize("seed", range(6))
def test_the_distinct_ends_of_walks_equal_the_definition(seed: int) -> None:
    """Breadth-first search stands in for listing walks; a walk back to its start is the hard case."""
    graph = random_graph(random.Random(100 + seed), False)
    connection = load(graph, False)
    schema = GraphSchema.read(connection)
    for length in ("*", "*0..", "*1..1", "*1..2", "*..3", "*0..2", "*1..5", "*0..0", ":KNOWS*", ":KNOWS|HAS*1..3"):
        for left, right in (("-", "->"), ("<-", "-"), ("-", "-")):
            text = f"MATCH (a){left}[{length}]{right}(b) RETURN DISTINCT a, b"
            wanted = {(row[0].id, row[1].id) for row in evaluate(graph, text, {})[1]}
            result = run(connection, schema, text)
            assert "edges" not in result.sql.replace("kg_edges", ""), "this is not the quick way"
            assert {(row[0].id, row[1].id) for row in result.rows} == wanted, text
            condition = f"MATCH (a), (b) WHERE (a){left}[{length}]{right}(b) RETURN a, b"
            assert {(row[0].id, row[1].id) for row in run(connection, schema, condition).rows} == wanted, condition
    connection.close()
