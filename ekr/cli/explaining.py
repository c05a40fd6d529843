"""`ekr query --explain`: what each method found, how the lists were fused, what each step changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ekr.cli import console

if TYPE_CHECKING:
    from ekr.recipes import Recipe
    from ekr.results import Result

EXPLAINED = 10
NAME_CHARACTERS = 70


def traced_items(result: Result) -> set[str]:
    """`type:id` of every item that an explanation shows."""
    trace = result.trace
    found = {f"{h['type']}:{h['id']}" for ranked in trace.lists for h in ranked["hits"][:EXPLAINED]}
    found |= {f"{row['type']}:{row['id']}" for row in trace.fusion[:EXPLAINED]}
    found |= {key for step in trace.steps for key in step["after"][:EXPLAINED]}
    distance = trace.extra.get("graph_distance", {})
    return found | {f"entity:{id_}" for id_ in distance.get("seeds", ())}


def print_explanation(result: Result, recipe: Recipe, names: Mapping[str, str]) -> None:
    """Keywords, each method's list, the fusion arithmetic, each step before and after, timings; to stdout."""
    trace = result.trace
    names = {**names, **{f"value:{item.id}": str(item) for item in result.items if item.type == "value"}}
    _lines(_asked(trace.extra))
    _lines(_cypher(trace.extra))
    for ranked in trace.lists:
        types = {hit["type"] for hit in ranked["hits"]}
        _title(f"{ranked['method']}: {ranked['found']} found{' (' + ', '.join(types) + ')' if types else ''}")
        _lines(f"{hit['rank']:>4}  {hit['score']:.4f}  {_name(names, hit)}" for hit in ranked["hits"][:EXPLAINED])
    if trace.fusion:
        _title(f"fusion, rrf_k = {recipe.rrf_k}")
        _lines(
            f"{row['rank']:>4}  {row['score']:.6f} = {row['arithmetic']}  {_name(names, row)}"
            for row in trace.fusion[:EXPLAINED]
        )
    for step in trace.steps:
        _title(f"{step['step']}: {len(step['before'])} before, {len(step['after'])} after")
        before = {key: rank for rank, key in enumerate(step["before"], start=1)}
        for rank, key in enumerate(step["after"][:EXPLAINED], start=1):
            was = before.get(key)
            _lines([f"{rank:>4}  {'new' if was is None else f'was {was}':>8}  {_shown(names, key)}"])
    _lines(_models(trace.extra, names))
    for failure in result.degraded:
        _title(f"degraded: {failure['stage']} {failure['name']}: {failure['error']}")
    for note in trace.notes:
        _lines([f"note: {note}"])
    _title("timings: " + ", ".join(f"{stage} {seconds * 1000:.0f} ms" for stage, seconds in trace.timings.items()))
    console.out().print()


def _asked(extra: Mapping[str, Any]) -> Iterable[str]:
    decomposition = extra.get("decomposition")
    if decomposition is not None:
        parts = " | ".join(decomposition["parts"]) or "none"
        yield f"parts of the question (by {decomposition['by']}): {parts}"
    for found in extra.get("keywords", ()):
        fallback = ", the question's own terms" if found["fallback"] else ""
        yield (
            f"keywords (by {found['by']}{fallback}): low-level {', '.join(found['low'])}; "
            f"high-level {', '.join(found['high'])}"
        )


def _cypher(extra: Mapping[str, Any]) -> Iterable[str]:
    for asked in extra.get("text2cypher", ()):
        for attempt in asked["attempts"]:
            yield f"Cypher: {attempt['query']}"
            if attempt["error"]:
                yield f"  failed: {attempt['error']}"
        by = {None: "not needed", "rule": "by rule", "generator": "by the generator"}[asked["repaired"]]
        rows = f"{asked['rows']} rows" if asked["query"] is not None else "no result"
        yield f"  repair: {by}; {rows}"


def _models(extra: Mapping[str, Any], names: Mapping[str, str]) -> Iterable[str]:
    reranked = extra.get("rerank")
    if reranked is not None:
        yield f"re-ranker: {reranked['model']} ({reranked['kind']}), {len(reranked['scores'])} items scored"
    distance = extra.get("graph_distance")
    if distance is not None:
        yield "distance from: " + ", ".join(_shown(names, f"entity:{id_}") for id_ in distance["seeds"])


def _name(names: Mapping[str, str], row: Mapping[str, Any]) -> str:
    return _shown(names, f"{row['type']}:{row['id']}")


def _shown(names: Mapping[str, str], key: str) -> str:
    type_ = key.partition(":")[0]
    return f"{type_:<9} {console.one_line(names.get(key, key), NAME_CHARACTERS)}"


def _title(text: str) -> None:
    console.out().print(console.plain(text, style="bold"))


def _lines(lines: Iterable[str]) -> None:
    for line in lines:
        console.out().print(console.plain(line), soft_wrap=True)
