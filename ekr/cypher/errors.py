"""The errors of the Cypher subset: each knows where in the query it is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from ekr.errors import EkrError

_WINDOW = 72


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a query: line and column count from 1, offset in characters from 0."""

    line: int
    column: int
    offset: int


class CypherError(EkrError):
    """A query cannot be parsed, checked, compiled or run.

    `str(error)` is one line. `line`, `column` (from 1) and `caret` (the source line with a caret under the
    place) are None when the error has no place, as with a time limit. `suggestion` is the nearest valid name.
    """

    def __init__(
        self,
        problem: str,
        position: Position | None = None,
        text: str = "",
        suggestion: str | None = None,
    ) -> None:
        self.problem = problem
        self.line = position.line if position else None
        self.column = position.column if position else None
        self.caret = caret_line(text, position) if position else None
        self.suggestion = suggestion
        place = f"line {position.line}, column {position.column}: " if position else ""
        super().__init__(" ".join(f"{place}{problem}".split()))

    def report(self) -> str:
        """The message, and under it the place in the query when there is one."""
        return f"{self}\n{self.caret}" if self.caret else str(self)


class CypherTimeout(CypherError):
    """The query did not finish within its time limit; nothing was returned."""


class CypherMemory(CypherError):
    """The query needs more memory than its limit; nothing was returned."""


def caret_line(text: str, position: Position) -> str:
    """The line of the query that holds `position` (cut to a window) and a caret below it."""
    lines = text.splitlines() or [""]
    line = lines[min(position.line, len(lines)) - 1]
    at = min(position.column - 1, len(line))
    start = max(0, at - _WINDOW // 2)
    shown = "".join(c if c.isprintable() else " " for c in line[start : start + _WINDOW])
    return f"{shown}\n{' ' * (at - start)}^"


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that looks most like `name`, regardless of case; None when none does."""
    by_folded: dict[str, str] = {}
    for candidate in candidates:
        by_folded.setdefault(candidate.casefold(), candidate)
    found = difflib.get_close_matches(name[:64].casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def unknown_name(
    kind: str, name: str, candidates: Iterable[str], position: Position | None, text: str, known: str = ""
) -> CypherError:
    """An error for a name that does not exist, with the nearest valid one, or else the names there are."""
    names = list(dict.fromkeys(candidates))
    shown = name if len(name) <= 60 else name[:57] + "..."
    suggestion = nearest(name, names)
    if suggestion:
        hint = f"; did you mean {suggestion}?"
    elif names:
        more = ", …" if len(names) > 12 else ""
        hint = f"; {known or 'there are'}: {', '.join(names[:12])}{more}"
    else:
        hint = "; there are none"
    return CypherError(f"unknown {kind} '{shown}'{hint}", position, text, suggestion)
