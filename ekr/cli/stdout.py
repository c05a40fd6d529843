"""Standard output that tells its own failures, such as a full disk, from those of other files."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

from ekr.errors import OutputError


class RawOutput(io.FileIO):
    """A file descriptor that remembers why it could not be written."""

    failure: OSError | None = None

    def write(self, data: bytes, /) -> int | None:  # type: ignore[override]
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            self.failure = error
            raise


def open_streams() -> RawOutput:
    """Makes standard output and error UTF-8. Raises OutputError where standard output is closed."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the end
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    if sys.stdout is None:
        # Its number would go to the next file that is opened, and what a native library prints into that file.
        raise OutputError("standard output is closed; send it to /dev/null instead")
    raw = RawOutput(sys.stdout.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=sys.stdout.isatty()
    )
    return raw


def run_to_the_end(command: Callable[[], object], raw: RawOutput) -> None:
    """Runs the command and writes all that it printed. Raises OutputError where standard output does not take it."""
    try:
        try:
            command()
        finally:
            # What is left in the buffer would fail when Python exits, in other words and with another exit code.
            sys.stdout.flush()
    except OSError as error:
        if error is not raw.failure:
            raise
        drop_output()
        raise OutputError(f"cannot write to standard output: {error.strerror or error}") from error


def drop_output() -> None:
    """Sends what is still printed nowhere: Python would complain once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
