"""Quality of retrieval on the evaluation data: evidence in the top 5, recall over gold passages.

usage: python benchmarks/retrieval.py [--recipe NAME]... [--set K=V]... [--reranker NAME] [--questions N] CORPUS...
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from data import MULTIHOP, questions, require_data, store

from ekr import Engine, Result, recipes
from ekr.bench.normalise import normalise


def first_evidence(result: Result, patterns: list[str]) -> int | None:
    """Rank of the first chunk for which any pattern matches `last heading + " " + text`."""
    import re

    for item in result.items:
        last = (item.heading or "").split(" > ")[-1]
        text = normalise(f"{last} {item.text}")
        if any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns):
            return item.rank
    return None


def recall(result: Result, gold: list[Any], k: int) -> float:
    """Share of the gold documents among the first k distinct documents."""
    ranked = list(dict.fromkeys(item.document_id for item in result.items))[:k]
    return len({str(g) for g in gold} & set(ranked)) / len(gold)


def main() -> None:
    require_data()
    parser = argparse.ArgumentParser()
    parser.add_argument("corpora", nargs="*", default=["ai_act_fr", *MULTIHOP])
    parser.add_argument("--recipe", action="append")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--reranker", default="auto")
    parser.add_argument("--questions", type=int)
    arguments = parser.parse_args()
    changes = {k: recipes.parse_value(v) for k, _, v in (pair.partition("=") for pair in arguments.set)}
    for corpus in arguments.corpora:
        for recipe in arguments.recipe or ["hybrid_mix", "naive"]:
            with Engine.open(store(corpus), reranker=arguments.reranker) as engine:
                report(engine, corpus, recipe, changes, questions(corpus)[: arguments.questions])


def report(engine: Engine, corpus: str, recipe: str, changes: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Prints one line for a corpus and a recipe."""
    seconds, ranks, recalls = [], [], {2: [], 5: [], 10: []}
    engine.retrieve("warm up", recipe, **changes)
    for row in rows:
        started = time.perf_counter()
        result = engine.retrieve(row["question"], recipe, **changes)
        seconds.append(time.perf_counter() - started)
        if row.get("evidence"):
            ranks.append((row["id"], first_evidence(result, row["evidence"])))
        for k, values in recalls.items():
            if row.get("gold_passages"):
                values.append(recall(result, row["gold_passages"], k))
    parts = [f"{corpus:10} {recipe:12} {changes or ''}"]
    if ranks:
        at = {k: sum(r is not None and r <= k for _, r in ranks) for k in (1, 3, 5, 10, 20)}
        parts.append(f"evidence of {len(ranks)} at 1/3/5/10/20: {'/'.join(map(str, at.values()))}")
        parts.append(f"not in 5: {' '.join(f'{i}:{r}' for i, r in ranks if r is None or r > 5)}")
    if recalls[2]:
        parts.append("recall@2/5/10: " + " / ".join(f"{100 * statistics.mean(v):.1f}" for v in recalls.values()))
    parts.append(f"{statistics.median(seconds):.3f} s")
    print(" | ".join(parts), flush=True)


if __name__ == "__main__":
    main()
