"""`ekr models`: list, pull, check, rm."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn
from rich.table import Table

from ekr.cli import console
from ekr.cli.options import JsonOption, QuietOption, VerboseOption, load_settings

app = typer.Typer(help="Models: fetched once, then used without a network.", no_args_is_help=True)

NamesArgument = Annotated[list[str] | None, typer.Argument(help="Names, as `ekr models list` shows them.")]


@app.command("list")
def list_(json_: JsonOption = False) -> None:
    """Print the known models, and which of them are here."""
    from ekr.models import list_models

    rows = list_models(load_settings())
    if json_:
        names = ("name", "role", "default", "summary", "licence", "size", "state")
        console.print_json([{**{n: getattr(row, n) for n in names}, "path": str(row.path)} for row in rows])
        return
    table = Table(box=None, pad_edge=False)
    for name in ("model", "role", "default", "state", "size", "licence", "summary"):
        table.add_column(name, overflow="fold", justify="right" if name == "size" else "left")
    for row in rows:
        default = "yes" if row.default else ""
        cells = (row.name, row.role, default, row.state, f"{row.size / 1e6:.0f} MB", row.licence, row.summary)
        table.add_row(*(console.plain(cell) for cell in cells))
    console.out().print(table)


@app.command("pull")
def pull(
    names: NamesArgument = None,
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="Accept the terms of models that have some.")
    ] = False,
    local: Annotated[
        str | None, typer.Option("--from", help="A file or folder to look in before the network.", show_default=False)
    ] = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Fetch models (the default ones when none is named); what is here already is left alone."""
    from pathlib import Path

    from ekr.models import DEFAULT_NAMES
    from ekr.models import pull as fetch

    with _Bars(hidden=quiet) as bars:
        fetched = fetch(
            names or list(DEFAULT_NAMES),
            load_settings(),
            on_progress=bars.show,
            accept_terms=accept_terms,
            local=Path(local) if local else None,
        )
    if not quiet:
        console.talk(f"fetched {', '.join(fetched)}" if fetched else "nothing to fetch: all here")


@app.command("check")
def check(names: NamesArgument = None, json_: JsonOption = False) -> None:
    """Compare the SHA-256 of every file of the models that are here; exit code 1 when one is damaged."""
    from ekr.models import check as compare

    results = compare(names or [], load_settings())
    if json_:
        console.print_json([{"name": r.name, "state": r.state, "damaged": list(r.damaged)} for r in results])
    else:
        for r in results:
            damaged = f": {', '.join(r.damaged)}; run: ekr models pull {r.name}" if r.damaged else ""
            console.out().print(console.plain(f"{r.name} {r.state}{damaged}"))
    if any(r.state != "present" for r in results):
        raise typer.Exit(1)


@app.command("rm")
def rm(names: Annotated[list[str], typer.Argument(help="Models to remove.")]) -> None:
    """Remove models from this machine."""
    from ekr.models import remove

    removed = remove(names, load_settings())
    console.talk(f"removed {', '.join(removed)}" if removed else "nothing to remove")


class _Bars:
    """Download bars on stderr, one a model; silent when stderr is no terminal."""

    def __init__(self, hidden: bool) -> None:
        terminal = console.err()
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            console=terminal,
            disable=hidden or not terminal.is_terminal,
        )
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> _Bars:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def show(self, name: str, done: int, total: int) -> None:
        if name not in self.tasks:
            self.tasks[name] = self.progress.add_task(name, total=total or None)
        self.progress.update(self.tasks[name], completed=done, total=total or None)
