"""Every example of docs/cypher.md gives the table that stands below it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ekr.cypher import CypherError, GraphSchema, Node, run

DOCS = Path(__file__).resolve().parents[2] / "docs" / "cypher.md"
EXAMPLE = re.compile(r"```cypher\n(.*?)\n```\n\n((?:\|[^\n]*\n)+)", re.DOTALL)
EXAMPLES = EXAMPLE.findall(DOCS.read_text(encoding="utf-8"))


def shown(value: Any) -> str:
    if isinstance(value, Node):
        return f"({':'.join(value.labels)} {value.properties['name']})"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def table(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    lines = ["| " + " | ".join(c.replace("|", "\\|") for c in columns) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(shown(v) for v in row) + " |" for row in rows]


@pytest.mark.parametrize(("query", "result"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_gives_what_the_page_shows(
    connection: duckdb.DuckDBPyConnection, schema: GraphSchema, query: str, result: str
) -> None:
    found = run(connection, schema, query)
    heading, line, *rows = table(found.columns, found.rows)
    wanted = result.splitlines()
    assert wanted[:2] == [heading, line]
    if "ORDER BY" in query:
        assert wanted[2:] == rows
    assert sorted(wanted[2:]) == sorted(rows)


def test_each_block_of_the_page_is_an_example() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert len(EXAMPLES) == text.count("```cypher") >= 35


def test_the_error_on_the_page_is_the_real_one(connection: duckdb.DuckDBPyConnection, schema: GraphSchema) -> None:
    with pytest.raises(CypherError) as caught:
        run(connection, schema, "MATCH (p:Persn) RETURN p.name")
    assert caught.value.report() in DOCS.read_text(encoding="utf-8")
