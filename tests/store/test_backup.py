"""A backup is a whole store of its own, or an error."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from ekr.errors import StoreEmpty, StoreError, UsageError
from ekr.store import Snapshot, Store
from ekr.store.backup import backup
from ekr.store.check import check
from tests.store.builders import contents, ingest, numbered


def test_a_backup_holds_what_the_store_held_and_can_be_written_to(store: Store, tmp_path: Path) -> None:
    ingest(store, numbered(1))
    ingest(store, numbered(2))
    before = contents(store)
    assert backup(store, tmp_path / "copy") == 2
    ingest(store, numbered(3))
    copy = Store(tmp_path / "copy")
    assert contents(copy) == before
    assert check(copy) == []
    assert ingest(copy, numbered(4)) == 3
    assert check(copy) == []


def test_a_backup_never_overwrites_and_needs_something_to_copy(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreEmpty):
        backup(store, tmp_path / "copy")
    ingest(store, numbered(1))
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        backup(store, tmp_path / "taken")
    assert (tmp_path / "taken" / "file").read_text() == "mine"


class Overtaken(Store):
    """Another backup to the same place finishes after this one saw that the place is empty."""

    def __init__(self, path: Path, destination: Path) -> None:
        super().__init__(path)
        self.destination = destination

    def snapshot(self) -> Snapshot:
        backup(Store(self.path), self.destination)
        return super().snapshot()


def test_of_two_backups_to_one_place_the_first_stays_whole(store: Store, tmp_path: Path) -> None:
    ingest(store, numbered(1))
    with pytest.raises(UsageError, match="not empty"):
        backup(Overtaken(store.path, tmp_path / "copy"), tmp_path / "copy")
    copy = Store(tmp_path / "copy")
    assert contents(copy) == contents(store)
    assert check(copy) == []


def test_a_backup_that_fails_leaves_nothing(store: Store, tmp_path: Path) -> None:
    ingest(store, numbered(1))
    with duckdb.connect(str(next(store.path.glob("generations/*/graph.duckdb")))) as connection:
        connection.execute("DELETE FROM parents")
    with pytest.raises(StoreError, match="would hold what is damaged"):
        backup(store, tmp_path / "new" / "copy")
    assert not (tmp_path / "new" / "copy").exists()
