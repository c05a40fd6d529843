"""The pool: the items that steps widen and re-order before the cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ekr.retrieval.fusion import Fused, reciprocal_rank_fusion
from ekr.retrieval.hits import TYPE_ORDER, RankedList

if TYPE_CHECKING:
    from ekr.recipes import Recipe


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item in the pool. `origin` says what brought it: `fusion` or a step's name."""

    type: str
    id: str
    score: float
    origin: str = "fusion"

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the item."""
        return self.type, self.id

    @property
    def name(self) -> str:
        """`type:id`, as the trace writes it."""
        return f"{self.type}:{self.id}"

    def scored(self, score: float) -> Candidate:
        """A copy with another score."""
        return replace(self, score=score)


WALK_OFFSET = 3


@dataclass
class Pool:
    """Candidates in rank order, without duplicates.

    Walks that follow one another add to the same scores: 1 / (3 + rank), ranks from 0, until one changes it.
    """

    items: list[Candidate] = field(default_factory=list)
    _walked: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def of(cls, fused: Iterable[Fused]) -> Pool:
        """The pool that fusion hands to the steps."""
        return cls([Candidate(item.type, item.id, item.score) for item in fused])

    def append(self, candidates: Iterable[Candidate]) -> None:
        """Joins candidates at the end; those already there are passed over."""
        known = {item.key for item in self.items}
        for candidate in candidates:
            if candidate.key not in known:
                known.add(candidate.key)
                self.items.append(candidate)

    def of_type(self, type_: str) -> list[Candidate]:
        """The items of one type, in order."""
        return [item for item in self.items if item.type == type_]

    def reorder(self, type_: str, ordered: Sequence[Candidate]) -> None:
        """Puts the items of a type in a new order, into the places that the type had; surplus follows the last."""
        places = [index for index, item in enumerate(self.items) if item.type == type_]
        kept = list(self.items)
        for index, item in zip(places, ordered, strict=False):
            kept[index] = item
        surplus = list(ordered[len(places) :])
        after = places[-1] + 1 if places else len(kept)
        self.items = [*kept[:after], *surplus, *kept[after:]]

    def walk_scores(self, type_: str) -> dict[str, float]:
        """The scores of one type's items for a walk to change, in rank order."""
        return {
            item.id: self._walked.get(item.key, 1.0 / (WALK_OFFSET + rank))
            for rank, item in enumerate(self.of_type(type_))
        }

    def set_walk_scores(self, type_: str, scores: Mapping[str, float], origin: str) -> None:
        """Orders the items of one type by new scores; ties keep their order, new ones come in the order given."""
        old = {item.id: item for item in self.of_type(type_)}
        place = {id_: index for index, id_ in enumerate(dict.fromkeys([*old, *scores]))}
        ordered = sorted(place, key=lambda id_: (-scores.get(id_, 0.0), place[id_]))
        new = [old.get(id_, Candidate(type_, id_, 0.0, origin)).scored(scores.get(id_, 0.0)) for id_ in ordered]
        self._walked |= {item.key: item.score for item in new}
        self.reorder(type_, new)

    def forget_walks(self) -> None:
        """Lets a later walk begin from the present order, as after a re-rank."""
        self._walked.clear()

    def fuse_again(self, recipe: Recipe, lists: Sequence[RankedList]) -> None:
        """Fuses the lists anew; what steps had joined keeps its order behind them."""
        joined = [item for item in self.items if item.origin != "fusion"]
        self.items = fused_pool(recipe, reciprocal_rank_fusion(lists, recipe.rrf_k)).items
        self.append(joined)

    def ids(self) -> list[str]:
        """`type:id` of each item in order, for the trace."""
        return [item.name for item in self.items]


def fused_pool(recipe: Recipe, fused: Sequence[Fused]) -> Pool:
    """The pool of fused items: the first `recipe.pool` of them, or so many chunks and every other item."""
    if recipe.pool is None:
        return Pool.of(fused)
    if recipe.limit_counts == "items":
        return Pool.of(fused[: recipe.pool])
    chunks = {item.id for item in [item for item in fused if item.type == "chunk"][: recipe.pool]}
    return Pool.of(item for item in fused if item.type != "chunk" or item.id in chunks)


def cut(items: Sequence[Candidate], recipe: Recipe) -> list[Candidate]:
    """What is kept of the items, in order.

    Where the limit counts items: the first ones, of which reports that a step joined or a re-rank passed over
    keep up to `community_slots` of the last places. Where it counts chunks: so many chunks, then entities and
    relations (at most `top_k` of each), then reports.
    """
    slotted = "communities" in recipe.steps or recipe.rerank == "cross_encoder"
    if recipe.limit_counts == "chunks":
        most = {"chunk": recipe.limit, "entity": recipe.top_k, "relation": recipe.top_k}
        if slotted:
            most["community"] = recipe.community_slots
        types = ["chunk", *(type_ for type_ in TYPE_ORDER if type_ != "chunk")]
        return [item for type_ in types for item in [i for i in items if i.type == type_][: most.get(type_)]]
    if not slotted:
        return list(items[: recipe.limit])
    others = [item for item in items if item.type != "community"]
    # One place is never a report's while there is anything else.
    places = min(recipe.community_slots, recipe.limit - 1 if others else recipe.limit)
    reports = [item for item in items if item.type == "community"][:places]
    return [*others[: recipe.limit - len(reports)], *reports]
