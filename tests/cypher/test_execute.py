from __future__ import annotations

import os
import signal
import threading
import time

import duckdb
import pytest

from ekr.cypher import (
    CypherError,
    CypherMemory,
    CypherTimeout,
    GraphSchema,
    Limits,
    Node,
    Path,
    Relationship,
    read_connections,
    run,
)
from ekr.errors import StoreError


def test_nodes_relationships_and_paths_come_back_whole(
    connection: duckdb.DuckDBPyConnection, schema: GraphSchema
) -> None:
    result = run(connection, schema, "MATCH p = (a {name: 'Ada Lovelace'})-[r:WROTE]->(w) RETURN a, r, p, [w] AS list")
    ((node, relationship, path, listed),) = result.rows
    assert node == Node(
        "ada", ("Person",), {"name": "Ada Lovelace", "description": "wrote the first program", "year": 1815}
    )
    assert relationship == Relationship("r2", "WROTE", "ada", "notes", {"weight": 2.0})
    assert isinstance(path, Path)
    assert [n.id for n in path.nodes] == ["ada", "notes"]
    assert path.relationships == (relationship,)
    assert listed == [path.nodes[1]]
    assert result.node_ids == ("ada", "notes")
    assert result.columns == ("a", "r", "p", "list")
    assert result.seconds > 0


def test_a_cut_by_the_row_limit_is_reported(connection: duckdb.DuckDBPyConnection, schema: GraphSchema) -> None:
    text = "MATCH (n) RETURN n.name ORDER BY n.name"
    cut = run(connection, schema, text, limits=Limits(rows=3))
    assert (len(cut.rows), cut.truncated) == (3, True)
    assert cut.rows == run(connection, schema, text).rows[:3]
    exact = run(connection, schema, text + " LIMIT 3", limits=Limits(rows=3))
    assert (len(exact.rows), exact.truncated) == (3, False)


def test_maps_and_properties(connection: duckdb.DuckDBPyConnection, schema: GraphSchema) -> None:
    result = run(
        connection,
        schema,
        "MATCH (n {name: 'London'}) RETURN {name: n.name, year: n.year, inner: {node: n}} AS m, properties(n) AS p, "
        "keys(n) AS k, {a: 1}.a AS one, $map.x AS two",
        {"map": {"x": 2, "y": None}},
    )
    ((made, properties, keys, one, two),) = result.rows
    assert made == {"name": "London", "year": None, "inner": {"node": Node("london", ("Place",), {"name": "London"})}}
    assert properties == {"name": "London"}
    assert (keys, one, two) == (["name"], 1, 2)
    assert result.node_ids == ("london",)


