"""Every document deleted, one by one in random order: nothing of any is left anywhere."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from ekr.ingestion.repair import RebuildingModels
from ekr.store import Store
from ekr.store.check import check
from ekr.store.schema import VECTORS_OF
from tests.reliability import shelves

COUNT = int(os.environ.get("EKR_TEST_DOCUMENTS", "12"))


@pytest.mark.parametrize("seed", [1])
def test_deleting_every_document_in_random_order_leaves_nothing(tmp_path: Path, seed: int) -> None:
    folder, store = shelves.write(tmp_path / "notes", COUNT), tmp_path / "store"
    assert len(shelves.make(store, folder).added) == COUNT
    with shelves.engine_of(store) as engine:
        # As the llm extractor keeps its answers, of a document and of none.
        with engine.store.writer(engine.snapshot().manifest) as writer:
            for record in engine.documents():
                writer.cache_call("extract", record.id, "answer", record.id)
            writer.cache_call("report", "a community", "answer", None)
            writer.publish()
        keys = [record.key for record in engine.documents()]
        random.Random(seed).shuffle(keys)
        for left, key in zip(range(COUNT - 1, -1, -1), keys, strict=True):
            assert len(engine.delete(key)) == 1
            assert engine.status()["documents"] == left
            if left % 4 == 1:
                assert check(Store(store)) == []
    assert set(shelves.rows(store).values()) == {0}
    assert shelves.vectors(store) == dict.fromkeys(VECTORS_OF, 0)
    assert shelves.postings(store) == {"chunks": 0, "parents": 0}
    with shelves.engine_of(store) as engine:
        engine.compact()
        assert engine.doctor().sound
    empty = tmp_path / "empty"
    _make_empty(empty)
    assert shelves.bytes_on_disk(store) <= 1.1 * shelves.bytes_on_disk(empty)
    assert shelves.files_with(store, *(shelves.own_word(number) for number in range(COUNT))) == []
    assert not list((shelves.generation_of(store) / "vectors").glob("*.lance"))


def _make_empty(store: Path) -> None:
    """A store into which nothing has ever gone."""
    with shelves.engine_of(store) as engine, engine.store.writer(engine._manifest()) as writer:
        writer.publish()


def test_after_everything_is_deleted_documents_go_in_again(tmp_path: Path) -> None:
    folder, store = shelves.write(tmp_path / "notes", 4), tmp_path / "store"
    shelves.make(store, folder)
    before = shelves.rows(store), shelves.vectors(store), shelves.postings(store)
    with shelves.engine_of(store) as engine:
        engine.delete("*")
        assert engine.status()["documents"] == 0
    shelves.make(store, folder)
    assert (shelves.rows(store), shelves.vectors(store), shelves.postings(store)) == before


def test_the_models_of_a_repair_are_not_loaded_by_a_deletion_of_everything(tmp_path: Path) -> None:
    folder, store = shelves.write(tmp_path / "notes", 2), tmp_path / "store"
    shelves.make(store, folder)

    def never() -> object:
        raise AssertionError("no model is needed to delete")

    with shelves.engine_of(store) as engine:
        engine.models = RebuildingModels(never, never)  # type: ignore[arg-type, assignment]
        assert len(engine.delete("*")) == 2
