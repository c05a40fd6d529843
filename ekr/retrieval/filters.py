"""Filters of a search, and which recipes can use them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from ekr.errors import UsageError

if TYPE_CHECKING:
    from ekr.recipes import Recipe
    from ekr.store import Snapshot

# Walks that follow relations by type. Definition links have no relation type, and PageRank walks all edges at once.
_TYPED_WALKS = ("breadth_first",)
MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Filters:
    """Document globs, entity labels and relation types (any may match) and property values (all must match).

    Labels limit entity search, relation types the walk; documents and properties every method and step.
    """

    documents: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.documents or self.where or self.labels or self.relations)

    def describe(self) -> str:
        """The filters in words, for a person."""
        parts = [f"document {glob}" for glob in self.documents]
        parts += [f"{key} = {value}" for key, value in self.where.items()]
        parts += [f"label {label}" for label in self.labels]
        parts += [f"relation {type_}" for type_ in self.relations]
        return ", ".join(parts)


def check(filters: Filters, recipe: Recipe) -> None:
    """Raises UsageError when the recipe has no method or step to which a given filter applies."""
    if filters and not recipe.methods:
        raise UsageError(f"recipe {recipe.name} searches nothing, so it can't be filtered; drop the filter")
    if (filters.documents or filters.where) and recipe.methods == ("text2cypher",):
        raise UsageError(
            f"recipe {recipe.name} computes over all documents, so it can't use --document or --where; drop them"
        )
    if filters.labels and "entity" not in recipe.methods:
        raise UsageError(
            f"recipe {recipe.name} can't use --label: it has no entity search; drop it, or use a recipe such as "
            "entity, entity_chunk or multihop"
        )
    if filters.relations and not set(recipe.walk) & set(_TYPED_WALKS):
        raise UsageError(
            f"recipe {recipe.name} can't use --relation: it has no walk along relations; drop it, or use graph_expand"
        )


def resolve(filters: Filters, snapshot: Snapshot) -> Filters:
    """The filters with labels and relation types as the store writes them; both match case-insensitively.

    Raises UsageError for one, or a property, that does not exist, naming the nearest that do.
    """
    if filters.where:
        _check_properties(filters.where, snapshot.properties())
    labels, relations = filters.labels, filters.relations
    if labels:
        from ekr.extraction.records import LABELS

        # A label of the vocabulary that no entity has is no mistake: it finds nothing.
        labels = _known("label", labels, {*LABELS, *snapshot.graph.labels()})
    if relations:
        relations = _known("relation type", relations, snapshot.graph.relation_types())
    return replace(filters, labels=labels, relations=relations)


def _check_properties(wanted: Collection[str], valid: Collection[str]) -> None:
    for key in wanted:
        if key not in valid:
            nearest_first = sorted(
                valid, key=lambda name: (-SequenceMatcher(None, key.casefold(), name.casefold()).ratio(), name)
            )
            more = f" and {len(valid) - MOST_NAMED} more" if len(valid) > MOST_NAMED else ""
            raise UsageError(
                f"no document has a property '{key}'; there are: {', '.join(nearest_first[:MOST_NAMED])}{more}"
            )


def _known(what: str, given: Collection[str], valid: Collection[str]) -> tuple[str, ...]:
    from ekr.recipes import nearest

    by_folded = {name.casefold(): name for name in valid}
    for name in given:
        if name.casefold() not in by_folded:
            near = nearest(name, sorted(valid)) or nearest(name.upper(), sorted(valid))
            raise UsageError(f"unknown {what} '{name}'{near or '; `ekr graph` lists them'}")
    return tuple(dict.fromkeys(by_folded[name.casefold()] for name in given))
