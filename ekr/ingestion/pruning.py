"""Which stored documents `--prune` removes: those whose files are gone from the folders that were named."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ekr.ingestion.prepare import document_key

if TYPE_CHECKING:
    from ekr.ingestion.report import Problem
    from ekr.reading.files import Discovery
    from ekr.store.records import DocumentRecord


def gone(
    stored: Sequence[DocumentRecord],
    seen: Collection[str],
    found: Discovery,
    failed: Sequence[Problem],
    arguments: Sequence[str | Path],
) -> list[DocumentRecord]:
    """The stored documents under `arguments` whose keys are not among those `seen`.

    A file that failed to read today is still there: what was in the store of it stays.
    """
    roots = [Path(argument).resolve() for argument in arguments]
    unread = {problem.document for problem in failed}
    kept_paths = {document_key(file.path) for file in found.files if file.display in unread}
    return [
        record
        for record in stored
        if record.key not in seen
        and record.path not in kept_paths
        and any(_is_under(record.path, root) for root in roots)
    ]


def _is_under(path: str, root: Path) -> bool:
    root_key = document_key(root)
    return path == root_key or path.startswith(root_key.rstrip("/") + "/")
