"""Options that several commands share, and the engine they open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from ekr.cli import console
from ekr.errors import UsageError

if TYPE_CHECKING:
    from ekr.config import Settings
    from ekr.engine import Engine

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="Directory of the store (default: EKR_STORE, else ./.ekr).", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON to stdout and nothing else.")]


def _quieter(context: typer.Context, value: bool) -> bool:
    # `ekr -q COMMAND` is `ekr COMMAND -q`.
    value = value or bool(context.find_root().params.get("quiet"))
    if value:
        console.set_up_logging(-1)
        _refuse_both(_given(context, "verbose"))
    return value


def _louder(context: typer.Context, value: int) -> int:
    value = value or int(context.find_root().params.get("verbose") or 0)
    if value:
        console.set_up_logging(value)
        _refuse_both(_given(context, "quiet"))
    return value


def _given(context: typer.Context, name: str) -> bool:
    return bool(context.params.get(name) or context.find_root().params.get(name))


def _refuse_both(other: bool) -> None:
    if other:
        raise UsageError("-q and -v contradict each other; give one of them")


QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.", callback=_quieter, show_default=False),
]
VerboseOption = Annotated[
    int,
    typer.Option("-v", help="Say more; twice for everything.", count=True, callback=_louder, show_default=False),
]


def load_settings(**given: Any) -> Settings:
    """The settings with the flags that were given. Raises UsageError naming what is invalid."""
    from ekr.config import Settings

    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        detail = error.errors()[0]
        name = ".".join(str(part) for part in detail["loc"])
        raise UsageError(f"setting {name}: {detail['msg']}; check EKR_{name.upper()} and the config file") from None


def open_engine(store: Path | None, **given: Any) -> Engine:
    """The engine that a command works on. Raises UsageError when a flag names no known model."""
    from ekr.engine import Engine
    from ekr.models.known import require_known

    for role in ("embedder", "generator", "reranker"):
        if given.get(role):
            require_known(given[role], role)

    return Engine(load_settings(store=store, **given))


def parse_pairs(pairs: list[str], option: str) -> dict[str, str]:
    """`key=value` strings as a mapping. Raises UsageError."""
    parsed: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"{option} takes key=value, not '{pair}'")
        parsed[key.strip()] = value.strip()
    return parsed
