"""The command `ekr`: its subcommands, and how errors leave it."""

from __future__ import annotations

import signal
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from ekr.bench.errors import QuestionsError
from ekr.cli import bench, console, cypher, doctor, documents, graph, ingest, maintenance, models, query, recipes
from ekr.cli.options import QuietOption, VerboseOption
from ekr.cli.stdout import drop_output, open_streams, run_to_the_end
from ekr.errors import EkrError

_STOPPED = "ekr: stopped; what was published stays; run it again to go on"


class _Commands(TyperGroup):
    """Says on Ctrl-C what has become of the work, and is content when the reader of a pipe has had enough.

    Typer alone would leave without a word, and with exit code 1.
    """

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            console.talk(_STOPPED)
            raise typer.Exit(128 + signal.SIGINT) from None
        except BrokenPipeError:
            drop_output()
            raise typer.Exit from None


app = typer.Typer(
    name="ekr",
    cls=_Commands,
    help="Answers questions from your own documents and shows the evidence: file, page, heading.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("ingest")(ingest.ingest)
app.command("query")(query.query)
app.command("cypher")(cypher.cypher)
app.command("documents")(documents.documents)
app.command("show")(documents.show)
app.command("status")(documents.status)
app.command("delete")(documents.delete)
app.command("doctor")(doctor.doctor)
app.command("reindex")(maintenance.reindex)
app.command("compact")(maintenance.compact)
app.command("backup")(maintenance.backup)
app.add_typer(recipes.app, name="recipes")
app.add_typer(graph.app, name="graph")
app.add_typer(models.app, name="models")
app.add_typer(bench.app, name="bench")


def _print_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        sys.stdout.write(f"ekr {version('ekr')}\n")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    pass


def run() -> NoReturn:
    """The console script. Exit codes: 0 done (also degraded), 1 failure, 2 usage, 130 interrupted."""
    try:
        raw = open_streams()
        console.set_up_logging(0)
        run_to_the_end(lambda: app(standalone_mode=True), raw)
    except EkrError as error:
        for message in error.problems if isinstance(error, QuestionsError) else (str(error),):
            console.talk(f"ekr: {message}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        console.talk(_STOPPED)
        sys.exit(128 + signal.SIGINT)
    except BrokenPipeError:
        # Of what was left in the buffer.
        drop_output()
        sys.exit(0)
    except Exception as error:
        if "-v" in sys.argv or "-vv" in sys.argv:
            raise
        console.talk(f"ekr: unexpected {type(error).__name__}: {error}; run again with -v for the traceback")
        sys.exit(1)
    sys.exit(0)
