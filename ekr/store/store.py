"""A store directory: where snapshots and writers come from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ekr.errors import StoreError
from ekr.store import generations
from ekr.store.locks import acquire_writer
from ekr.store.manifest import Manifest
from ekr.store.schema import StorePart
from ekr.store.snapshot import Snapshot
from ekr.store.writer import Writer


class Store:
    """One store directory; nothing is created until a writer opens."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

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
        manifest: Manifest,
        wait_seconds: float = 10,
        parts: Sequence[StorePart] = (),
        *,
        re_embed: bool = False,
    ) -> Writer:
        """Become the one writer, waiting at most `wait_seconds`; use as a context manager.

        With `re_embed` another embedder is welcome: the next generation starts without vectors, and every one
        must be given to `put_vectors` before `publish`. Raises StoreLocked, which names the holder, and
        StoreError for another embedder, a newer format, or a directory that cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = acquire_writer(self.path / generations.WRITER_LOCK, wait_seconds)
        except OSError as error:
            raise StoreError(f"cannot write to the store {self.path}: {error.strerror}") from error
        try:
            return Writer(self.path, manifest, lock, parts, re_embed=re_embed)
        except BaseException:
            lock.release()
            raise
