"""`ekr documents`, `show`, `status`, `delete`: what is in the store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ekr.cli import console
from ekr.cli.options import JsonOption, QuietOption, StoreOption, VerboseOption, open_engine
from ekr.errors import UsageError

if TYPE_CHECKING:
    from ekr.engine import Engine
    from ekr.store.records import DocumentRecord


def documents(
    store: StoreOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """List the documents in the store."""
    with open_engine(store) as engine:
        records = engine.documents()
    if json_:
        console.print_json([_plain(record) for record in records])
        return
    table = Table(box=None)
    for name, justify in (("document", "left"), ("title", "left"), ("format", "left"), ("language", "left"),
                          ("pages", "right")):  # fmt: skip
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for r in records:
        pages = "–" if r.pages is None else str(r.pages)
        cells = (r.display, console.one_line(r.title, 60), r.format, r.language, pages)
        table.add_row(*(console.plain(cell) for cell in cells))
    console.out().print(table)


def show(
    document: Annotated[str, typer.Argument(help="The document, named as `ekr documents` shows it.")],
    page: Annotated[int | None, typer.Option(min=1, help="Print one physical page.", show_default=False)] = None,
    chunk: Annotated[str | None, typer.Option(help="Print one chunk by its id.", show_default=False)] = None,
    store: StoreOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Print a document's text, one of its pages, or one chunk: to read what an answer cites."""
    if page is not None and chunk is not None:
        raise UsageError("give --page or --chunk, not both")
    with open_engine(store) as engine:
        shown = _shown(engine, _only(engine, document), page, chunk)
    if json_:
        console.print_json(shown)
    else:
        sys.stdout.write(console.safe(shown["text"]).rstrip("\n") + "\n")


def status(
    store: StoreOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Count what the store holds."""
    with open_engine(store) as engine:
        facts = engine.status()
    if json_:
        console.print_json(facts)
        return
    for name, value in facts.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        console.out().print(console.plain(f"{name}: {'–' if shown is None else shown}"))


def delete(
    names: Annotated[list[str], typer.Argument(help="Documents, named as `ekr documents` shows them; globs.")],
    store: StoreOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Remove documents and all that came from them.

    A name that several documents share removes none of them: it is an error that lists them. A glob, and the name
    of a JSONL file, may mean several. A file's name without its folder, and a record's id, are enough when only
    one has it.
    """
    with open_engine(store) as engine:
        removed = engine.delete(*names)
    if json_:
        console.print_json({"removed": removed})
    elif not quiet:
        console.out().print(console.plain(f"Removed {len(removed)}: {', '.join(removed)}"))


def _only(engine: Engine, name: str) -> DocumentRecord:
    records = engine.find_documents(name)
    if len(records) > 1:
        paths = ", ".join(record.key for record in records[:5])
        raise UsageError(f"'{name}' means {len(records)} documents; name one by its full path: {paths}")
    return records[0]


def _shown(engine: Engine, record: DocumentRecord, page: int | None, chunk: str | None) -> dict[str, Any]:
    snapshot = engine.snapshot()
    facts = {"document": record.display, "title": record.title}
    if chunk is not None:
        found = snapshot.chunks([chunk]).get(chunk)
        if found is None or found.document_id != record.id:
            raise UsageError(f"{record.display} has no chunk '{chunk}'")
        text = f"{found.context}\n{found.text}" if found.context else found.text
        pages = {"page_start": found.page_start, "page_end": found.page_end}
        return {**facts, "chunk": chunk, "heading": found.heading, **pages, "text": text}
    if page is not None:
        if record.pages is None:
            raise UsageError(f"{record.display} has no pages; leave --page out")
        if page > record.pages:
            raise UsageError(f"{record.display} has {record.pages} pages, no page {page}")
        return {**facts, "page": page, "text": snapshot.page(record.id, page)}
    return {**facts, "text": snapshot.document_text(record.id)}


def _plain(record: DocumentRecord) -> dict[str, Any]:
    return {
        "document": record.display,
        "document_id": record.display if record.record_id is None else record.record_id,
        "path": record.path,
        "title": record.title,
        "format": record.format,
        "language": record.language,
        "pages": record.pages,
        "characters": record.characters,
        "metadata": dict(record.metadata),
        "warnings": list(record.warnings),
    }
