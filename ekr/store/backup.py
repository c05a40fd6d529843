"""A copy of one whole generation, taken while writers go on."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from ekr.errors import StoreError, UsageError
from ekr.store import generations
from ekr.store.check import check
from ekr.store.faults import told_as
from ekr.store.store import Store


def backup(store: Store, destination: Path) -> int:
    """Copy the committed generation into a new store at `destination`; returns its number.

    Nothing counts at the destination until the copy is whole and checked; after a failure nothing is left there.
    Raises StoreEmpty, UsageError when something is there already or it lies inside the store, and StoreError when
    it cannot be written, its path cannot be that of a store, or the store itself is damaged.
    """
    copy = Store(destination)
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise UsageError(f"{destination} is not empty; name a new directory for the backup")
    if destination.resolve().is_relative_to(store.path.resolve()):
        raise UsageError(f"{destination} lies inside the store; name a directory outside it")
    with store.snapshot() as snapshot:
        target = generations.directory_of(destination, snapshot.generation)
        with told_as(f"cannot write the backup to {destination}", "the store itself is unchanged"):
            _claim(target.parent)
        try:
            with told_as(f"cannot write the backup to {destination}", "the store itself is unchanged"):
                shutil.copytree(snapshot.directory, target, copy_function=shutil.copyfile)
                generations.commit(destination, snapshot.generation)
            if findings := check(copy):
                raise StoreError(f"the backup would hold what is damaged ({findings[0].message}); run: ekr doctor")
        except BaseException:
            _withdraw(destination, target.parent)
            raise
        return snapshot.generation


def _claim(folder: Path) -> None:
    # Another backup may have filled the destination since it was looked at: only who makes the folder goes on.
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        raise UsageError(f"{folder.parent} is not empty; name a new directory for the backup") from None


def _withdraw(destination: Path, folder: Path) -> None:
    for name in (generations.CURRENT, f"{generations.CURRENT}.new"):
        with contextlib.suppress(OSError):
            (destination / name).unlink()
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        destination.rmdir()
