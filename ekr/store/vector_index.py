"""Above a size where reading every vector takes too long: an index, kept only if its recall was measured good."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

INDEX_ABOVE = 20_000
MIN_RECALL = 0.98

_SAMPLE = 50
_DEPTH = 100
_PROBE_SHARES = (0.1, 0.2, 0.4)
_UNINDEXED_SHARE = 0.1

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Probing:
    """How an index is searched: the number of partitions probed, each read whole."""

    probes: int


def probing_of(directory: Path, table: str) -> Probing | None:
    """How to search a table's index; None when every row is to be read."""
    path = _path(directory, table)
    return Probing(int(json.loads(path.read_text())["probes"])) if path.is_file() else None


def build_index(table: Any, directory: Path, name: str) -> None:
    """Give a large table an index; a small one, or one whose index finds too little, is read row by row.

    Recall@100 against the exact search is measured on rows of the table with more and more partitions probed
    until it reaches `MIN_RECALL`. Vectors are kept whole: quantised ones took longer to search and to build.
    """
    rows = table.count_rows()
    path = _path(directory, name)
    if rows < INDEX_ABOVE:
        path.unlink(missing_ok=True)
        return
    if path.is_file() and _unindexed(table) <= _UNINDEXED_SHARE * rows:
        return
    partitions = max(2, round(math.sqrt(rows)))
    from lancedb.index import IvfFlat

    table.create_index("vector", config=IvfFlat(distance_type="dot", num_partitions=partitions), replace=True)
    probing = _measured(table, partitions)
    path.unlink(missing_ok=True)
    if probing is not None:
        # A new file, never a write into the old one, which the generation before shares.
        path.write_text(json.dumps(asdict(probing)))


def _measured(table: Any, partitions: int) -> Probing | None:
    rows = table.count_rows()
    places = [rows * number // _SAMPLE for number in range(_SAMPLE)]
    vectors = table.take_offsets(places).select(["vector"]).to_arrow()["vector"].to_pylist()
    exact = [_ids(table.search(vector).distance_type("dot").bypass_vector_index()) for vector in vectors]
    for share in _PROBE_SHARES:
        probing = Probing(max(1, round(share * partitions)))
        found = [_ids(table.search(vector).distance_type("dot").nprobes(probing.probes)) for vector in vectors]
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


def _path(directory: Path, table: str) -> Path:
    return directory / f"{table}.probing.json"
