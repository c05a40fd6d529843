"""A copy of one whole generation, taken while writers go on."""

from __future__ import annotations

import shutil
from pathlib import Path

from ekr.errors import UsageError
from ekr.store import generations
from ekr.store.faults import told_as
from ekr.store.store import Store


def backup(store: Store, destination: Path) -> int:
    """Copy the committed generation into a new store at `destination`; returns its number.

    Nothing counts at the destination until the copy is whole. Raises StoreEmpty, UsageError when something is
    already there, and StoreError when it cannot be written.
    """
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise UsageError(f"{destination} is not empty; name a new directory for the backup")
    with store.snapshot() as snapshot:
        target = generations.directory_of(destination, snapshot.generation)
        with told_as(f"cannot write the backup to {destination}", "the store itself is unchanged"):
            shutil.copytree(snapshot.directory, target, copy_function=shutil.copyfile)
            generations.commit(destination, snapshot.generation)
        return snapshot.generation
