"""Above a size where reading every vector takes too long: an index, kept only if its recall was measured good."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
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
    """How an index is searched: the number of partitions probed, each read whole; SHA-256 of its files by name.

    LanceDB keeps no checksums of its own. The files of an index never change: another one has other names.
    """

    probes: int
    files: Mapping[str, str] = field(default_factory=dict)


def probing_of(directory: Path, table: str) -> Probing | None:
    """How to search a table's index; None when every row is to be read. Raises OSError, ValueError, LookupError."""
    path = _path(directory, table)
    if not path.is_file():
        return None
    try:
        noted = json.loads(path.read_text())
        return Probing(int(noted["probes"]), dict(noted.get("files", {})))
    except (TypeError, AttributeError) as error:
        raise ValueError(f"{path.name} is damaged") from error


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
    try:
        known = probing_of(directory, name)
    except (ValueError, LookupError):
        known = None
    if known is not None and _unindexed(table) <= _UNINDEXED_SHARE * rows:
        if set(known.files) != set(_files(directory, name)):
            _note(directory, name, known)
        return
    partitions = max(2, round(math.sqrt(rows)))
    from lancedb.index import IvfFlat

    table.create_index("vector", config=IvfFlat(distance_type="dot", num_partitions=partitions), replace=True)
    probing = _measured(table, partitions)
    if probing is None:
        path.unlink(missing_ok=True)
    else:
        _note(directory, name, probing)


def damaged_files(directory: Path, table: str, probing: Probing) -> list[str]:
    """Names of the files of an index that are missing or not what was built, sorted."""
    present = _files(directory, table)
    return sorted(name for name, noted in probing.files.items() if name not in present or _hash(present[name]) != noted)


def _note(directory: Path, table: str, probing: Probing) -> None:
    present = sorted(_files(directory, table).items())
    # What was noted is kept: damage since then must not pass for what was built.
    files = {name: probing.files.get(name) or _hash(file) for name, file in present}
    path = _path(directory, table)
    # A new file, never a write into the old one, which the generation before shares.
    path.unlink(missing_ok=True)
    path.write_text(json.dumps(asdict(Probing(probing.probes, files))))


def _files(directory: Path, table: str) -> dict[str, Path]:
    folder = directory / f"{table}.lance" / "_indices"
    return {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
