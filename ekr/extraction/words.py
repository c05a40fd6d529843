"""The word lists of this package, read from its `words` folder."""

from __future__ import annotations

from importlib.resources import files


def word_list(name: str) -> frozenset[str]:
    """The words of one list, separated by any white space."""
    return frozenset(_read(name).split())


def line_list(name: str) -> frozenset[str]:
    """The lines of one list: entries of several words."""
    return frozenset(line.strip() for line in _read(name).splitlines() if line.strip())


def _read(name: str) -> str:
    return files("ekr.extraction").joinpath("words", f"{name}.txt").read_text(encoding="utf-8")
