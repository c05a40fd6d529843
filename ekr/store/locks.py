"""File locks between processes: one writer, any number of pinned readers, never inherited by a child."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
import weakref
from datetime import datetime
from pathlib import Path
from types import TracebackType

from ekr.errors import StoreError, StoreLocked

POLL_SECONDS = 0.05


class HeldLock:
    """An flock held through an open file; `release` gives it back, and so does the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        _held.add(self)

    def release(self) -> None:
        """Give the lock back; harmless when already released."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> HeldLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


_held: weakref.WeakSet[HeldLock] = weakref.WeakSet()


def _close_in_child() -> None:
    # A forked child shares the open file: if it outlived its parent the lock would stay held.
    for lock in list(_held):
        lock.release()


os.register_at_fork(after_in_child=_close_in_child)


def try_shared(path: Path) -> HeldLock | None:
    """The shared lock of an existing file, which need not be writable; None while another holds it alone.

    Raises FileNotFoundError, and StoreError where the file system has no locks.
    """
    return _try_lock(path, os.O_RDONLY, fcntl.LOCK_SH)


def try_exclusive(path: Path) -> HeldLock | None:
    """The exclusive lock of an existing file; None while anyone else holds it. Raises like `try_shared`."""
    return _try_lock(path, os.O_RDWR, fcntl.LOCK_EX)


def acquire_writer(path: Path, wait_seconds: float) -> HeldLock:
    """The store's writer lock, waiting at most `wait_seconds`. Raises StoreLocked, which names the holder."""
    deadline = time.monotonic() + wait_seconds
    while (lock := _try_lock(path, os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX)) is None:
        if time.monotonic() >= deadline:
            raise StoreLocked(
                f"the store {path.parent} is being written by {_holder(path)}; try again when it has finished"
            )
        time.sleep(min(POLL_SECONDS, max(0.001, deadline - time.monotonic())))
    since = datetime.now().astimezone().isoformat(timespec="seconds")
    try:
        path.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}))
    except BaseException:
        lock.release()
        raise
    return lock


def _try_lock(path: Path, flags: int, operation: int) -> HeldLock | None:
    descriptor = os.open(path, flags, 0o644)
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        os.close(descriptor)
        raise StoreError(
            f"cannot lock {path} ({error.strerror}); keep the store on a file system with locks"
        ) from error
    return HeldLock(descriptor)


def _holder(path: Path) -> str:
    try:
        holder = json.loads(path.read_text())
        return f"process {holder['pid']} on {holder['host']} since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
