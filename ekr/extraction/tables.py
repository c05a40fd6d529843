"""Tables of whole numbers: what is found in millions of places takes a few bytes a place and not an object."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

T = TypeVar("T")
Rows = npt.NDArray[np.int32]
Indices = npt.NDArray[np.intp]
_AT_ONCE = 8192


class Numbering(dict[str, int]):
    """Strings by number, 0, 1, 2 … in the order in which they are first asked for."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class Table:
    """Rows of `width` numbers, four bytes each, while they are added."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._flat = array("i")

    def add(self, *row: int) -> None:
        """Add one row."""
        self._flat.extend(row)

    def rows(self) -> Rows:
        """All rows, shape (rows, width). A view: none may be added while it is in use."""
        return np.asarray(self._flat, dtype=np.int32).reshape(-1, self._width)

    def take(self) -> Rows:
        """All rows, shape (rows, width); the table is empty afterwards."""
        rows = self.rows()
        self._flat = array("i")
        return rows


class RowView(Sequence[T]):
    """Records that are made of rows of numbers each time they are read; equal to any sequence of equal records."""

    def __init__(self, rows: Rows, make: Callable[..., T]) -> None:
        self._rows = rows
        self._make = make

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[T]:
        for row in rows_of(self._rows):
            yield self._make(*row)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> RowView[T]: ...
    def __getitem__(self, index: int | slice) -> T | RowView[T]:
        if isinstance(index, slice):
            return RowView(self._rows[index], self._make)
        return self._make(*self._rows[index].tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


def rows_of(rows: npt.NDArray[Any]) -> Iterator[list[Any]]:
    """Each row as a list of Python numbers, some thousands converted at a time."""
    for start in range(0, len(rows), _AT_ONCE):
        yield from rows[start : start + _AT_ONCE].tolist()


def ordered(rows: Rows, *columns: int) -> Rows:
    """The rows sorted by these columns, the first one first; rows that are equal in them keep their order."""
    return rows[order_of(rows, *columns)]


def order_of(rows: Rows, *columns: int) -> Indices:
    """Where the rows go when they are sorted by these columns, the first one first."""
    return np.lexsort([rows[:, column] for column in reversed(columns)])


def changes(rows: Rows, *columns: int) -> npt.NDArray[np.bool_]:
    """For each row of a sorted table, whether it differs in these columns from the row before."""
    differs = np.ones(len(rows), dtype=bool)
    if len(rows):
        chosen = rows[:, list(columns)]
        differs[1:] = (chosen[1:] != chosen[:-1]).any(axis=1)
    return differs


def groups(rows: Rows, *columns: int) -> tuple[Indices, Indices]:
    """Where each group of rows that are equal in these columns starts in a sorted table, and where it ends."""
    starts = np.flatnonzero(changes(rows, *columns))
    return starts, np.append(starts[1:], len(rows)).astype(np.intp)[: len(starts)]
