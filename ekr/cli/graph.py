"""`ekr graph`: the graph at a glance, one entity, and the whole for other tools."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ekr.cli import console
from ekr.cli.options import JsonOption, QuietOption, StoreOption, VerboseOption, open_engine
from ekr.cli.rendering import pages
from ekr.errors import UsageError

if TYPE_CHECKING:
    from ekr.graph_view.entity import EntityView
    from ekr.store import Snapshot

app = typer.Typer(help="The knowledge graph: counts, entities, export.", invoke_without_command=True)

TOP = 15
SNIPPET = 100
HTML_NODES = 2000


class Format(StrEnum):
    """What `export` writes."""

    GRAPHML = "graphml"
    JSON = "json"
    HTML = "html"


@app.callback()
def overview(
    context: typer.Context,
    json_: JsonOption = False,
    store: StoreOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Print counts, the best linked entities and the largest communities."""
    if context.invoked_subcommand is not None:
        return
    with open_engine(store) as engine:
        snapshot = engine.snapshot()
        if json_:
            console.print_json(_facts(snapshot))
        else:
            _print_overview(snapshot)


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="Name, alias or id of an entity.")],
    evidence: Annotated[int, typer.Option(min=1, help="How many passages to list.")] = 10,
    json_: JsonOption = False,
    store: StoreOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Print an entity with its relations and the pages that it stands on."""
    from ekr.graph_view.entity import find_entities, view

    with open_engine(store) as engine:
        snapshot = engine.snapshot()
        views = [view(snapshot, entity, evidence) for entity in find_entities(snapshot, name)]
    if json_:
        console.print_json([_plain(found) for found in views])
        return
    for found in views:
        _print_entity(found)


@app.command("export")
def export(
    format_: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.JSON,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write (default: stdout).", show_default=False)
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Only so many entities, best linked first (default: all; html: {HTML_NODES}).",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Write the graph as GraphML, JSON, or a web page that needs nothing else."""
    from ekr.graph_view.network import network

    if limit is None and format_ is Format.HTML:
        limit = HTML_NODES
    with open_engine(store) as engine:
        snapshot = engine.snapshot()
        found = network(snapshot, limit)
        total = snapshot.counts()["entities"]
    if format_ is Format.GRAPHML:
        from ekr.graph_view.graphml import graphml

        text = graphml(found)
    elif format_ is Format.HTML:
        from ekr.graph_view.page import page

        text = page(found, f"Knowledge graph of {engine.settings.store.resolve().name}")
    else:
        text = json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False) + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {output}: {error.strerror}") from None
    if not quiet and len(found.nodes) < total:
        console.talk(f"{len(found.nodes)} of {total} entities, best linked first; --limit changes it")


def _facts(snapshot: Snapshot) -> dict[str, object]:
    graph, counts = snapshot.graph, snapshot.counts()
    return {
        **{name: counts[name] for name in ("entities", "relations", "communities")},
        "labels": graph.labels(),
        "relation_types": graph.relation_types(),
        "top_entities": [
            {"id": e.id, "name": e.name, "label": next(iter(e.labels), None), "pagerank": e.pagerank,
             "chunks": e.chunks, "relations": e.relations}
            for e in graph.top_entities(TOP)
        ],
        "largest_communities": [
            {"id": c.id, "title": c.title, "summary": c.summary, "size": c.size}
            for c in graph.largest_communities(TOP)
        ],
    }  # fmt: skip


def _print_overview(snapshot: Snapshot) -> None:
    out, graph, counts = console.out(), snapshot.graph, snapshot.counts()
    named = ", ".join(f"{counts[name]} {name}" for name in ("entities", "relations", "communities"))
    out.print(console.plain(named))
    for title, found in (("labels", graph.labels()), ("relation types", graph.relation_types())):
        shown = ", ".join(f"{name} {count}" for name, count in list(found.items())[:TOP])
        out.print(console.plain(f"{title}: {shown or 'none'}"))
    table = Table(box=None, pad_edge=False)
    for name in ("entity", "label", "passages", "relations", "PageRank"):
        table.add_column(name, overflow="fold")
    for e in graph.top_entities(TOP):
        cells = (e.name, ", ".join(e.labels[:1]), str(e.chunks), str(e.relations), f"{e.pagerank:.4f}")
        table.add_row(*(console.plain(cell) for cell in cells))
    out.print()
    out.print(table)
    table = Table(box=None, pad_edge=False)
    for name in ("community", "members", "summary"):
        table.add_column(name, overflow="fold")
    for c in graph.largest_communities(TOP):
        about = (c.title, str(c.size), console.one_line(c.summary, SNIPPET))
        table.add_row(*(console.plain(cell) for cell in about))
    out.print()
    out.print(table)


def _print_entity(found: EntityView) -> None:
    out, entity = console.out(), found.entity
    out.print(console.plain(f"{entity.name} ({', '.join(entity.labels)})", style="bold"))
    out.print(console.plain(entity.description or "–"))
    if entity.aliases:
        out.print(console.plain(f"also: {', '.join(entity.aliases)}"))
    counts = f"{console.counted(entity.mentions, 'mention')} in {console.counted(entity.chunks, 'passage')}"
    if more := found.passages - entity.chunks:
        counts += f", {more} more {'defines' if more == 1 else 'define'} it"
    out.print(console.plain(f"{counts}, PageRank {entity.pagerank:.4f}"))
    table = Table(box=None, pad_edge=False)
    for name in ("source", "relation", "target", "weight", "stated"):
        table.add_column(name, overflow="fold")
    for r in found.relations:
        cells = (r.source, r.type, r.target, f"{r.weight:g}", console.one_line(r.description, SNIPPET))
        table.add_row(*(console.plain(cell) for cell in cells))
    out.print()
    out.print(table)
    table = Table(box=None, pad_edge=False)
    for name in ("document", "pages", "heading"):
        table.add_column(name, overflow="fold")
    for place in found.evidence:
        where = (place.document, pages(place.page_start, place.page_end), (place.heading or "–").split(" > ")[-1])
        table.add_row(*(console.plain(cell) for cell in where))
    out.print()
    out.print(table)
    out.print()


def _plain(found: EntityView) -> dict[str, object]:
    e = found.entity
    return {
        "id": e.id, "name": e.name, "label": next(iter(e.labels), None), "labels": e.labels,
        "description": e.description, "aliases": e.aliases, "mentions": e.mentions, "chunks": e.chunks,
        "passages": found.passages, "pagerank": e.pagerank,
        "relations": [
            {"id": r.id, "source": r.source, "target": r.target, "relation_type": r.type,
             "description": r.description, "weight": r.weight}
            for r in found.relations
        ],
        "evidence": [
            {"chunk_id": p.chunk_id, "document": p.document, "document_id": p.document_id,
             "page_start": p.page_start, "page_end": p.page_end, "heading": p.heading}
            for p in found.evidence
        ],
    }  # fmt: skip
