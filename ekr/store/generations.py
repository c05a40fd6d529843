"""Generations: directories that are built aside, committed by one rename, pinned by readers, then collected.

STORE/CURRENT                 the number of the generation that readers see
STORE/writer.lock             held by the one writer
STORE/generations/<n>/        graph.duckdb, vectors/, bm25/, pin (the readers' shared lock), committed (was current)
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ekr.errors import StoreEmpty, StoreError
from ekr.store.locks import HeldLock, try_exclusive, try_shared

CURRENT = "CURRENT"
WRITER_LOCK = "writer.lock"
GRAPH = "graph.duckdb"
VECTORS = "vectors"
BM25 = "bm25"
PIN = "pin"
COMMITTED = "committed"
EMPTY = "the store {} holds nothing yet; run: ekr ingest PATH"

_DIRECTORY = "generations"
_REMOVED = ".removed-"
_PIN_ATTEMPTS = 200
_LONGEST_NUMBER = 20
_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK, errno.EACCES}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A generation that no writer removes until `lock` is released."""

    generation: int
    directory: Path
    lock: HeldLock


def current(root: Path) -> int | None:
    """The committed generation; None for a store that holds nothing. Raises StoreError on a damaged `CURRENT`."""
    try:
        text = (root / CURRENT).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"cannot read {root / CURRENT}: {error.strerror}") from error
    if not text.strip().isdecimal() or len(text) > _LONGEST_NUMBER:
        raise StoreError(f"{root / CURRENT} is damaged; run: ekr doctor --repair")
    return int(text)


def has_current(root: Path) -> bool:
    """Whether there is a `CURRENT`, be it damaged."""
    return (root / CURRENT).exists()


def directory_of(root: Path, generation: int) -> Path:
    """Where a generation lies."""
    return root / _DIRECTORY / str(generation)


def pin(root: Path) -> Pinned:
    """Pin the committed generation. Raises StoreEmpty without one, StoreError when it is damaged."""
    missing = 0
    for _ in range(_PIN_ATTEMPTS):
        generation = current(root)
        if generation is None:
            raise StoreEmpty(EMPTY.format(root))
        directory = directory_of(root, generation)
        try:
            lock = try_shared(directory / PIN)
        except (FileNotFoundError, NotADirectoryError) as error:
            missing += 1
            if missing > 2 and current(root) == generation:
                raise StoreError(
                    f"generation {generation} of the store {root} is missing; run: ekr doctor --repair"
                ) from error
            continue
        except PermissionError as error:
            raise StoreError(f"cannot read {directory / PIN}: {error.strerror}") from error
        if lock is not None:
            # Between reading CURRENT and locking, a writer may have published and collected.
            if current(root) == generation:
                return Pinned(generation, directory, lock)
            lock.release()
        time.sleep(0.005)
    raise StoreError(f"the store {root} changes too fast to be read; try again")


def begin(root: Path, base: int | None, *, vectors: bool = True) -> tuple[int, Path]:
    """Make the directory of the next generation, filled from `base`, and return its number and place.

    Rows are copied; vectors and postings are hard-linked where the file system can, since their engines
    never write into a file that exists. Without `vectors` those are left out, to be made anew.
    """
    generation = (base or 0) + 1
    directory = directory_of(root, generation)
    if directory.exists():
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    (directory / PIN).touch()
    for part in (VECTORS, BM25):
        (directory / part).mkdir()
    if base is not None:
        source = directory_of(root, base)
        shutil.copyfile(source / GRAPH, directory / GRAPH)
        for part in (VECTORS, BM25) if vectors else (BM25,):
            if (source / part).is_dir():
                link_tree(source / part, directory / part)
    return generation, directory


def link_tree(source: Path, target: Path) -> None:
    """Hard-link the files below `source` into `target`, or copy them where links are refused.

    Lock files stay behind: a shared inode would let one generation's lock block another's.
    """
    for folder, _, names in os.walk(source):
        into = target / Path(folder).relative_to(source)
        into.mkdir(parents=True, exist_ok=True)
        for name in names:
            if not name.endswith(".lock"):
                _link_or_copy(Path(folder, name), into / name)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        shutil.copyfile(source, target)


def commit(root: Path, generation: int) -> None:
    """Make a finished generation the one that readers see; durable when this returns."""
    sync_tree(directory_of(root, generation))
    _sync(root / _DIRECTORY)
    logger.debug("synced")
    fresh = root / f"{CURRENT}.new"
    with fresh.open("w", encoding="utf-8") as file:
        file.write(f"{generation}\n")
        file.flush()
        os.fsync(file.fileno())
    logger.debug("written")
    fresh.replace(root / CURRENT)
    logger.debug("renamed")
    _sync(root)
    # A generation that was current is told from one that a killed command left, should CURRENT be lost.
    with contextlib.suppress(OSError):
        (directory_of(root, generation) / COMMITTED).touch()
    logger.debug("committed")


def sync_tree(directory: Path) -> None:
    """Flush every file and directory below `directory` to the disk."""
    for folder, _, names in os.walk(directory, topdown=False):
        for name in names:
            _sync(Path(folder, name))
        _sync(Path(folder))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def collect(root: Path, keep: int | None) -> list[int]:
    """Remove every generation but `keep` that no reader pins, crash leftovers included; returns their numbers.

    Only the holder of the writer lock may call this. What cannot be removed stays until the next time.
    """
    removed = []
    for doomed in _entries(root):
        if doomed.name.startswith(_REMOVED):
            shutil.rmtree(doomed, ignore_errors=True)
    for directory in _entries(root):
        if directory.name.isdecimal() and int(directory.name) != keep and _remove_unpinned(directory):
            removed.append(int(directory.name))
    with contextlib.suppress(OSError):
        (root / f"{CURRENT}.new").unlink()
    return sorted(removed)


def generations(root: Path) -> list[int]:
    """The generations on disk, committed or not, in order."""
    return sorted(int(entry.name) for entry in _entries(root) if entry.name.isdecimal())


def bytes_used(root: Path) -> int:
    """Size of all files of a store; a file with several hard links counts once."""
    sizes = {}
    for folder, _, names in os.walk(root):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                facts = Path(folder, name).lstat()
                sizes[facts.st_ino] = facts.st_size
    return sum(sizes.values())


def _entries(root: Path) -> Iterator[Path]:
    folder = root / _DIRECTORY
    if folder.is_dir():
        yield from list(folder.iterdir())


def _remove_unpinned(directory: Path) -> bool:
    try:
        lock = try_exclusive(directory / PIN)
    except FileNotFoundError:
        shutil.rmtree(directory, ignore_errors=True)
        return True
    except OSError as error:
        logger.warning("%s is not removed: %s", directory, error)
        return False
    if lock is None:
        return False
    with lock:
        # Renamed first, so that a removal cut short is never taken for a generation.
        doomed = directory.with_name(f"{_REMOVED}{directory.name}-{time.time_ns()}")
        try:
            directory.rename(doomed)
        except OSError as error:
            logger.warning("%s is not removed: %s", directory, error)
            return False
        shutil.rmtree(doomed, ignore_errors=True)
    return True
