"""Some three hundred files that mean harm or are broken, each with what must become of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.reliability import hostile_docx, hostile_names, hostile_pdf, hostile_records, hostile_text

Fate = Literal["in", "refused", "skipped", "named", "either"]

GOOD_FILES = 12


@dataclass(frozen=True)
class Hostile:
    """A file to be made. `fate`: taken in; refused; skipped; refused or skipped; or taken in or refused.

    Whichever it is, the file is named in the report. `heavy` ones take seconds or hundreds of megabytes.
    """

    name: str
    make: Callable[[Path], object]
    fate: Fate = "refused"
    heavy: bool = False


def hostile_files() -> list[Hostile]:
    """Every file, in the order in which they are made."""
    modules = (hostile_pdf, hostile_docx, hostile_text, hostile_records, hostile_names)
    return [Hostile(*entry) for module in modules for entry in module.entries()]


def good_text(number: int) -> str:
    """What stands in a good file; no two hold the same."""
    return f"Bakery {number} in Antwerp sells rye bread. Its baker, Jonas Maes, learned the trade in Ghent.\n"


def write_all(folder: Path, *, heavy: bool) -> list[Hostile]:
    """Make the good files and the hostile ones; returns the hostile ones that this file system let be made."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(GOOD_FILES):
        (folder / f"good{number:02}.txt").write_text(good_text(number), encoding="utf-8")
    made = []
    for hostile in _chosen(heavy=heavy):
        path = folder / hostile.name
        try:
            hostile.make(path)
        except (PermissionError, NotImplementedError):
            continue
        made.append(hostile)
    return made


def _chosen(*, heavy: bool) -> Iterator[Hostile]:
    return (hostile for hostile in hostile_files() if heavy or not hostile.heavy)
