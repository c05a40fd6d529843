"""Where DuckDB spills what does not fit in memory: a folder a file and process, in the system's temporary directory."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import secrets
import shutil
import stat
import tempfile
from pathlib import Path

_OURS = re.compile(r"ekr-(\d+)-[0-9a-f]{16}")


def spill_directory(path: Path) -> str:
    """The folder for a file of rows, made by DuckDB when it spills; empty, which is no spilling, where none can be.

    Outside the generation, which may be read-only.
    """
    return _named(os.getpid(), path.absolute())


# One a file and process: spill files have fixed names, and DuckDB wants the same folder each time it opens a file.
@functools.cache
def _named(process: int, _: Path) -> str:
    try:
        folder = tempfile.gettempdir()
    except FileNotFoundError:
        return ""
    # A name that no other user of the directory can know before.
    return str(Path(folder, f"ekr-{process}-{secrets.token_hex(8)}"))


def remove_abandoned() -> None:
    """Remove what processes of this user that are no more left behind: a killed one clears up nothing."""
    if os.name != "posix":
        # Elsewhere the signal that asks whether a process is there may end it.
        return
    with contextlib.suppress(OSError):
        for entry in Path(tempfile.gettempdir()).glob("ekr-*"):
            name = _OURS.fullmatch(entry.name)
            if name and _is_own_folder(entry) and not _is_alive(int(name[1])):
                shutil.rmtree(entry, ignore_errors=True)


def _is_own_folder(entry: Path) -> bool:
    try:
        facts = entry.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
