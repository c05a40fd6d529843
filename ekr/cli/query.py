"""`ekr query`: ask one question, or one a line from standard input."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ekr import recipes
from ekr.cli import console
from ekr.cli.explaining import print_explanation, traced_items
from ekr.cli.options import JsonOption, QuietOption, StoreOption, VerboseOption, open_engine, parse_pairs
from ekr.cli.rendering import Stream, print_result
from ekr.errors import EkrError, UsageError
from ekr.retrieval.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Callable

    from ekr.engine import Engine
    from ekr.recipes import Recipe
    from ekr.results import Result


def query(
    question: Annotated[str, typer.Argument(help="The question; `-` reads one a line from standard input.")],
    recipe: Annotated[
        str | None, typer.Option("--recipe", "-r", help="Name or file of a recipe.", show_default=False)
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override a value of the recipe; may be repeated.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="How many results.", show_default=False)] = None,
    document: Annotated[
        list[str] | None,
        typer.Option(help="Search only documents that this glob fits; may be repeated.", show_default=False),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Search only documents with this property, or format, language or title; may be repeated.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Find only entities with this label; may be repeated.", show_default=False),
    ] = None,
    relation: Annotated[
        list[str] | None,
        typer.Option(help="Walk only along relations of this type; may be repeated.", show_default=False),
    ] = None,
    context_only: Annotated[bool, typer.Option("--context-only", help="Stop before the answer.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each list, the fusion arithmetic and each step.")
    ] = False,
    json_: JsonOption = False,
    no_stream: Annotated[bool, typer.Option("--no-stream", help="Print the answer when it is whole.")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of the generator.", show_default=False)] = None,
    generator: Annotated[
        str | None, typer.Option(help="Generator: name, GGUF path or endpoint.", show_default=False)
    ] = None,
    reranker: Annotated[
        str | None, typer.Option(help="Re-ranker: name, GGUF path, endpoint or none.", show_default=False)
    ] = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Answer a question from the documents in the store, with the passages that the answer cites.

    `ekr query -` writes one JSON object a line, in order, with models loaded once.
    """  # fmt: skip
    changes: dict[str, Any] = {k: recipes.parse_value(v) for k, v in parse_pairs(set_ or [], "--set").items()}
    if limit is not None:
        changes["limit"] = limit
    filters = Filters(
        tuple(document or ()), parse_pairs(where or [], "--where"), tuple(label or ()), tuple(relation or ())
    )
    with open_engine(store, seed=seed, generator=generator, reranker=reranker) as engine:
        chosen = engine.recipe(recipe, changes)
        if not quiet:
            for line in recipes.unused(chosen, changes):
                console.talk(f"ekr: {line}")

        def ask(text: str, on_token: Callable[[str], None] | None = None) -> Result:
            if context_only:
                return engine.retrieve(text, chosen, filters=filters)
            return engine.query(text, chosen, filters=filters, on_token=on_token)

        if question == "-":
            _answer_lines(ask)
        elif json_:
            console.print_json(ask(question).to_json())
        else:
            _answer_for_people(engine, chosen, question, ask, no_stream, explain, quiet)


def _answer_for_people(
    engine: Engine,
    recipe: Recipe,
    question: str,
    ask: Callable[..., Result],
    no_stream: bool,
    explain: bool,
    quiet: bool,
) -> None:
    with Stream(enabled=not no_stream) as stream:
        result = ask(question, stream.add if stream.enabled else None)
    if explain:
        print_explanation(result, recipe, engine.name_items(traced_items(result)))
    print_result(result, quiet)


def _answer_lines(ask: Callable[..., Result]) -> None:
    failed = False
    # Bytes that are not UTF-8 cost their own line, not the lines after it.
    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    for line in sys.stdin:
        if not line.strip():
            continue
        text = line.strip()
        try:
            text = _question_of(text)
            console.print_json(ask(text).to_json())
        except EkrError as error:
            failed = True
            shown = re.sub("[\ud800-\udfff]", "\ufffd", text)
            console.print_json({"question": shown, "error": {"type": type(error).__name__, "message": str(error)}})
    if failed:
        raise typer.Exit(1)


def _question_of(line: str) -> str:
    if not line.startswith("{"):
        return line
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        return line
    if not isinstance(record, dict) or not isinstance(record.get("question"), str):
        raise UsageError("a JSON line needs a text field `question`")
    return str(record["question"])
