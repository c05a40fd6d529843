"""A store directory: where snapshots and writers come from."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ekr.errors import StoreEmpty, StoreError
from ekr.models.base import EmbedderInfo
from ekr.store import generations
from ekr.store.faults import told_as
from ekr.store.locks import acquire_writer
from ekr.store.manifest import Manifest
from ekr.store.schema import StorePart
from ekr.store.snapshot import Snapshot
from ekr.store.writer import Writer

# DuckDB takes a backslash for a separator and puts its log before a question mark, LanceDB cannot write below a name
# with a line break, and neither takes bytes that are not UTF-8.
_READ_DIFFERENTLY = re.compile(r"[\x00-\x1f?\ud800-\udfff]" if os.sep == "\\" else r"[\x00-\x1f?\ud800-\udfff\\]")


class Store:
    """One store directory; nothing is created until a writer opens.

    Raises StoreError for a path in which an engine would read another one than the file system does.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        if _READ_DIFFERENTLY.search(str(self.path.absolute())):
            raise StoreError(
                f"the path {str(self.path)!r} holds a backslash, a question mark, a control character or what is not "
                "UTF-8, which the engines of a store do not read alike; name another directory"
            )

    def generation(self) -> int | None:
        """Number of the committed generation; None while the store is empty."""
        return generations.current(self.path)

    def snapshot(self) -> Snapshot:
        """Pin the committed generation; use as a context manager. Raises StoreEmpty, StoreError."""
        snapshot = Snapshot(generations.pin(self.path), self.path)
        try:
            _ = snapshot.manifest
        except BaseException:
            snapshot.close()
            raise
        return snapshot

    def writer(
        self,
        manifest: Manifest | None = None,
        wait_seconds: float = 10,
        parts: Sequence[StorePart] = (),
        *,
        re_embed: EmbedderInfo | None = None,
    ) -> Writer:
        """Become the one writer, waiting at most `wait_seconds`; use as a context manager.

        Without a `manifest` it is the store's own, read when no one else writes any more. With `re_embed`, the
        embedder of then on, the next generation starts without vectors, and every one must be given to
        `put_vectors` before `publish`. Raises StoreLocked, which names the holder, StoreEmpty without a manifest
        in an empty store, and StoreError for another embedder, a newer format, or a directory that cannot be
        written.
        """
        if manifest is None and self.generation() is None:
            raise StoreEmpty(generations.EMPTY.format(self.path))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = acquire_writer(self.path / generations.WRITER_LOCK, wait_seconds)
        except OSError as error:
            raise StoreError(f"cannot write to the store {self.path}: {error.strerror}") from error
        try:
            with told_as(f"cannot write to the store {self.path}", "what was published before is intact"):
                return Writer(self.path, manifest, lock, parts, re_embed=re_embed)
        except BaseException:
            lock.release()
            raise
