"""Queries that try to write, read files, crash or hang: refused, or harmless, and quickly."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from ekr.cypher import CypherError, GraphSchema, Limits, run

from .conftest import fill

SECRET = "PATH-TO-SECRET"
REFUSED = [
    # writing, in every disguise
    "MATCH (n) SET n.name = 'x' RETURN n",
    "MATCH (n) /* */ SET /* */ n.name = 'x' RETURN n",
    "MATCH (n) // comment\n DELETE n",
    "match (n) detach delete n",
    "MATCH (n) REMOVE n:Person RETURN n",
    "MERGE (n:Person {name: 'x'}) ON CREATE SET n.x = 1 RETURN n",
    "MATCH (n) RETURN n; MATCH (m) DELETE m",
    "MATCH (n) RETURN n;; ",
    "MATCH (n) RETURN n UNION CREATE (m) RETURN m",
    "MATCH (n) WITH n CREATE (m) RETURN m",
    "MATCH (n) FOREACH (x IN [1] | SET n.x = x) RETURN n",
    "MATCH (n) CALL { CREATE (m) } RETURN n",
    "MATCH (n) CALL { WITH n CALL { CREATE (m) } } IN TRANSACTIONS RETURN n",
    "CALL apoc.cypher.runWrite('CREATE (n)', {}) YIELD value RETURN value",
    "CALL dbms.security.createUser('x', 'y')",
    "RETURN apoc.load.json('file:///etc/passwd')",
    "MATCH (n) WHERE EXISTS { CREATE (m) RETURN m } RETURN n",
    "MATCH (n) WHERE EXISTS { MATCH (n) DELETE n } RETURN n",
    "MATCH (n) RETURN COUNT { MATCH (n) SET n.x = 1 }",
    "MATCH (n) RETURN [(n)-->(m) | DELETE m]",
    "CREATE INDEX i FOR (n:Person) ON (n.name)",
    "DROP CONSTRAINT c",
    "USE other MATCH (n) RETURN n",
    "START n=node(*) RETURN n",
    "BEGIN TRANSACTION; COMMIT",
    "LOAD CSV WITH HEADERS FROM 'file:///etc/passwd' AS l RETURN l",
    "MATCH (n) LOAD CSV FROM 'http://localhost' AS l RETURN l",
    # SQL
    "SELECT * FROM read_csv('/etc/passwd')",
    "COPY kg_nodes TO '/tmp/out.csv'",
    "ATTACH '/tmp/x.db'",
    "INSTALL httpfs",
    "PRAGMA database_list",
    "MATCH (n) RETURN n.name FROM kg_nodes",
    "WITH RECURSIVE t AS (SELECT 1) SELECT * FROM t",
    "MATCH (n) RETURN read_text('/etc/passwd')",
    f"MATCH (n) RETURN read_csv_auto('{SECRET}')",
    "MATCH (n) RETURN getenv('HOME')",
    "MATCH (n) RETURN query('SELECT 1')",
    "MATCH (n) RETURN current_setting('home_directory')",
    "MATCH (n:`Person) UNION SELECT 1 --`) RETURN n",
    'MATCH (n:`"; DROP TABLE kg_nodes; --`) RETURN n',
    "MATCH (n)-[:`x' OR '1'='1`]->() RETURN n",
    'MATCH (n) RETURN n.`name" FROM kg_nodes; --`',
    # look-alikes and odd characters
    "ＭＡＴＣＨ (n) RETURN n",
    "MATCH (n) ＣＲＥＡＴＥ (m) RETURN n",
    "MАTCH (n) RETURN n",  # Cyrillic A
    "MATCH (n）RETURN n",
    "MATCH (n) RETURN n\u202e.name x",
    "MATCH (n) RETURN n\x00",
    "MATCH (n) RETURN '\ud800'",
    "MATCH (n) RETURN \u200bn \u200b",
    "MATCH (n) RETURN ‘x’",
    # size and depth
    "RETURN " + "(" * 9_000 + "1" + ")" * 8_999,
    "RETURN " + "[" * 4_000 + "]" * 4_000,
    "RETURN " + "NOT " * 4_000 + "true",
    "MATCH (n) RETURN " + "-" * 9_000 + "n.year AS x",
    "RETURN " + "{a: " * 3_000 + "1" + "}" * 3_000,
    "RETURN " + "CASE WHEN true THEN " * 900 + "1" + " END" * 900,
    "RETURN " + "1 + " * 4_500 + "1",
    "RETURN 'x' + " + "'" + "a" * 1_000_000 + "'",
    "MATCH (n) RETURN n " * 50_000,
    "MATCH " + ", ".join("(n)-->()" for _ in range(1_500)) + " RETURN n",
    "/*" * 9_000,
    "RETURN [" + ", ".join("[x IN [1] | x]" for _ in range(1_200)) + ", 'a'",
    "MATCH (n) RETURN n.name =~ '('",
    "RETURN 1 / 0",
    "RETURN 9223372036854775807 + 1",
    "RETURN range(1, 3, 0)",
]
HARMLESS = [
    "MATCH (n) WHERE n.name = 'CREATE (n) DELETE n' RETURN n",
    "MATCH (n) WHERE n.name = 'x; DROP TABLE kg_nodes' RETURN n",
    "MATCH (n) WHERE n.name CONTAINS 'https://example.org//x /* SET */' RETURN n",
    "MATCH (n) /* CREATE (m) */ RETURN count(n) // SET n.x = 1",
    "MATCH (`delete`) RETURN `delete`.name",
    "MATCH (set) RETURN set.name",
    "MATCH (n) RETURN n.name AS `create`",
    "MATCH (n) RETURN '\\u0027; DROP TABLE kg_nodes; --' AS x",
    "MATCH (n) WHERE n.name =~ '(a+)+$' RETURN n",
    "MATCH (n) WHERE n.name =~ '((((((((((a{0,9}){0,9}){0,9})))))))).*b' RETURN count(n)",
    "RETURN " + "(" * 4_000 + "1" + ")" * 4_000 + " AS one",
    "MATCH (n) WHERE n.name IN [" + ", ".join(f"'{i}'" for i in range(1_500)) + "] RETURN n",
    "MATCH (n) WHERE " + " OR ".join(f"n.year = {i}" for i in range(900)) + " RETURN n",
    "MATCH (a)-[*]-(b) RETURN count(*)",
]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, duckdb.DuckDBPyConnection, GraphSchema]]:
    path = tmp_path_factory.mktemp("hostile") / "graph.duckdb"
    with duckdb.connect(str(path)) as connection:
        fill(connection)
    connection = duckdb.connect(str(path), read_only=True)
    yield path, connection, GraphSchema.read(connection)
    connection.close()


def digest(path: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in path.parent.rglob("*") if p.is_file()}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_a_hostile_query_is_refused_quickly(
    stored: tuple[Path, duckdb.DuckDBPyConnection, GraphSchema], text: str
) -> None:
    path, connection, schema = stored
    before = digest(path)
    begin = time.perf_counter()
    with pytest.raises(CypherError) as caught:
        run(connection, schema, text.replace(SECRET, str(path)), limits=Limits(seconds=1.5))
    assert time.perf_counter() - begin < 2
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert digest(path) == before


@pytest.mark.parametrize("text", HARMLESS, ids=range(len(HARMLESS)))
def test_frightening_words_in_harmless_places_are_no_reason_to_refuse(
    stored: tuple[Path, duckdb.DuckDBPyConnection, GraphSchema], text: str
) -> None:
    path, connection, schema = stored
    before = digest(path)
    begin = time.perf_counter()
    run(connection, schema, text, limits=Limits(seconds=1.5))
    assert time.perf_counter() - begin < 2
    assert digest(path) == before


def test_there_are_sixty_of_them() -> None:
    assert len(set(REFUSED)) >= 60


def test_after_a_query_the_database_reaches_no_file(
    stored: tuple[Path, duckdb.DuckDBPyConnection, GraphSchema],
) -> None:
    _, connection, schema = stored
    run(connection, schema, "MATCH (n) RETURN n")
    with pytest.raises(duckdb.PermissionException):
        connection.cursor().execute("SELECT * FROM read_text('/etc/hostname')")
    with pytest.raises(duckdb.Error):
        connection.cursor().execute("SET enable_external_access = true")
