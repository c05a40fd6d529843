"""The ablation of `multihop`: each method and step alone and removed, and the steps of its tuning, as a Markdown table.

usage: python benchmarks/multihop.py [--rerank] [--questions N] [--set NAME]...

Re-ranker scores are remembered between the variants of a set, so only the first variant's time is a query's time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

from data import MULTIHOP, questions, require_data, store
from retrieval import recall

from ekr import Engine
from ekr.loaded import LoadedModels
from ekr.models.base import Passage, Reranker

DEPTHS = (2, 5, 10)
Changes = Mapping[str, Any]

TEXT = {"methods": ["chunk", "bm25"]}
WITHOUT_RERANK: dict[str, Changes] = {
    "full": {},
    "chunk alone": {"methods": ["chunk"], "walk": "none"},
    "bm25 alone": {"methods": ["bm25"], "walk": "none"},
    "chunk + bm25, no walk": {**TEXT, "walk": "none"},
    "links alone": {"walk": ["links"]},
    "PageRank alone": {"walk": ["pagerank"]},
    "without chunk": {"methods": ["bm25", "entity"]},
    "without bm25": {"methods": ["chunk", "entity"]},
    "without entity": TEXT,
    "links of names in the question only": {"link_seeds": 0},
    "links of the first passage only": {"link_seeds": 1},
    "links of the first 5 passages": {"link_seeds": 5},
    "links of the first 10 passages": {"link_seeds": 10},
    "two link hops": {"link_hops": 2},
    "PageRank before links": {"walk": ["pagerank", "links"]},
    "PageRank weight 0.25": {"pagerank_weight": 0.25},
    "PageRank weight 1": {"pagerank_weight": 1.0},
    "PageRank damping 0.85": {"pagerank_damping": 0.85},
    "bm25 also by parents": {"bm25_parents": True},
}
WITH_RERANK: dict[str, Changes] = {
    "full": {},
    "without links": {"walk": ["pagerank"], "relink": False},
    "without PageRank": {"walk": ["links"]},
    "without following links again": {"relink": False},
    "without the blend": {"rerank_weight": 1.0},
}


class Remembering:
    """A re-ranker that scores each passage once a question."""

    def __init__(self, model: Reranker) -> None:
        self.name, self.kind = model.name, model.kind
        self._model = model
        self._scores: dict[tuple[str, str, str], float] = {}

    def score(self, question: str, passages: Sequence[Passage], language: str) -> list[float]:
        """Scores in the order of the passages."""
        keys = [(question, passage.heading, passage.text) for passage in passages]
        new = [index for index, key in enumerate(keys) if key not in self._scores]
        scores = self._model.score(question, [passages[index] for index in new], language) if new else []
        self._scores.update({keys[index]: score for index, score in zip(new, scores, strict=True)})
        return [self._scores[key] for key in keys]


class RememberingModels(LoadedModels):
    """Models whose re-rankers remember."""

    _remembering: Remembering | None = None

    def reranker(self, language: str) -> Reranker | None:
        """The re-ranker for that language, wrapped."""
        if self._remembering is None:
            model = super().reranker(language)
            self._remembering = Remembering(model) if model is not None else None
        return self._remembering


def measure(engine: Engine, rows: Sequence[Mapping[str, Any]], changes: Changes) -> tuple[list[float], float]:
    """Mean recall at each depth in per cent, and the median seconds of a query."""
    recalls: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    seconds = []
    for row in rows:
        started = time.perf_counter()
        result = engine.retrieve(row["question"], "multihop", **changes)
        seconds.append(time.perf_counter() - started)
        for depth, values in recalls.items():
            values.append(recall(result, row["gold_passages"], depth))
    return [100 * statistics.mean(values) for values in recalls.values()], statistics.median(seconds)


def main() -> None:
    require_data()
    parser = argparse.ArgumentParser()
    parser.add_argument("--rerank", action="store_true")
    parser.add_argument("--questions", type=int)
    parser.add_argument("--set", dest="sets", action="append", choices=MULTIHOP)
    arguments = parser.parse_args()
    sets = arguments.sets or list(MULTIHOP)
    variants = (
        WITH_RERANK if arguments.rerank else {name: {**v, "rerank": "none"} for name, v in WITHOUT_RERANK.items()}
    )
    rows: dict[str, list[str]] = {name: [] for name in variants}
    fives: dict[str, list[float]] = {name: [] for name in variants}
    for corpus in sets:
        asked = questions(corpus)[: arguments.questions]
        with Engine.open(store(corpus)) as engine:
            engine.models = RememberingModels(engine.settings)
            engine.retrieve("warm up", "multihop", rerank="none")
            for name, changes in variants.items():
                recalls, seconds = measure(engine, asked, changes)
                fives[name].append(recalls[1])
                rows[name].append(" / ".join(f"{value:.1f}" for value in recalls) + f" ({seconds:.2f} s)")
    print(f"| variant | {' | '.join(sets)} | mean recall@5 |\n|---|{'---|' * (len(sets) + 1)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} | {statistics.mean(fives[name]):.1f} |")


if __name__ == "__main__":
    main()
