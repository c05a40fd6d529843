"""What the three engines raise when a file is damaged, missing or full, turned into one-line errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from ekr.errors import EkrError, StoreError

_LONGEST_REASON = 200
# What DuckDB's Python package makes of a Ctrl-C that comes while a query runs.
_STOPPED = "Query interrupted"

# Where in its own sources a library of Rust failed.
_SOURCE_PLACE = re.compile(r",?\s*\S*/\S+\.rs:\d+(?::\d+)?")


@contextmanager
def told_as(what: str, advice: str) -> Iterator[None]:
    """Raise StoreError "what (reason); advice" for whatever an engine raises inside; our own errors pass.

    Raises KeyboardInterrupt where the user stopped a query of DuckDB.
    """
    try:
        yield
    except EkrError:
        raise
    except RuntimeError as error:
        if str(error) == _STOPPED:
            raise KeyboardInterrupt from error
        raise StoreError(f"{what} ({reason(error)}); {advice}") from error
    except (duckdb.Error, OSError, ValueError, LookupError, ArithmeticError) as error:
        raise StoreError(f"{what} ({reason(error)}); {advice}") from error
    except BaseException as error:
        # A panic in native code derives from BaseException, and its class cannot be imported.
        if type(error).__name__ in {"PanicException", "RustPanic"}:
            raise StoreError(f"{what} ({reason(error)}); {advice}") from error
        raise


def reason(error: BaseException) -> str:
    """The first line of an engine's message, without places in the engine's sources."""
    lines = (line.strip() for line in _SOURCE_PLACE.sub("", str(error)).splitlines())
    return next((line for line in lines if line), type(error).__name__)[:_LONGEST_REASON]
