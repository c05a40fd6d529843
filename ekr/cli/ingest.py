"""`ekr ingest`: bring files, folders and globs into the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ekr.cli import console
from ekr.cli.options import JsonOption, QuietOption, StoreOption, VerboseOption, open_engine, parse_pairs

if TYPE_CHECKING:
    from ekr.ingestion.pipeline import Progress as IngestProgress
    from ekr.ingestion.report import IngestReport


def ingest(
    paths: Annotated[list[str], typer.Argument(help="Files, folders and globs.", show_default=False)],
    store: StoreOption = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Glob of files to leave out; may be repeated.", show_default=False),
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove documents whose files are gone.")] = False,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Processes that read files and find entities.")] = 1,
    meta: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="A property for every document; may be repeated. Stays when the document changes, until given "
            "anew; KEY= forgets it.",
            show_default=False,
        ),
    ] = None,
    extractor: Annotated[
        Literal["nlp", "llm", "none"] | None,
        typer.Option(
            help="How entities and relations are found: rules, the generator, or not at all. "
            "Default: as the store was made; rules for a new one.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and report, write nothing.")] = False,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Bring files, folders and globs into the store.

    Unchanged documents are passed over, changed ones replaced. Exit code 1 when a supported file could not
    be read: it is named, and the rest is in.
    """
    from ekr.ingestion.pipeline import IngestOptions

    options = IngestOptions(
        exclude=exclude or (),
        prune=prune,
        jobs=jobs,
        metadata=parse_pairs(meta or [], "--meta"),
        dry_run=dry_run,
        extractor=extractor,
    )
    with open_engine(store) as engine, _Bar(hidden=quiet) as bar:
        report = engine.ingest(*paths, options=options, on_progress=bar.show)
    for problem in report.failed:
        console.talk(f"ekr: {problem.document}: {problem.reason}")
    if json_:
        console.print_json(report.to_json())
    elif not quiet:
        _print(report)
    if report.failed:
        raise typer.Exit(1)


class _Bar:
    """A progress bar on stderr; silent when stderr is no terminal."""

    def __init__(self, hidden: bool) -> None:
        terminal = console.err()
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=terminal,
            transient=True,
            disable=hidden or not terminal.is_terminal,
        )

    def __enter__(self) -> _Bar:
        self.progress.start()
        self.task = self.progress.add_task("reading", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def show(self, at: IngestProgress) -> None:
        name = console.one_line(at.document, 40)
        if at.stage != "reading":
            name = f"{at.stage} {name}".strip()
        self.progress.update(self.task, completed=at.files_done, total=at.files, description=name)


def _print(report: IngestReport) -> None:
    out = console.out()
    done = "would be" if report.dry_run else "is" if report.chunks == 1 else "are"
    parts = [
        f"{len(report.added)} added",
        f"{len(report.updated)} updated",
        f"{report.unchanged} unchanged",
        f"{len(report.removed)} removed",
        f"{len(report.failed)} failed",
        f"{len(report.skipped)} skipped",
    ]
    out.print(console.plain(f"Documents: {', '.join(parts)}; {console.counted(report.chunks, 'chunk')} {done} new."))
    if report.dry_run:
        for name in report.removed:
            out.print(console.plain(f"  would be removed: {name}"))
    for reason, count in report.to_json()["skipped_by_reason"].items():
        out.print(console.plain(f"  skipped, {reason}: {count}"))
    for note in report.notes:
        out.print(console.plain(f"  {note}"))
    for warning in report.warnings:
        out.print(console.plain(f"  {warning.document}: {warning.reason}"))
    if not report.dry_run:
        out.print(console.plain(f"Took {report.timings['total']:.1f} s."))
