"""A query's result for people: the answer as it streams, the tables of references and items."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.live import Live
from rich.table import Table
from rich.text import Text

from ekr.cli import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ekr.results import Item, Reference, Result

SNIPPET_CHARACTERS = 160
MOST_FACTS_BESIDE_PASSAGES = 5
MOST_FACTS = 10


class Stream:
    """Shows the raw answer while it comes; it is erased when whole, for the verified one to take its place."""

    def __init__(self, enabled: bool) -> None:
        terminal = console.out()
        self.enabled = enabled and terminal.is_terminal
        self._text = Text()
        self._live = Live(self._text, console=terminal, transient=True, auto_refresh=False)

    def __enter__(self) -> Stream:
        if self.enabled:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.enabled:
            self._live.stop()

    def add(self, piece: str) -> None:
        """One more piece of the answer."""
        self._text.append(console.safe(piece))
        self._live.refresh()


def print_result(result: Result, quiet: bool) -> None:
    """Answer and table to stdout; the line on recipe, time and anything degraded to stderr."""
    out = console.out()
    if result.answer is not None:
        out.print(console.plain(result.answer))
        shown = [r for r in result.references if r.cited] or list(result.references[:3])
        if result.references:
            out.print()
            out.print(_references(shown))
    else:
        shown_items = _for_people(result.items)
        out.print(_items(shown_items))
        if more := len(result.items) - len(shown_items):
            out.print(console.plain(f"{more} more (--json or --explain shows them)"))
    if not quiet:
        console.talk(summary_line(result))
        for note in result.trace.notes:
            console.talk(f"note: {note}")


def summary_line(result: Result) -> str:
    """`hybrid_mix · 20 items · 3.1 s · degraded: bm25 (reason)`."""
    parts = [result.recipe, f"{len(result.items)} items", f"{result.trace.timings.get('total', 0.0):.1f} s"]
    if result.answer is not None and not result.refused and not result.grounded and result.items:
        parts.append("not grounded: no valid citation")
    if result.degraded:
        failures = ", ".join(f"{d['stage']} {d['name']} ({d['error']})" for d in result.degraded)
        parts.append(f"degraded: {failures}")
    return " · ".join(parts)


def pages(start: int | None, end: int | None) -> str:
    """`12`, `12–13` or an en dash where a format has no pages."""
    if start is None:
        return "–"
    return str(start) if end in (None, start) else f"{start}–{end}"


def _references(references: list[Reference]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("", "document", "pages", "heading", "snippet"):
        table.add_column(name, overflow="fold")
    for r in references:
        mark = f"[{r.id}]" if r.cited else f"({r.id})"
        cells = (mark, r.document, pages(r.page_start, r.page_end), _last(r.heading), _snippet(r.text))
        table.add_row(*(console.plain(cell) for cell in cells))
    return table


def _for_people(items: Sequence[Item]) -> list[Item]:
    """All passages and the best of each other type: entities and relations by the dozen are for --json."""
    most = MOST_FACTS_BESIDE_PASSAGES if any(item.type == "chunk" for item in items) else MOST_FACTS
    seen: Counter[str] = Counter()
    shown = []
    for item in items:
        seen[item.type] += 1
        if item.type == "chunk" or seen[item.type] <= most:
            shown.append(item)
    return shown


def _items(items: Sequence[Item]) -> Table:
    typed = any(item.type != "chunk" for item in items)
    table = Table(box=None, pad_edge=False)
    for name in ("rank", *(["type"] if typed else []), "document", "pages", "heading", "snippet"):
        table.add_column(name, overflow="fold")
    for item in items:
        cells = (str(item.rank), *([item.type] if typed else []), *_cells(item))
        table.add_row(*(console.plain(cell) for cell in cells))
    return table


def _cells(item: Item) -> tuple[str, str, str, str]:
    """Document, pages, heading and snippet: of the passage, or of the first one behind an entity or relation."""
    place = item.evidence[0] if item.evidence else item
    where = (place.document or "–", pages(place.page_start, place.page_end), _last(place.heading))
    if item.type == "chunk":
        return *where, _snippet(item.text or "")
    if item.type == "entity":
        return *where, _snippet(f"{item.name} ({item.label}): {item.description}")
    if item.type == "value":
        return *where, console.one_line(str(item), SNIPPET_CHARACTERS)
    if item.type == "relation":
        return *where, _snippet(f"{item}: {item.description}")
    return *where, _snippet(f"{item}: {item.summary or ''}")


def _last(heading: str | None) -> str:
    # The whole breadcrumb is in --json; a table on a terminal has room for the nearest one.
    return (heading or "–").split(" > ")[-1]


def _snippet(text: str) -> str:
    return console.one_line(text, SNIPPET_CHARACTERS)
