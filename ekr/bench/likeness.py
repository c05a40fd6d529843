"""In what two runs are unlike, apart from their recipes: what a reader of their comparison must know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ekr.bench.directory import RunInfo
from ekr.bench.grading import Row
from ekr.bench.questions import Question

_ENGINE = {
    "store": "store",
    "generation": "generation of the store",
    "documents": "number of documents",
    "chunks": "number of passages",
    "embedder": "embedder",
    "reranker": "re-ranker",
    "seed": "seed",
}


def differences(a: RunInfo, b: RunInfo) -> list[str]:
    """One line each thing in which the two runs differ: what was asked of whom, on which machine."""
    found = []
    if a.retrieval_only != b.retrieval_only:
        only, other = ("A", "B") if a.retrieval_only else ("B", "A")
        found.append(f"{only} measured retrieval alone, {other} answers too: latencies are of other work")
    else:
        found += _unlike({"generator": a.generator, "judge": a.judge}, {"generator": b.generator, "judge": b.judge})
    found += _unlike(_named(a.engine), _named(b.engine))
    found += _unlike({"--repeat": a.repeat, "--jobs": a.jobs}, {"--repeat": b.repeat, "--jobs": b.jobs})
    found += _unlike(a.machine, b.machine)
    return found


def _named(engine: Mapping[str, Any]) -> dict[str, Any]:
    return {_ENGINE.get(key, key): value for key, value in engine.items()}


def _unlike(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys((*a, *b)):
        if a.get(name) != b.get(name):
            yield f"another {name}: {_shown(a.get(name))} in A, {_shown(b.get(name))} in B"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


def question_differences(a: Sequence[Question], b: Sequence[Question]) -> list[str]:
    """Which questions cannot be paired, and which are scored by other fields (evidence, facts, …) in each run."""
    of_a, of_b = ({question.id: question for question in side} for side in (a, b))
    both = [i for i in of_a if i in of_b]
    found = []
    if reworded := [i for i in both if of_a[i].question != of_b[i].question]:
        found.append(f"left out, the same id but another question: {', '.join(reworded)}")
    for side, ids in (("A", of_a.keys() - of_b.keys()), ("B", of_b.keys() - of_a.keys())):
        if ids:
            found.append(f"only in {side}, left out: {', '.join(sorted(ids))}")
    for field in Question.model_fields:
        other = [i for i in both if i not in reworded and getattr(of_a[i], field) != getattr(of_b[i], field)]
        if other:
            found.append(f"the same question with another {field!r} in each run: {', '.join(other)}")
    return found


def recipe_differences(a: RunInfo, b: RunInfo, first: str, second: str) -> list[str]:
    """Values in which a recipe named alike in both runs differs; recipes named otherwise differ on purpose."""
    if first != second:
        return []
    of_a, of_b = a.recipe_values.get(first), b.recipe_values.get(second)
    if of_a is None or of_b is None:
        return []
    return [f"recipe {first} has {one}" for one in _unlike(of_a, of_b)]


def shortfalls(side: str, scored: Sequence[Row]) -> list[str]:
    """How many of one side's queries failed or went on without a part; rows of one recipe."""
    counts = {"failed": sum(r.error is not None for r in scored), "degraded": sum(bool(r.degraded) for r in scored)}
    return [f"{side}: {what} queries: {count} of {len(scored)}" for what, count in counts.items() if count]