@pytest.fixture(scope="module")
def dense() -> tuple[duckdb.DuckDBPyConnection, GraphSchema]:
    """Forty nodes, each with a relationship to each: walks without end."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE kg_nodes AS SELECT 'n' || i AS id, 'Thing' AS label, i AS rank FROM range(40) t(i)"
    )
    connection.execute(
        "CREATE TABLE kg_edges AS SELECT 'r' || i || '-' || j AS id, 'n' || i AS src, 'n' || j AS dst, 'NEXT' AS type "
        "FROM range(40) a(i), range(40) b(j) WHERE i <> j"
    )
    return connection, GraphSchema.read(connection)


@pytest.mark.parametrize("pattern", ["(a)-[*]->(b)", "p = (a)-[*1..9]-(b)"])
def test_walks_without_end_reach_a_limit_loudly(
    dense: tuple[duckdb.DuckDBPyConnection, GraphSchema], pattern: str
) -> None:
    connection, schema = dense
    begin = time.perf_counter()
    with pytest.raises((CypherTimeout, CypherMemory)) as caught:
        run(connection, schema, f"MATCH {pattern} RETURN count(*)", limits=Limits(seconds=1, memory_mb=256))
    assert time.perf_counter() - begin < 3
    assert "bound the length" in str(caught.value)
    assert run(connection, schema, "MATCH (n) RETURN count(*)").rows == [(40,)]


def test_ctrl_c_ends_a_long_query_at_once_and_is_no_error_of_the_query(
    connection: duckdb.DuckDBPyConnection, schema: GraphSchema
) -> None:
    text = "UNWIND range(1, 2000000) AS x UNWIND range(1, 10000) AS y RETURN sum(x * y % 7)"
    stop = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    stop.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        run(connection, schema, text, limits=Limits(seconds=60))
    signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - begin < 10
    assert run(connection, schema, "MATCH (n {name: 'Ada Lovelace'}) RETURN n.year").rows == [(1815,)]


def test_an_unbounded_walk_ends_when_only_its_ends_matter(
    dense: tuple[duckdb.DuckDBPyConnection, GraphSchema],
) -> None:
    connection, schema = dense
    for arrow in ("-[*]->", "-[*]-", "-[:NEXT*0..]->"):
        text = f"MATCH (a {{rank: 0}}){arrow}(b) RETURN count(DISTINCT b) AS n"
        assert run(connection, schema, text).rows == [(40,)]
    assert run(connection, schema, "MATCH (a {rank: 0}) WHERE (a)-[*]->({rank: 7}) RETURN a.rank").rows == [(0,)]


def test_a_failure_in_the_database_is_one_line_and_never_an_empty_result(
    connection: duckdb.DuckDBPyConnection, schema: GraphSchema
) -> None:
    for text, says in (
        ("MATCH (n) WHERE n.name =~ '[' RETURN n", "missing ]"),
        ("MATCH (n) RETURN n.year / 0", "zero"),
        ("RETURN range(1, 5, 0)", "must not be 0"),
        ("RETURN 9223372036854775807 + 1", "verflow"),
    ):
        with pytest.raises(CypherError) as caught:
            run(connection, schema, text)
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)
        assert "SET " not in str(caught.value)


def test_queries_run_side_by_side_on_one_connection(connection: duckdb.DuckDBPyConnection, schema: GraphSchema) -> None:
    found: list[object] = []

    def ask() -> None:
        for _ in range(5):
            found.append(run(connection, schema, "MATCH (p:Person)-[:KNOWS]->(q) RETURN count(*)").rows)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(3,)]] * 20


def test_a_query_can_not_write_even_if_its_sql_could(
    connection: duckdb.DuckDBPyConnection, schema: GraphSchema, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ekr.cypher import CompiledQuery, execute

    sql = "INSERT INTO kg_nodes (id) VALUES ('x') RETURNING id"
    monkeypatch.setattr(execute, "compile_query", lambda *_, **__: CompiledQuery(sql, {}, (), ()))
    with pytest.raises(CypherError, match="read-only"):
        run(connection, schema, "RETURN 1")


def test_the_schema_counts_and_orders_by_frequency(connection: duckdb.DuckDBPyConnection, schema: GraphSchema) -> None:
    assert dict(schema.labels) == {"Person": 3, "Work": 3, "Place": 2, "Chunk": 1}
    assert next(iter(schema.types.items())) == ("DESCRIBES", 3)
    assert schema.label_properties["Chunk"] == ("text",)
    described = schema.describe()
    assert described["labels"][0] == {
        "label": "Person",
        "count": 3,
        "properties": {"name": "String", "description": "String", "year": "Integer"},
    }
    assert read_connections(connection, schema)[0] == ("Person", "KNOWS", "Person", 3)


def test_several_labels_of_one_node() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE kg_nodes AS SELECT 'a' AS id, ['Person', 'Author'] AS labels, 'Ada' AS name")
    connection.execute("CREATE TABLE kg_edges (id VARCHAR, src VARCHAR, dst VARCHAR, type VARCHAR)")
    schema = GraphSchema.read(connection)
    assert dict(schema.labels) == {"Author": 1, "Person": 1}
    assert run(connection, schema, "MATCH (n:Person:Author) RETURN labels(n), n.name").rows == [
        (["Person", "Author"], "Ada")
    ]
    assert run(connection, schema, "MATCH (n) WHERE n:author RETURN n").rows[0][0].labels == ("Person", "Author")


def test_an_empty_graph_answers_and_names_what_is_missing() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE kg_nodes (id VARCHAR, label VARCHAR, name VARCHAR)")
    connection.execute("CREATE TABLE kg_edges (id VARCHAR, src VARCHAR, dst VARCHAR, type VARCHAR)")
    schema = GraphSchema.read(connection)
    assert run(connection, schema, "MATCH (n)-[r]->(m) RETURN count(*)").rows == [(0,)]
    with pytest.raises(CypherError, match="unknown label 'Person'; there are none"):
        run(connection, schema, "MATCH (n:Person) RETURN n")


def test_a_database_without_a_graph_says_what_to_do() -> None:
    connection = duckdb.connect()
    with pytest.raises(StoreError, match="ekr ingest"):
        GraphSchema.read(connection)
    connection.execute("CREATE TABLE kg_nodes (id VARCHAR, label VARCHAR)")
    connection.execute("CREATE TABLE kg_edges (id VARCHAR, src VARCHAR)")
    with pytest.raises(StoreError, match="no column dst, type"):
        GraphSchema.read(connection)
