"""What a reader finds after a writer's publish, and what it never sees."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ekr.errors import StoreEmpty, StoreError, UsageError
from ekr.store import Store
from ekr.store.check import check
from tests.store.builders import DIMENSION, EMBEDDER, MANIFEST, contents, document, ingest, numbered, put, vectors_of


def test_a_store_without_a_commit_is_empty_and_nothing_is_created(store: Store) -> None:
    with pytest.raises(StoreEmpty, match="ekr ingest"):
        store.snapshot()
    assert store.generation() is None
    assert not store.path.exists()
    assert check(store) == []


def test_what_is_put_and_published_is_read_back_whole(store: Store) -> None:
    prepared = document(
        "/docs/été.md",
        "Premier. ",
        "Second.",
        language="fr",
        heading="I > Article 6",
        metadata={"année": 1843, "draft": False},
    )
    assert ingest(store, prepared) == 1
    with store.snapshot() as snapshot:
        assert snapshot.counts() == {"documents": 1, "chunks": 2, "entities": 0, "relations": 0, "communities": 0}
        assert snapshot.documents() == [prepared.record]
        assert snapshot.chunks([c.id for c in prepared.chunks]) == {c.id: c for c in prepared.chunks}
        assert snapshot.parents([prepared.parents[0].id]) == {prepared.parents[0].id: prepared.parents[0]}
        assert snapshot.document_records([prepared.record.id, "unknown"]) == {prepared.record.id: prepared.record}
        assert snapshot.document_text(prepared.record.id) == "Premier. Second."
        assert snapshot.page(prepared.record.id, 2) == "Second."
        assert snapshot.languages() == {"fr": 1}
        assert snapshot.manifest.embedder == EMBEDDER
        assert snapshot.manifest.extractor == "nlp"
        assert list(snapshot.iter_chunks()) == list(prepared.chunks)
    assert check(store) == []


def test_a_page_that_is_not_there_is_refused_with_the_pages_there_are(store: Store) -> None:
    prepared = numbered(1)
    ingest(store, prepared)
    with store.snapshot() as snapshot:
        with pytest.raises(UsageError, match="pages 1 to 3"):
            snapshot.page(prepared.record.id, 4)
        with pytest.raises(StoreError, match="ekr documents"):
            snapshot.page("nobody", 1)
        with pytest.raises(StoreError, match="ekr documents"):
            snapshot.document_text("nobody")


def test_the_next_chunk_is_the_one_that_follows_in_the_same_document(store: Store) -> None:
    first, second = numbered(1), numbered(2)
    ingest(store, first, second)
    ids = [chunk.id for chunk in first.chunks]
    with store.snapshot() as snapshot:
        assert snapshot.next_chunks([ids[0], ids[2], second.chunks[1].id]) == {
            ids[0]: ids[1],
            second.chunks[1].id: second.chunks[2].id,
        }
        assert snapshot.next_chunks([]) == {}


def test_a_document_is_found_by_each_name_a_person_may_use(store: Store) -> None:
    one = document("/a/notes.jsonl#42", "One.", record_id="42")
    two = document("/a/b/report.pdf", "Two.")
    ingest(store, one, two)
    with store.snapshot() as snapshot:
        for name in (one.record.key, one.record.display, "42", one.record.id, one.record.id[:8]):
            assert snapshot.find_document(name) == [one.record], name
        assert snapshot.find_document("report.pdf") == [two.record]
        assert snapshot.find_document("%") == snapshot.find_document("") == []


def test_documents_match_globs_and_properties(store: Store) -> None:
    one = document("/law/ai_act.pdf", "One.", metadata={"year": 2024, "public": True})
    two = document("/law/gdpr.pdf", "Two.", metadata={"year": 2016})
    ingest(store, one, two)
    with store.snapshot() as snapshot:
        assert snapshot.match_documents([], {}) is None
        assert snapshot.match_documents(["*.pdf"], {}) == {one.record.id, two.record.id}
        assert snapshot.match_documents(["/law/ai*"], {}) == {one.record.id}
        assert snapshot.match_documents([], {"year": "2016"}) == {two.record.id}
        assert snapshot.match_documents(["*.pdf"], {"public": "true"}) == {one.record.id}
        assert snapshot.match_documents(["*.txt"], {}) == snapshot.match_documents([], {"nothing": "x"}) == set()


def test_nothing_is_seen_before_publish_and_dropped_without_it(store: Store) -> None:
    ingest(store, numbered(1))
    with store.writer(MANIFEST) as writer:
        put(writer, numbered(2))
        writer.flush()
        with store.snapshot() as snapshot:
            assert snapshot.counts()["documents"] == 1
    assert store.generation() == 1
    assert [entry.name for entry in (store.path / "generations").iterdir()] == ["1"]


def test_a_writer_that_changes_nothing_makes_no_generation(store: Store) -> None:
    ingest(store, numbered(1))
    with store.writer(MANIFEST) as writer:
        assert writer.content_hashes().keys() == {"/corpus/report-1.txt"}
        writer.delete(["unknown"])
        assert writer.publish() == 1


def test_an_empty_store_can_be_published(store: Store) -> None:
    with store.writer(MANIFEST) as writer:
        assert writer.publish() == 1
    with store.snapshot() as snapshot:
        assert snapshot.counts()["chunks"] == 0
        assert snapshot.search_bm25("anything", 5) == []
        assert snapshot.search_vectors("chunks", np.ones(DIMENSION, np.float32), 5) == []
    assert check(store) == []


def test_the_writer_goes_on_after_a_publish(store: Store) -> None:
    with store.writer(MANIFEST) as writer:
        for number in range(1, 4):
            put(writer, numbered(number))
            assert writer.publish() == number
            assert writer.content_hashes().keys() == {f"/corpus/report-{n}.txt" for n in range(1, number + 1)}
    with store.snapshot() as snapshot:
        assert snapshot.counts()["documents"] == 3
    assert check(store) == []


def test_checkpoints_and_one_publish_give_the_same_contents(store: Store, tmp_path: Path) -> None:
    documents = [numbered(number, language="fr" if number % 3 else "en") for number in range(7)]
    ingest(store, *documents)
    other = Store(tmp_path / "other")
    with other.writer(MANIFEST) as writer:
        for prepared in documents:
            put(writer, prepared)
            writer.publish()
    assert contents(store) == contents(other)


def test_a_changed_document_replaces_the_old_one_in_every_engine(store: Store) -> None:
    old = document("/a.txt", "The zeppelin rose. ", "It fell.")
    new = document("/a.txt", "The submarine dived.", language="fr")
    ingest(store, old, numbered(1))
    with store.writer(MANIFEST) as writer:
        put(writer, old, new)
        assert writer.content_hashes()["/a.txt"] == (new.record.id, new.record.content_hash)
        writer.publish()
    with store.snapshot() as snapshot:
        assert snapshot.search_bm25("zeppelin", 5) == []
        assert [hit for hit, _ in snapshot.search_bm25("submarine", 5)] == [new.chunks[0].id]
        found = {hit for hit, _ in snapshot.search_vectors("chunks", vectors_of(old)[0], 10)}
        assert found.isdisjoint({c.id for c in old.chunks}) and new.chunks[0].id in found
    assert check(store) == []


def test_a_deleted_document_takes_everything_with_it(store: Store) -> None:
    gone, kept = numbered(1), numbered(2)
    with store.writer(MANIFEST) as writer:
        put(writer, gone, kept)
        writer.cache_call("keywords", "k1", {"high": []}, gone.record.id)
        writer.cache_call("keywords", "k2", ["x"], None)
        writer.publish()
        writer.delete([gone.record.id])
        assert writer.cached_calls("keywords", ["k1", "k2"]) == {"k2": ["x"]}
        writer.publish()
    with store.snapshot() as snapshot:
        for table in ("documents", "pages", "parents", "chunks"):
            column = "id" if table == "documents" else "document_id"
            found = snapshot.connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()
            assert found == [(kept.record.id,)]
        assert {hit for hit, _ in snapshot.search_bm25("report", 9)} == {c.id for c in kept.chunks}
        assert [hit for hit, _ in snapshot.search_bm25("report", 9, field="parent")] == [kept.parents[0].id]
        assert len(snapshot.search_vectors("chunks", vectors_of(gone)[0], 9)) == 3
    assert check(store) == []


def test_a_document_deleted_before_it_was_written_never_appears(store: Store) -> None:
    with store.writer(MANIFEST) as writer:
        put(writer, numbered(1), numbered(2))
        writer.delete([numbered(1).record.id])
        writer.publish()
    with store.snapshot() as snapshot:
        assert [record.key for record in snapshot.documents()] == ["/corpus/report-2.txt"]


@pytest.mark.parametrize(
    "broken",
    [
        np.ones((3, DIMENSION + 1), np.float32),
        np.ones((2, DIMENSION), np.float32),
        np.zeros((3, DIMENSION), np.float32),
        np.full((3, DIMENSION), np.nan, np.float32),
    ],
)
def test_vectors_that_do_not_fit_are_refused_and_the_writer_goes_on(store: Store, broken: np.ndarray) -> None:
    with store.writer(MANIFEST) as writer:
        with pytest.raises(StoreError):
            writer.put(numbered(1), broken)
        put(writer, numbered(2))
        writer.publish()
    with store.snapshot() as snapshot:
        assert [record.key for record in snapshot.documents()] == ["/corpus/report-2.txt"]


def test_text_that_utf8_cannot_hold_is_refused_by_name(store: Store) -> None:
    with store.writer(MANIFEST) as writer:
        with pytest.raises(StoreError, match=r"bad\.txt"):
            put(writer, document("/bad.txt", "half a pair \ud83d"))
        put(writer, numbered(1))
        writer.publish()
    assert check(store) == []


def test_ids_that_do_not_belong_together_are_refused(store: Store) -> None:
    one, two = numbered(1), numbered(2)
    with store.writer(MANIFEST) as writer:
        with pytest.raises(StoreError, match="another document"):
            writer.put(replace(one, chunks=two.chunks), vectors_of(two))
        with pytest.raises(StoreError, match="parent"):
            writer.put(replace(one, parents=()), vectors_of(one))


def test_another_embedder_is_an_error_that_names_the_command(store: Store) -> None:
    ingest(store, numbered(1))
    other = replace(MANIFEST, embedder=replace(EMBEDDER, name="other", dimension=4))
    with pytest.raises(StoreError, match=r"tiny.*ekr reindex --embedder other"):
        store.writer(other)
    with store.snapshot() as snapshot, pytest.raises(StoreError, match="ekr reindex"):
        snapshot.manifest.require_embedder(other.embedder)
    ingest(store, numbered(2))


def test_re_embedding_needs_every_vector_and_then_searches_in_the_new_dimension(store: Store) -> None:
    ingest(store, numbered(1), numbered(2))
    other = replace(MANIFEST, embedder=replace(EMBEDDER, name="other", dimension=4))
    with store.snapshot() as snapshot:
        chunks = list(snapshot.iter_chunks())
    vectors = np.random.default_rng(3).normal(size=(len(chunks), 4)).astype(np.float32)
    with (
        store.writer(other, re_embed=other.embedder) as writer,
        pytest.raises(StoreError, match="6 chunks but 0 vectors"),
    ):
        writer.publish()
    assert store.generation() == 1
    with store.writer(other, re_embed=other.embedder) as writer:
        writer.put_vectors("chunks", [c.id for c in chunks], [c.document_id for c in chunks], vectors)
        assert writer.publish() == 2
    with store.snapshot() as snapshot:
        assert snapshot.manifest.embedder == other.embedder
        assert snapshot.search_vectors("chunks", vectors[4], 1)[0] == (chunks[4].id, pytest.approx(1.0, abs=1e-5))
    assert check(store) == []


def test_a_newer_format_is_named(store: Store) -> None:
    with store.writer(replace(MANIFEST, format_version=99)) as writer:
        writer.publish()
    with pytest.raises(StoreError, match="newer ekr"):
        store.snapshot()
    with pytest.raises(StoreError, match="newer ekr"):
        store.writer(MANIFEST)
    (finding,) = check(store)
    assert "newer ekr" in finding.message
    assert finding.repair == "none"


def test_listing_documents_imports_neither_lancedb_nor_tantivy_nor_pyarrow(store: Store) -> None:
    ingest(store, numbered(1))
    program = (
        "import sys; from pathlib import Path; from ekr.store import Store\n"
        "with Store(Path(sys.argv[1])).snapshot() as s: assert len(s.documents()) == 1 and s.counts()\n"
        "print([m for m in ('lancedb', 'lancedb._lancedb', 'tantivy', 'pyarrow', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program, str(store.path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_many_threads_share_a_snapshot(store: Store) -> None:
    documents = [numbered(number) for number in range(20)]
    ingest(store, *documents)
    with store.snapshot() as snapshot, ThreadPoolExecutor(8) as pool:
        start = threading.Barrier(8)

        def work(number: int) -> None:
            if number < 8:
                start.wait()
            own = documents[number % 20]
            assert snapshot.search_vectors("chunks", vectors_of(own)[0], 1)[0][0] == own.chunks[0].id
            assert snapshot.search_bm25(f"report {number % 20} type", 5)
            assert snapshot.chunks([own.chunks[1].id])[own.chunks[1].id] == own.chunks[1]
            assert len(snapshot.documents()) == 20

        for result in [pool.submit(work, number) for number in range(64)]:
            result.result()


def test_a_store_can_be_moved(store: Store, tmp_path: Path) -> None:
    ingest(store, numbered(1))
    before = contents(store)
    shutil.move(store.path, tmp_path / "elsewhere")
    moved = Store(tmp_path / "elsewhere")
    assert contents(moved) == before
    ingest(moved, numbered(2))
    assert check(moved) == []


def test_graph_queries_cannot_reach_files(store: Store) -> None:
    ingest(store, numbered(1))
    with store.snapshot() as snapshot:
        cursor = snapshot.connection.cursor()
        for query in (
            "SELECT * FROM read_text('/etc/hostname')",
            "COPY chunks TO '/tmp/out.csv'",
            "DELETE FROM chunks",
        ):
            with pytest.raises(Exception, match=r"disabled|read-only"):
                cursor.execute(query)
