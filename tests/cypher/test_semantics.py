"""Where Cypher's meaning is easily missed, one line each."""

# ruff: noqa: E501 - one query and its rows a line

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from ekr.cypher import GraphSchema, run


@pytest.fixture(scope="module")
def knots() -> tuple[duckdb.DuckDBPyConnection, GraphSchema]:
    """a =(two parallel)=> b, a -> a, b -> c, c -> a; d alone; rank null on d."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE kg_nodes AS SELECT * FROM (VALUES ('a', 'X', 1), ('b', 'X', 2), ('c', 'Y', 2), ('d', 'Y', NULL)) "
        "t(id, label, rank)"
    )
    connection.execute(
        "CREATE TABLE kg_edges AS SELECT * FROM (VALUES ('1', 'a', 'b', 'T', 5), ('2', 'a', 'b', 'T', 6), "
        "('3', 'a', 'a', 'T', 7), ('4', 'b', 'c', 'U', 8), ('5', 'c', 'a', 'U', NULL)) t(id, src, dst, type, w)"
    )
    return connection, GraphSchema.read(connection)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        # relationship uniqueness holds within a MATCH and not between two
        ("MATCH (x)-[r]-(y)-[s]-(x) RETURN count(*)", [(4,)]),
        ("MATCH (x)-[r]-(y) MATCH (y)-[s]-(x) RETURN count(*)", [(13,)]),
        ("MATCH (x)-[:T]->(y), (x)-[:T]->(z) RETURN count(*)", [(6,)]),
        # a self-loop once when undirected, parallel relationships each
        ("MATCH (x {id: 'a'})--(y) RETURN id(y) AS y, count(*) AS n ORDER BY y", [("a", 1), ("b", 2), ("c", 1)]),
        ("MATCH (x)-[r]-(x) RETURN count(*)", [(1,)]),
        # walks use no relationship twice, nodes they may
        ("MATCH (x {id: 'a'})-[*]->(y {id: 'a'}) RETURN count(*)", [(7,)]),
        ("MATCH (x {id: 'd'})-[*0..]-(y) RETURN id(y)", [("d",)]),
        ("MATCH (x {id: 'd'})-[*]-(y) RETURN id(y)", []),
        ("MATCH p = (x {id: 'b'})-[:U*2]->(y) RETURN length(p), [r IN relationships(p) | id(r)]", [(2, ["4", "5"])]),
        ("MATCH p = (y)<-[r:U*2]-(x {id: 'b'}) RETURN [n IN nodes(p) | id(n)], [e IN r | e.w]", [(["a", "c", "b"], [None, 8])]),
        ("MATCH (x {id: 'a'})-[*1..3]-(y) RETURN count(DISTINCT y)", [(3,)]),
        # shortest paths
        ("MATCH p = shortestPath((x {id: 'a'})-[*]-(y {id: 'c'})) RETURN length(p)", [(1,)]),
        ("MATCH p = shortestPath((x {id: 'a'})-[*]->(y {id: 'c'})) RETURN length(p)", [(2,)]),
        ("MATCH p = allShortestPaths((x {id: 'a'})-[*]->(y {id: 'c'})) RETURN length(p)", [(2,), (2,)]),
        ("MATCH p = shortestPath((x {id: 'a'})-[*..5]-(y {id: 'd'})) RETURN p", []),
        # optional parts
        ("MATCH (x:Y) OPTIONAL MATCH (x)-[r]->(y) RETURN id(x), type(r), y.rank ORDER BY id(x)", [("c", "U", 1), ("d", None, None)]),
        ("MATCH (x:Y) OPTIONAL MATCH (x)-[r]->(y) WHERE y.rank > 5 RETURN count(x), count(y)", [(2, 0)]),
        ("OPTIONAL MATCH (x:X {id: 'zz'}) RETURN x", [(None,)]),
        ("OPTIONAL MATCH (x:X {id: 'zz'}) MATCH (x) RETURN x", []),
        ("OPTIONAL MATCH (x:X {id: 'zz'}) MATCH (x)-->(y) RETURN y", []),
        ("OPTIONAL MATCH (x:X {id: 'zz'}) RETURN x.rank, labels(x), x:X, (x)-->()", [(None, None, None, False)]),
        # null
        ("MATCH (x) WHERE x.rank <> 1 RETURN count(*)", [(2,)]),
        ("MATCH (x) WHERE NOT x.rank = 1 RETURN count(*)", [(2,)]),
        ("MATCH (x {rank: null}) RETURN x", []),
        ("RETURN null = null, null IS NULL, 1 IN [2, null], 1 IN [1, null], null IN [], NOT null", [(None, True, None, True, False, None)]),
        ("RETURN null AND false, null AND true, null OR true, null XOR true", [(False, None, True, None)]),
        ("RETURN any(x IN [1, null] WHERE x = 2), all(x IN [1, null] WHERE x = 1), none(x IN [] WHERE x = 1)", [(None, None, True)]),
        ("RETURN [1, 2, null] + null, size(null), coalesce(null, null, 3)", [(None, None, 3)]),
        # order
        ("MATCH (x) RETURN id(x) ORDER BY x.rank, id(x)", [("a",), ("b",), ("c",), ("d",)]),
        ("MATCH (x) RETURN id(x) ORDER BY x.rank DESC, id(x) DESC", [("d",), ("c",), ("b",), ("a",)]),
        ("MATCH (x) WITH x ORDER BY id(x) DESC RETURN collect(id(x))", [(["d", "c", "b", "a"],)]),
        ("MATCH (x) WITH x ORDER BY id(x) DESC LIMIT 3 RETURN id(x)", [("d",), ("c",), ("b",)]),
        ("MATCH (x) RETURN x.rank AS r, count(*) AS n ORDER BY count(*) DESC, r", [(2, 2), (1, 1), (None, 1)]),
        # grouping
        ("MATCH (x) RETURN x.rank, collect(id(x)) AS ids ORDER BY x.rank SKIP 2", [(None, ["d"])]),
        ("MATCH (x {id: 'zz'}) RETURN count(x), sum(x.rank), avg(x.rank), collect(x)", [(0, 0, None, [])]),
        ("MATCH (x {id: 'zz'}) RETURN x.rank, count(*)", []),
        ("MATCH (x) RETURN count(x.rank), count(DISTINCT x.rank), sum(DISTINCT x.rank), max(x.rank) - min(x.rank)", [(3, 2, 3, 1)]),
        ("MATCH (x)-[r]->() WITH x, count(r) AS n RETURN max(n), stDevP(n), percentileDisc(n, 0.5)", [(3, 0.9428090415820634, 1)]),
        ("UNWIND [1, 1.0, 2] AS x RETURN DISTINCT x", [(1.0,), (2.0,)]),
        # arithmetic
        ("RETURN 7 / 2, -7 / 2, 7 / 2.0, -7 % 3, 2 ^ 2, 1 + 1.5", [(3, -3, 3.5, -1, 4.0, 2.5)]),
        ("RETURN 'a' + 1 + true, [1] + 2, 0 + [1], round(-1.5), round(2.5)", [("a1true", [1, 2], [0, 1], -1.0, 3.0)]),
        ("RETURN [1, 2, 3][5], [1, 2, 3][-1], [1, 2, 3][1..-1], [1, 2, 3][-5..1], [][0]", [(None, 3, [2], [1], None)]),
        ("RETURN range(3, 1), range(3, 1, -1), toInteger('3.9'), toInteger('x'), split('a,,b', ',')", [([], [3, 2, 1], 3, None, ["a", "", "b"])]),
        ("RETURN 'Ab' =~ 'a', 'Ab' =~ '(?i)ab', 'Ab' CONTAINS 'b', 'ab' < 'b', 'Z' < 'a'", [(False, True, True, True, True)]),
        ("RETURN CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END, CASE WHEN null THEN 1 ELSE 2 END, CASE WHEN false THEN 1 END", [("b", 2, None)]),
        # scope
        ("MATCH (x {id: 'a'}) WITH x AS y MATCH (y)-[:T]->(x) RETURN id(x) ORDER BY id(x)", [("a",), ("b",), ("b",)]),
        ("UNWIND [1, 2] AS x UNWIND [x, x * 10] AS y RETURN y", [(1,), (10,), (2,), (20,)]),
        ("UNWIND [] AS x RETURN x", []),
        ("UNWIND null AS x RETURN x", []),
        ("WITH [1, 2] AS xs RETURN [x IN xs | [y IN xs WHERE y >= x | y]]", [([[1, 2], [2]],)]),
        ("MATCH (x {id: 'a'}) RETURN [(x)-[r:T]->(y) WHERE r.w = 6 | r.w + size([(y)-->(z) | z])] AS n", [([7],)]),
        ("MATCH (x) WHERE EXISTS { (x)-->(y) WHERE EXISTS { (y)-[:U]->(z) WHERE z.rank <> x.rank } } RETURN id(x)", [("a",), ("b",)]),
        ("RETURN 1 AS a UNION ALL RETURN 1 AS a UNION ALL RETURN 2 AS a", [(1,), (1,), (2,)]),
        ("RETURN 1 AS a, 2 AS b UNION RETURN 2 AS b, 1 AS a", [(1, 2)]),
    ],
)  # fmt: skip
def test_what_a_query_means(
    knots: tuple[duckdb.DuckDBPyConnection, GraphSchema], query: str, rows: list[tuple[Any, ...]]
) -> None:
    connection, schema = knots
    found = run(connection, schema, query).rows
    if "ORDER BY" in query or "UNWIND" in query:
        assert found == rows
    assert sorted(found, key=repr) == sorted(rows, key=repr)
