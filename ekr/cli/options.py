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


def _quieter(value: bool) -> bool:
    if value:
        console.set_up_logging(-1)
    return value


def _louder(value: int) -> int:
    if value:
        console.set_up_logging(value)
    return value


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
    """The engine that a command works on."""
    from ekr.engine import Engine

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
