"""`ekr doctor`: is the store sound, and what to do if not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ekr.cli import console
from ekr.cli.options import JsonOption, QuietOption, StoreOption, VerboseOption, open_engine

if TYPE_CHECKING:
    from ekr.doctor import Diagnosis


def doctor(
    store: StoreOption = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Make anew what can be made from the rows of the store, then look again.")
    ] = False,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Check the store and the models, and name what is wrong and what to do.

    Every row, vector and posting is read and compared with the others, every model file with its SHA-256.
    Exit code 1 when something is wrong; an empty store is sound. --repair makes BM25, vectors and the graph anew
    from the rows, and says what it could not mend.
    """
    with open_engine(store) as engine:
        found = engine.doctor(repair=repair)
    if json_:
        console.print_json(found.to_json())
    else:
        _print(found, quiet)
    if not found.sound:
        raise typer.Exit(1)


def _print(found: Diagnosis, quiet: bool) -> None:
    lines = [f"repaired: {done}" for done in found.repaired]
    if not quiet:
        lines += _facts(found)
    for problem in found.problems:
        advice = f"; {problem.advice}" if problem.advice else ""
        lines.append(f"wrong in {problem.part}: {problem.problem}{advice}")
    if not quiet:
        lines += [f"note: {note}" for note in found.notes]
        lines.append("Everything is sound." if found.sound else f"{len(found.problems)} wrong.")
    for line in lines:
        console.out().print(console.plain(line), soft_wrap=True)


def _facts(found: Diagnosis) -> list[str]:
    seen = found.examination
    if seen.generation is None:
        lines = [f"store {found.store}: no generation"]
    else:
        version = "–" if seen.format_version is None else seen.format_version
        lines = [f"store {found.store}: generation {seen.generation}, format {version}"]
    for engine, counts in seen.counts.items():
        lines.append(f"{engine}: {', '.join(f'{number} {kind}' for kind, number in counts.items())}")
    if present := [model.name for model in found.models if model.state == "present"]:
        lines.append(f"models whose SHA-256 is right: {', '.join(present)}")
    return lines
