"""A backup is a whole store of its own, or an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from ekr.errors import StoreEmpty, UsageError
from ekr.store import Store
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
