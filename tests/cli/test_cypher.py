"""`ekr cypher` as a real process."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.conftest import Ekr

DOCUMENTS = "MATCH (d:Document) RETURN d.name, d.document, d.format ORDER BY d.document"


def test_a_query_is_a_table_for_people(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("cypher", DOCUMENTS, "--store", notes_store)
    assert done.returncode == 0, done.stderr
    heading, *rows = [line.split() for line in done.stdout.splitlines()]
    assert heading == ["d.name", "d.document", "d.format"]
    assert [row[-2] for row in rows] == ["engines.md", "people/lovelace.txt", "reglement.md"]
    assert done.stderr.startswith("3 rows · ")
    assert ekr("cypher", DOCUMENTS, "--quiet", "--store", notes_store).stderr == ""


def test_json_is_one_documented_object_with_whole_nodes(ekr: Ekr, notes_store: Path) -> None:
    query = "MATCH p = (c:Chunk)-[r:PART_OF]->(d:Document {document: 'engines.md'}) RETURN p, r, d LIMIT 1"
    done = ekr("cypher", query, "--json", "--store", notes_store)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result) == {"query", "columns", "rows", "truncated", "notes", "seconds"}
    assert result["columns"] == ["p", "r", "d"]
    ((path, relationship, node),) = result["rows"]
    assert node["labels"] == ["Document"]
    assert node["properties"]["document"] == "engines.md"
    assert (relationship["type"], relationship["end"]) == ("PART_OF", node["id"])
    assert path["nodes"][1] == node
    assert path["relationships"] == [relationship]


def test_csv_has_names_then_rows_and_nested_values_as_json(ekr: Ekr, notes_store: Path) -> None:
    query = (
        "MATCH (d:Document) RETURN d.document, collect(d.format) AS formats, null AS none, 2 AS n ORDER BY d.document"
    )
    done = ekr("cypher", query, "--csv", "--store", notes_store)
    heading, first, *_ = list(csv.reader(io.StringIO(done.stdout)))
    assert heading == ["d.document", "formats", "none", "n"]
    assert first == ["engines.md", '["markdown"]', "", "2"]


def test_a_query_comes_from_standard_input_and_takes_parameters(ekr: Ekr, notes_store: Path) -> None:
    query = "MATCH (d:Document)\nWHERE d.document = $name AND $n > 1\nRETURN d.format\n"
    given = ("--param", "name=engines.md", "--param", "n=2")
    done = ekr("cypher", "-", *given, "--json", "--store", notes_store, input=query)
    assert json.loads(done.stdout)["rows"] == [["markdown"]]


def test_the_schema_lists_labels_types_properties_and_counts(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("cypher", "--schema", "--json", "--store", notes_store)
    facts = json.loads(done.stdout)
    labels = {row["label"]: row for row in facts["labels"]}
    assert labels["Document"]["count"] == 3
    assert labels["Document"]["properties"]["format"] == "String"
    types = {row["type"]: row for row in facts["relationship_types"]}
    (joined,) = [c for c in types["PART_OF"]["connects"] if c["source"] == "Chunk"]
    assert joined["target"] == "Document"
    assert joined["count"] == labels["Chunk"]["count"]
    shown = ekr("cypher", "--schema", "--store", notes_store, env={"COLUMNS": "200"}).stdout
    assert "Chunk → Document" in shown


def test_explain_prints_the_sql_and_runs_nothing(ekr: Ekr, notes_store: Path) -> None:
    query = "MATCH (d:Document {document: 'engines.md'}) RETURN d.name"
    shown = ekr("cypher", query, "--explain", "--store", notes_store).stdout
    assert "SELECT" in shown
    assert "= 'engines.md'" in shown
    plain = json.loads(ekr("cypher", query, "--explain", "--json", "--store", notes_store).stdout)
    assert plain["columns"] == [{"name": "d.name", "type": "String"}]
    assert "engines.md" in plain["values"].values()
    assert "engines.md" not in plain["sql"]


@pytest.mark.parametrize(
    ("query", "first", "place"),
    [
        ("MATCH (p:Persn) RETURN p.name", "line 1, column 10: unknown label 'Persn'; did you mean Person?", 9),
        ("MATCH (p:Person) DELETE p", "line 1, column 18: DELETE is not allowed: queries are read-only", 17),
        ("MATCH (p:Person", "line 1, column 16: the query ends too early", 15),
    ],
)
def test_an_error_says_where_and_what_to_write(ekr: Ekr, notes_store: Path, query: str, first: str, place: int) -> None:
    done = ekr("cypher", query, "--json", "--store", notes_store)
    assert done.returncode == 1
    assert done.stdout == ""
    message, line, caret = done.stderr.splitlines()
    assert message.startswith(f"ekr: {first}")
    assert line == query
    assert caret == " " * place + "^"


def test_a_name_that_no_node_has_is_noted_with_the_nearest(ekr: Ekr, notes_store: Path) -> None:
    query = "MATCH (p {name: 'Charles Babage'}) RETURN p.name"
    done = ekr("cypher", query, "--store", notes_store)
    assert done.returncode == 0
    assert "unknown name 'Charles Babage'; did you mean Charles Babbage?" in done.stderr
    assert "Charles Babbage" in json.loads(ekr("cypher", query, "--json", "--store", notes_store).stdout)["notes"][0]


def test_a_row_limit_says_that_it_cut(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("cypher", "MATCH (e:Entity) RETURN e.name", "--limit", 2, "--store", notes_store)
    assert "these are the first 2" in done.stderr
    assert json.loads(ekr("cypher", "MATCH (e) RETURN e.name", "--limit", 1, "--json", "--store", notes_store).stdout)[
        "truncated"
    ]


def test_a_query_that_takes_too_long_is_stopped(ekr: Ekr, notes_store: Path) -> None:
    query = "MATCH p = (a)-[*]-(b) RETURN count(p)"
    done = ekr("cypher", query, "--timeout", 0.3, "--store", notes_store)
    assert done.returncode == 1
    assert "stopped" in done.stderr


def test_escapes_in_data_are_not_obeyed(ekr: Ekr, notes_store: Path) -> None:
    query = r"RETURN '\u001b[31mred' AS a, '\u202egnol' AS b"
    for option in ((), ("--csv",)):
        done = ekr("cypher", query, *option, "--store", notes_store)
        assert "[31mred" in done.stdout
        assert "\x1b" not in done.stdout
        assert "\u202e" not in done.stdout
    assert "\x1b" not in ekr("cypher", "MATCH (`\x1b[31m`:Persn) RETURN 1", "--store", notes_store).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("MATCH (n) RETURN n", "--schema"),
        ("--schema", "--explain"),
        ("--schema", "--param", "x=1"),
        ("RETURN 1", "--json", "--csv"),
        ("RETURN $x", "--param", "x"),
    ],
)
def test_a_wrong_request_is_a_usage_error(ekr: Ekr, notes_store: Path, arguments: tuple[str, ...]) -> None:
    done = ekr("cypher", *arguments, "--store", notes_store)
    assert (done.returncode, done.stdout) == (2, "")


def test_an_empty_store_says_what_to_do(ekr: Ekr, tmp_path: Path) -> None:
    done = ekr("cypher", "RETURN 1", "--store", tmp_path / "none")
    assert done.returncode == 1
    assert "ekr ingest" in done.stderr
