"""A query's result for people: the answer as it streams, the reference table, the explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.live import Live
from rich.table import Table
from rich.text import Text

from ekr.cli import console

if TYPE_CHECKING:
    from ekr.recipes import Recipe
    from ekr.results import Item, Reference, Result

SNIPPET_CHARACTERS = 160
EXPLAINED_HITS = 10


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
        out.print(_items(result.items))
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


def _items(items: tuple[Item, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("rank", "document", "pages", "heading", "snippet"):
        table.add_column(name, overflow="fold")
    for item in items:
        place = (item.document or "–", pages(item.page_start, item.page_end), _last(item.heading))
        cells = (str(item.rank), *place, _snippet(item.text or ""))
        table.add_row(*(console.plain(cell) for cell in cells))
    return table


def _last(heading: str | None) -> str:
    # The whole breadcrumb is in --json; a table on a terminal has room for the nearest one.
    return (heading or "–").split(" > ")[-1]


def _snippet(text: str) -> str:
    return console.one_line(text, SNIPPET_CHARACTERS)


def print_explanation(result: Result, recipe: Recipe) -> None:
    """Each method's list, the fusion arithmetic, each step before and after, timings; to stdout."""
    out = console.out()
    names = {f"{i.type}:{i.id}": f"{i.document} {console.one_line(i.text or '', 40)}" for i in result.items}
    for ranked in result.trace.lists:
        out.print(console.plain(f"{ranked['method']}: {ranked['found']} found", style="bold"))
        out.print(_rows([(h["rank"], f"{h['type']}:{h['id']}", h["score"], names) for h in ranked["hits"]]))
    if result.trace.fusion:
        out.print(console.plain(f"fusion, rrf_k = {recipe.rrf_k}", style="bold"))
        for row in result.trace.fusion[:EXPLAINED_HITS]:
            key = f"{row['type']}:{row['id']}"
            out.print(
                console.plain(f"{row['rank']:>4}  {row['score']:.6f} = {row['arithmetic']}  {names.get(key, key)}")
            )
    for step in result.trace.steps:
        out.print(
            console.plain(f"{step['step']}: {len(step['before'])} before, {len(step['after'])} after", style="bold")
        )
        before = {key: rank for rank, key in enumerate(step["before"], start=1)}
        for rank, key in enumerate(step["after"][:EXPLAINED_HITS], start=1):
            was = before.get(key)
            out.print(console.plain(f"{rank:>4}  {'new' if was is None else f'was {was}':>8}  {names.get(key, key)}"))
    timings = ", ".join(f"{stage} {seconds * 1000:.0f} ms" for stage, seconds in result.trace.timings.items())
    out.print(console.plain(f"timings: {timings}", style="bold"))
    out.print()


def _rows(rows: list[tuple[int, str, float, dict[str, str]]]) -> Text:
    lines = [f"{rank:>4}  {score:.4f}  {names.get(key, key)}" for rank, key, score, names in rows[:EXPLAINED_HITS]]
    return console.plain("\n".join(lines))
