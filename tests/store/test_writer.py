"""Any sequence of writes gives what a plain dictionary would hold, in all three engines."""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ekr import Engine
from ekr.errors import StoreEmpty
from ekr.store import Store, writer
from ekr.store.check import check
from ekr.store.records import PreparedDocument
from tests.store.builders import MANIFEST, document, ingest, numbered, put

keys = st.integers(0, 4)
steps = st.one_of(
    st.tuples(st.just("put"), keys, st.lists(st.sampled_from(["alpha ", "beta ", "gamma "]), max_size=3)),
    st.tuples(st.just("delete"), keys),
    st.sampled_from([("publish",), ("compact",), ("reopen",), ("flush",)]),
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=st.lists(steps, min_size=1, max_size=10))
def test_any_sequence_of_writes_gives_what_a_dictionary_would_hold(plan: list[tuple]) -> None:  # type: ignore[type-arg]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store")
        held: dict[str, PreparedDocument] = {}
        published: dict[str, PreparedDocument] = {}
        opened = store.writer(MANIFEST)
        for step, *values in plan:
            if step == "put":
                key, texts = values
                prepared = document(f"/{key}.txt", *texts, language="fr" if key % 2 else "en")
                put(opened, prepared)
                held[prepared.record.id] = prepared
            elif step == "delete":
                document_id = document(f"/{values[0]}.txt").record.id
                opened.delete([document_id])
                held.pop(document_id, None)
            elif step == "reopen":
                opened.close()
                held = dict(published)
                opened = store.writer(MANIFEST)
            elif step == "flush":
                opened.flush()
            else:
                opened.publish() if step == "publish" else opened.compact()
                published = dict(held)
            hashes = dict(opened.content_hashes().values())
            assert hashes == {key: prepared.record.content_hash for key, prepared in held.items()}
        opened.publish()
        opened.close()
        assert check(store) == []
        with store.snapshot() as snapshot:
            assert {record.id: record for record in snapshot.documents()} == {k: p.record for k, p in held.items()}
            for word in ("alpha", "beta", "gamma"):
                expected = {c.id for p in held.values() for c in p.chunks if word in c.text}
                assert {hit for hit, _ in snapshot.search_bm25(word, 100)} == expected


def test_a_checkpoint_is_due_only_when_it_costs_little_of_the_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.writer(MANIFEST) as opened:
        assert opened.checkpoint_due() is False
        monkeypatch.setattr(writer, "CHECKPOINT_SECONDS", 0.0)
        assert opened.checkpoint_due() is True
        put(opened, numbered(1))
        opened.publish()
        assert opened.checkpoint_due() is False


def test_batches_are_written_as_they_fill(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from ekr.store import pending

    monkeypatch.setattr(pending, "FLUSH_CHUNKS", 7)
    with store.writer(MANIFEST) as opened:
        for number in range(5):
            put(opened, numbered(number))
        rows = opened.connection.execute("SELECT count(*) FROM chunks").fetchone()
        assert rows == (9,)
        opened.publish()
    assert ingest(store, numbered(9)) == 2
    assert check(store) == []
    with store.snapshot() as snapshot:
        assert snapshot.counts()["chunks"] == 18


def test_a_writer_without_a_manifest_takes_what_the_one_before_it_left(store: Store) -> None:
    with pytest.raises(StoreEmpty):
        store.writer()
    assert not store.path.exists()
    ingest(store, numbered(1))
    without_graph = replace(MANIFEST, extractor="none")
    with ThreadPoolExecutor() as pool:
        with store.writer(without_graph) as writer:
            put(writer, numbered(2))
            compacting = pool.submit(Engine.open(store.path).compact)
            time.sleep(0.5)
            assert not compacting.done()
            writer.publish()
        assert compacting.result(timeout=30) == 3
    with store.snapshot() as snapshot:
        assert snapshot.manifest == replace(without_graph, analysers=snapshot.manifest.analysers)
        assert len(snapshot.documents()) == 2
