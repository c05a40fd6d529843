"""`ekr recipes`: list, show and check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ekr import recipes
from ekr.cli import console
from ekr.cli.options import JsonOption, QuietOption

app = typer.Typer(help="Recipes: which methods and steps a query uses.", invoke_without_command=True)


@app.callback()
def _default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        context.invoke(list_, quiet=bool(context.find_root().params.get("quiet")))


@app.command("list")
def list_(json_: JsonOption = False, quiet: QuietOption = False) -> None:
    """Print the built-in recipes."""
    known = recipes.builtin().values()
    if json_:
        console.print_json([recipe.model_dump(mode="json") for recipe in known])
        return
    table = Table(box=None)
    for name in ("recipe", "methods", "steps", "limit", "summary"):
        table.add_column(name, overflow="fold")
    for recipe in known:
        names = " ".join((recipe.name, *recipe.aliases))
        cells = (names, _methods(recipe), _steps(recipe), _limit(recipe), recipe.summary)
        table.add_row(*(console.plain(cell or "–") for cell in cells))
    console.out().print(table)
    if not quiet:
        console.talk("Names match case-sensitively: HYBRID is entities and passages, hybrid is the graph alone.")


def _methods(recipe: recipes.Recipe) -> str:
    fused = ", ".join(name for name in recipe.methods if name not in recipe.beside)
    return f"{fused}; beside: {', '.join(recipe.beside)}" if recipe.beside else fused


def _steps(recipe: recipes.Recipe) -> str:
    """The steps in the order in which they run."""
    steps = [name for name in recipe.steps if name == "neighbours"]
    steps += [f"walk: {name}" for name in recipe.walk]
    steps += [name for name in recipe.steps if name != "neighbours"]
    if recipe.rerank != "none":
        steps.append(recipe.rerank.replace("_", " "))
    if recipe.rerank == "cross_encoder" and recipe.relink:
        steps.append("links again")
    return ", ".join(steps)


def _limit(recipe: recipes.Recipe) -> str:
    if not recipe.methods:
        return ""
    return f"{recipe.limit} chunks" if recipe.limit_counts == "chunks" else str(recipe.limit)


@app.command("show")
def show(name: Annotated[str, typer.Argument(help="A recipe's name or alias.")]) -> None:
    """Print a recipe's file, to read or to copy."""
    sys.stdout.write(recipes.source(name))


@app.command("check")
def check(file: Annotated[str, typer.Argument(help="A recipe file.")], json_: JsonOption = False) -> None:
    """Validate a recipe file: line numbers and nearest valid names on stderr, exit code 2 when invalid."""
    recipe = recipes.load_file(Path(file))
    if json_:
        console.print_json(recipe.model_dump(mode="json"))
    else:
        console.out().print(console.plain(f"{file}: recipe {recipe.name} is valid"))
