"""What the three engines raise when a file is damaged, missing or full, turned into one-line errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from ekr.errors import EkrError, StoreError

_LONGEST_REASON = 200


@contextmanager
def told_as(what: str, advice: str) -> Iterator[None]:
    """Raise StoreError "what (reason); advice" for whatever an engine raises inside; our own errors pass."""
    try:
        yield
    except EkrError:
        raise
    except (duckdb.Error, OSError, RuntimeError, ValueError, LookupError, ArithmeticError) as error:
        raise StoreError(f"{what} ({reason(error)}); {advice}") from error
    except BaseException as error:
        # A panic in native code derives from BaseException, and its class cannot be imported.
        if type(error).__name__ in {"PanicException", "RustPanic"}:
            raise StoreError(f"{what} ({reason(error)}); {advice}") from error
        raise


def reason(error: BaseException) -> str:
    """The first line of an engine's message."""
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), type(error).__name__)[:_LONGEST_REASON]
