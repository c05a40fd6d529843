"""Above a size where reading every vector takes too long: an index, kept only if its recall was measured good."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

INDEX_ABOVE = 200_000
MIN_RECALL = 0.95

_SAMPLE = 40
_DEPTH = 10
_REFINE = 20
_PROBE_SHARES = (0.05, 0.1, 0.2, 0.4)
_UNINDEXED_SHARE = 0.1

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Probing:
    """How an index is searched: partitions probed, and how many times the limit is fetched and re-scored."""

    probes: int
    refine: int


def probing_of(directory: Path, table: str) -> Probing | None:
    """How to search a table's index; None when every row is to be read."""
    path = _path(directory, table)
    return Probing(**json.loads(path.read_text())) if path.is_file() else None


def build_index(table: Any, directory: Path, name: str) -> None:
    """Give a large table an index; a small one, or one whose index finds too little, is read row by row.

    Recall@10 against the exact search is measured on rows of the table with more and more partitions probed
    until it reaches `MIN_RECALL`.
    """
    rows = table.count_rows()
    path = _path(directory, name)
    if rows < INDEX_ABOVE:
        path.unlink(missing_ok=True)
        return
    if path.is_file() and _unindexed(table) <= _UNINDEXED_SHARE * rows:
        return
    dimension = table.schema.field("vector").type.list_size
    partitions = max(2, round(math.sqrt(rows)))
    from lancedb.index import IvfPq

    config = IvfPq(distance_type="dot", num_partitions=partitions, num_sub_vectors=_divisor(dimension))
    table.create_index("vector", config=config, replace=True)
    probing = _measured(table, partitions)
    path.unlink(missing_ok=True)
    if probing is not None:
        # A new file, never a write into the old one, which the generation before shares.
        path.write_text(json.dumps(asdict(probing)))


def _measured(table: Any, partitions: int) -> Probing | None:
    vectors = table.search().select(["vector"]).limit(_SAMPLE).to_arrow()["vector"].to_pylist()
    exact = [_ids(table.search(vector).distance_type("dot").bypass_vector_index()) for vector in vectors]
    for share in _PROBE_SHARES:
        probing = Probing(max(1, round(share * partitions)), _REFINE)
        found = [
            _ids(table.search(vector).distance_type("dot").nprobes(probing.probes).refine_factor(probing.refine))
            for vector in vectors
        ]
        recall = sum(len(a & b) / len(a) for a, b in zip(exact, found, strict=True)) / len(exact)
        logger.info("vector index: recall@%d %.3f with %d probes", _DEPTH, recall, probing.probes)
        if recall >= MIN_RECALL:
            return probing
    logger.warning("the vector index finds too little, so every vector is read")
    return None


def _ids(search: Any) -> set[str]:
    return set(search.select(["id", "_distance"]).limit(_DEPTH).to_arrow()["id"].to_pylist())


def _unindexed(table: Any) -> int:
    indexes = [index for index in table.list_indices() if "vector" in index.columns]
    statistics = table.index_stats(indexes[0].name) if indexes else None
    return int(statistics.num_unindexed_rows) if statistics else int(table.count_rows())


def _divisor(dimension: int) -> int:
    """Sub-vectors of four numbers where the dimension allows, else of as few as divide it."""
    return next(dimension // width for width in (4, 3, 2, 1) if dimension % width == 0)


def _path(directory: Path, table: str) -> Path:
    return directory / f"{table}.probing.json"
