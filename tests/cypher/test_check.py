from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from ekr.cypher import CypherError, GraphSchema, compile_query

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "cypher"


@pytest.mark.parametrize(
    ("text", "says", "suggestion"),
    [
        ("MATCH (p:Persn) RETURN p", "unknown label 'Persn'; did you mean Person?", "Person"),
        ("MATCH (p:Zzz) RETURN p", "labels: Person", None),
        ("MATCH (p)-[:WROTTE]->() RETURN p", "unknown relationship type 'WROTTE'; did you mean WROTE?", "WROTE"),
        ("MATCH (p) WHERE p:Persn RETURN p", "unknown label", "Person"),
        ("MATCH (p:Person) RETURN p.nmae", "did you mean name?", "name"),
        ("MATCH (p:Person {nmae: 'x'}) RETURN p", "did you mean name?", "name"),
        ("MATCH (p:Person) RETURN p.text", "unknown property of Person 'text'", None),
        ("MATCH (p:Person) RETURN p.label", "write labels(n)", None),
        ("MATCH ()-[r]->() RETURN r.type", "write type(r)", None),
        ("MATCH ()-[r]->() RETURN r.wieght", "did you mean weight?", "weight"),
        ("MATCH (person:Person) RETURN persn.name", "unknown variable 'persn'; did you mean person?", "person"),
        ("MATCH (p) RETURN tolowr(p.name)", "did you mean toLower?", "toLower"),
        ("MATCH (p) RETURN substring(p.name)", "substring(text, start, length)", None),
        ("MATCH (p) WHERE count(p) > 1 RETURN p", "WITH … WHERE", None),
        ("MATCH (p) RETURN count(count(p))", "aggregate", None),
        ("MATCH (p) RETURN p.name, p.year + count(*)", "stands beside an aggregate", None),
        ("MATCH (p) RETURN DISTINCT p.name ORDER BY p.year", "sort only by what is returned", None),
        ("MATCH (p) WITH p.name RETURN 1", "with AS", None),
        ("MATCH (p) WITH p.name AS n WHERE p.year > 1 RETURN n", "WITH p, …", None),
        ("MATCH (p) RETURN p.name AS x, p.year AS x", "two columns", None),
        ("MATCH (p) RETURN p.name AS a UNION MATCH (p) RETURN p.name AS b", "different columns", None),
        ("MATCH (p) RETURN $x", "unknown parameter '$x'", None),
        ("RETURN *", "nothing to return", None),
        ("MATCH (a)-[r]->(b)-[r]->(c) RETURN a", "stands twice", None),
        ("MATCH (a)-[r]->(b) MATCH (r)-->(c) RETURN a", "'r' is a relationship, not a node", None),
        ("MATCH p = (a)-->(b) RETURN p.name", "nodes(p)", None),
        ("MATCH (a) WHERE (a)-->(b) RETURN a", "binds nothing new", None),
        ("MATCH (a) UNWIND [1] AS a RETURN a", "already exists", None),
        ("MATCH p = shortestPath((a)-[*]->(b)) WHERE length(p) > 2 RETURN p", "WITH … WHERE", None),
        ("MATCH (a) RETURN a.name = 1", "String and Integer cannot be compared", None),
        ("MATCH (a) WHERE a.name RETURN a", "must be Boolean", None),
        ("MATCH (a) RETURN a < a", "has no order", None),
        ("RETURN [1, 'a']", "must have one type", None),
        ("RETURN 1 + true", "cannot be added", None),
        ("MATCH (a) RETURN sum(a.name)", "argument of sum()", None),
        ("MATCH (a) RETURN a LIMIT -1", "not negative", None),
        ("MATCH (a) RETURN toUpper(a.year)", "must be String, not Integer", None),
        ("MATCH (a)-[*2..3]-(b), q = shortestPath((a)-[*2..]-(b)) RETURN q", "starts at 0 or 1", None),
    ],
)  # fmt: skip
def test_a_wrong_query_is_refused_with_what_to_do(
    schema: GraphSchema, text: str, says: str, suggestion: str | None
) -> None:
    with pytest.raises(CypherError) as caught:
        compile_query(text, schema)
    assert says in str(caught.value)
    assert caught.value.suggestion == suggestion
    assert caught.value.line == 1
    assert caught.value.caret is not None


def test_labels_types_and_properties_match_in_any_case(schema: GraphSchema) -> None:
    query = compile_query("MATCH (p:person)-[r:wrote]->(w:WORK) RETURN p.NAME, r.Weight", schema)
    assert query.columns == ("p.NAME", "r.Weight")


def test_an_error_of_a_union_points_into_the_second_part(schema: GraphSchema) -> None:
    with pytest.raises(CypherError) as caught:
        compile_query("MATCH (p:Person) RETURN p.name AS n UNION\nMATCH (q:Wrok) RETURN q.name AS n", schema)
    assert (caught.value.line, caught.value.column, caught.value.suggestion) == (2, 10, "Work")


def test_no_literal_or_name_of_the_user_is_in_the_sql(schema: GraphSchema) -> None:
    text = (
        "MATCH (`x\"; DROP`:Person {name: 'secret one'}) WHERE `x\"; DROP`.description =~ 'secret two' "
        "AND `x\"; DROP`.year IN [424242] RETURN {`key\"'`: 'secret three'} AS `out\"`"
    )
    query = compile_query(text, schema)
    for word in ("secret", "DROP", "424242", "key", "; ", 'out"'):
        assert word not in query.sql
    assert "secret one" in query.values.values()


@pytest.mark.shared
def test_what_must_be_refused_is_refused_usefully() -> None:
    if not DATA.is_dir():
        pytest.skip("the evaluation data (../shared/data) is not there")
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE kg_nodes AS "
        "SELECT 'a' AS id, l AS label, 'x' AS name, 'd' AS description, 1 AS rank, 1900 AS year "
        "FROM unnest(['Person', 'Organization', 'Concept']) t(l)"
    )
    connection.execute(
        "CREATE TABLE kg_edges AS SELECT 'r' AS id, 'a' AS src, 'a' AS dst, l AS type, 0.5 AS weight "
        "FROM unnest(['KNOWS', 'WORKS_FOR', 'FOUNDED']) t(l)"
    )
    schema = GraphSchema.read(connection)
    useful = {"read-only", "SQL", "did you mean", "missing", "labels", "types", "variables", "functions", "no GROUP BY"}
    for line in (DATA / "rejected.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)["cypher"]
        with pytest.raises(CypherError) as caught:
            compile_query(query, schema)
        assert any(word in str(caught.value) for word in useful), str(caught.value)
        assert caught.value.line is not None
