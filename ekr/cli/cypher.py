"""`ekr cypher`: ask the graph with a read-only Cypher query."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ekr import recipes
from ekr.cli import console
from ekr.cli.options import JsonOption, QuietOption, StoreOption, VerboseOption, open_engine, parse_pairs
from ekr.errors import UsageError

if TYPE_CHECKING:
    from ekr.cypher import GraphSchema, QueryResult
    from ekr.cypher.schema import Connection

CELL = 200
CONNECTIONS = 3


def cypher(
    query: Annotated[
        str | None, typer.Argument(help="The query; `-` reads it from standard input.", show_default=False)
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print labels, relationship types, properties and counts.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print the SQL that the query becomes.")] = False,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Value of $NAME in the query; may be repeated.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="The most rows to print.")] = 1000,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds after which the query is stopped.")] = 10.0,
    json_: JsonOption = False,
    csv_: Annotated[bool, typer.Option("--csv", help="Print CSV, with a line of column names.")] = False,
    store: StoreOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Ask the graph with a read-only Cypher query; docs/cypher.md has the subset, with an example of each clause."""
    from ekr.cypher import CypherError, GraphSchema

    if json_ and csv_:
        raise UsageError("give --json or --csv, not both")
    if (query is None) != schema:
        raise UsageError('give a query, such as "MATCH (n) RETURN n.name LIMIT 10", or --schema, one of the two')
    if schema and (explain or param):
        raise UsageError(f"--schema prints what the graph holds; drop {'--explain' if explain else '--param'}")
    text = sys.stdin.read() if query == "-" else query
    given = {name: recipes.parse_value(value) for name, value in parse_pairs(param or [], "--param").items()}
    with open_engine(store) as engine:
        connection = engine.snapshot().connection
        found = GraphSchema.read(connection)
        if text is None:
            _schema(connection, found, json_, csv_)
            return
        try:
            if explain:
                _explain(found, text, given, limit, json_)
            else:
                _answer(connection, found, text, given, limit, timeout, json_, csv_, quiet)
        except CypherError as error:
            for line in f"ekr: {error.report()}".splitlines():
                console.talk(line)
            raise typer.Exit(error.exit_code) from None


def _answer(
    connection: Connection,
    schema: GraphSchema,
    text: str,
    params: Mapping[str, Any],
    limit: int,
    timeout: float,
    json_: bool,
    csv_: bool,
    quiet: bool,
) -> None:
    from ekr.cypher import Limits, run
    from ekr.cypher.literals import unknown_names
    from ekr.cypher.serialise import plain

    result = run(connection, schema, text, params, Limits(rows=limit, seconds=timeout))
    notes = [str(error) for error in unknown_names(connection, schema, text)]
    if result.truncated:
        notes.append(f"there are more rows; these are the first {limit} (--limit changes it)")
    if json_:
        console.print_json(
            {
                "query": text,
                "columns": list(result.columns),
                "rows": [plain(row) for row in result.rows],
                "truncated": result.truncated,
                "notes": notes,
                "seconds": round(result.seconds, 6),
            }
        )
        return
    if csv_:
        _csv(result)
    else:
        console.out().print(_table(result))
    if not quiet:
        rows = len(result.rows)
        console.talk(f"{rows} {'row' if rows == 1 else 'rows'} · {result.seconds:.2f} s")
        for note in notes:
            console.talk(f"note: {note}")


def _table(result: QueryResult) -> Table:
    from ekr.cypher.serialise import shown

    table = Table(box=None, pad_edge=False)
    for name in result.columns:
        table.add_column(console.plain(name), overflow="fold")
    for row in result.rows:
        table.add_row(*(console.plain(console.one_line(shown(value), CELL)) for value in row))
    return table


def _csv(result: QueryResult) -> None:
    from ekr.cypher.serialise import plain

    def cell(value: Any) -> Any:
        simple = plain(value)
        if simple is None or (isinstance(simple, int | float) and not isinstance(simple, bool)):
            return simple
        return console.safe(simple if isinstance(simple, str) else json.dumps(simple, ensure_ascii=False))

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([console.safe(name) for name in result.columns])
    writer.writerows([cell(value) for value in row] for row in result.rows)


def _explain(schema: GraphSchema, text: str, params: Mapping[str, Any], limit: int, json_: bool) -> None:
    from ekr.cypher import compile_query
    from ekr.cypher.serialise import plain

    compiled = compile_query(text, schema, params, max_rows=limit)
    columns = [{"name": name, "type": str(kind)} for name, kind in zip(compiled.columns, compiled.types, strict=True)]
    if json_:
        console.print_json({"query": text, "sql": compiled.sql, "values": plain(compiled.values), "columns": columns})
        return
    sys.stdout.write(console.safe(compiled.sql).rstrip("\n") + "\n")
    for name, value in compiled.values.items():
        sys.stdout.write(console.safe(f"-- ${name} = {value!r}".replace("\n", " ")) + "\n")


def _schema(connection: Connection, schema: GraphSchema, json_: bool, csv_: bool) -> None:
    from ekr.cypher import read_connections

    if csv_:
        raise UsageError("--schema prints a table or, with --json, JSON; drop --csv")
    joined = read_connections(connection, schema)
    facts = schema.describe()
    for row in facts["relationship_types"]:
        row["connects"] = [
            {"source": source, "target": target, "count": count}
            for source, type_, target, count in joined
            if type_ == row["type"]
        ]
    if json_:
        console.print_json(facts)
        return
    ends = {
        row["type"]: [f"{c['source']} → {c['target']} {c['count']}" for c in row["connects"]]
        for row in facts["relationship_types"]
    }
    out = console.out()
    out.print(
        _rows(
            ("label", "nodes", "properties"),
            [(row["label"], str(row["count"]), ", ".join(row["properties"])) for row in facts["labels"]],
        )
    )
    out.print()
    out.print(
        _rows(
            ("relationship type", "count", "properties", "from → to"),
            [
                (
                    row["type"],
                    str(row["count"]),
                    ", ".join(row["properties"]),
                    ", ".join(
                        [*ends[row["type"]][:CONNECTIONS], *(["…"] if len(ends[row["type"]]) > CONNECTIONS else [])]
                    ),
                )
                for row in facts["relationship_types"]
            ],
        )
    )


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(console.plain(cell) for cell in row))
    return table
