"""Filters of a search, and which recipes can use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ekr.errors import UsageError

if TYPE_CHECKING:
    from ekr.recipes import Recipe


@dataclass(frozen=True, slots=True)
class Filters:
    """Document globs (any may match) and property values (all must match)."""

    documents: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.documents or self.where)

    def describe(self) -> str:
        """The filters in words, for a person."""
        parts = [f"document {glob}" for glob in self.documents]
        parts += [f"{key} = {value}" for key, value in self.where.items()]
        return ", ".join(parts)


def check(filters: Filters, recipe: Recipe) -> None:
    """Raises UsageError when the recipe has no method to which a given filter applies."""
    if filters and not recipe.methods:
        raise UsageError(f"recipe {recipe.name} searches nothing, so it can't be filtered; drop the filter")
