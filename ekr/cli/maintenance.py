"""`ekr reindex`, `compact`, `backup`: upkeep of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ekr.cli import console
from ekr.cli.options import JsonOption, QuietOption, StoreOption, VerboseOption, load_settings, open_engine
from ekr.errors import StoreEmpty


def reindex(
    store: StoreOption = None,
    embedder: Annotated[
        str | None,
        typer.Option(help="Name, ONNX folder or endpoint (default: EKR_EMBEDDER).", show_default=False),
    ] = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Embed everything again, after a change of the embedder. Needs no source file.

    Passages, entities, relations and reports get new vectors from their texts in the store, in one generation:
    until it is whole, questions are answered from the old one.
    """
    bar = _bar(hidden=quiet)
    with open_engine(store, embedder=embedder) as engine, bar:
        task = bar.add_task("embedding", total=None)
        chunks = engine.reindex(lambda done, total: bar.update(task, completed=done, total=total))
        facts = engine.status()
    if json_:
        fields = ("embedder", "chunks", "entities", "relations", "communities", "generation")
        console.print_json({name: facts[name] for name in fields})
        return
    if not quiet:
        console.out().print(console.plain(f"Embedded {console.counted(chunks, 'chunk')} with {facts['embedder']}."))
    if embedder is not None and load_settings().embedder != embedder:
        console.talk(f"ekr: questions to this store now need the same setting: EKR_EMBEDDER={embedder}")


def compact(
    store: StoreOption = None,
    if_needed: Annotated[
        bool, typer.Option("--if-needed", help="Only when more than a fifth of the chunks in the files is dead.")
    ] = False,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Write the store anew without what was deleted, and remove earlier generations.

    Afterwards no file holds a deleted text. A generation that a running query still reads is removed by the next
    command that writes.
    """
    from ekr.store.generations import bytes_used, generations

    with open_engine(store) as engine:
        path = engine.store.path
        before, generation_before = bytes_used(path), engine.store.generation()
        try:
            generation: int | None = engine.compact(if_needed=if_needed)
        except StoreEmpty:
            generation = None
        after = bytes_used(path)
        still_read = [number for number in generations(path) if number != generation]
    if json_:
        facts = {"generation": generation, "bytes_before": before, "bytes_after": after, "still_read": still_read}
        console.print_json(facts)
    elif not quiet and generation == generation_before:
        console.out().print(console.plain("Nothing to compact."))
    elif not quiet:
        console.out().print(console.plain(f"From {before / 1e6:.1f} to {after / 1e6:.1f} MB."))
    if still_read:
        console.talk("ekr: a running query still reads an earlier generation; run `ekr compact` again when it is done")


def backup(
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="A new or empty directory.")],
    store: StoreOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Copy the store as it is now to another directory, while queries and an ingest may go on.

    The copy is one whole generation, checked as `ekr doctor` does, and a store like any other: use it with
    --store DEST, or put it in the place of a lost one.
    """
    with open_engine(store) as engine:
        generation = engine.backup(destination)
    if json_:
        console.print_json({"destination": str(destination), "generation": generation})
    elif not quiet:
        console.out().print(console.plain(f"Generation {generation} is copied to {destination}."))


def _bar(*, hidden: bool) -> Progress:
    terminal = console.err()
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
        disable=hidden or not terminal.is_terminal,
    )
