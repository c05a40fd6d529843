"""After compaction nothing of what was deleted is left, in any engine or file."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from ekr.store import Store
from ekr.store.check import check
from tests.store.builders import MANIFEST, contents, document, ingest, numbered, put

SECRET = "xylophonequartz"


def size(store: Store) -> int:
    return sum(file.stat().st_size for file in store.path.rglob("*") if file.is_file())


def holds(store: Store, text: str) -> list[str]:
    needle = text.encode()
    return [
        str(file.relative_to(store.path))
        for file in store.path.rglob("*")
        if file.is_file() and needle in file.read_bytes()
    ]


def test_an_old_text_is_in_no_file_after_compaction(store: Store) -> None:
    old = document("/memo.txt", f"The password is {SECRET} as agreed. ", "Second.")
    ingest(store, *(numbered(number) for number in range(20)), old)
    assert holds(store, SECRET)
    ingest(store, document("/memo.txt", "The password was removed."))
    with store.writer(MANIFEST) as writer:
        assert writer.needs_compaction() is False
        writer.compact()
        assert writer.needs_compaction() is False
    assert holds(store, SECRET) == []
    assert all(not holds(store, chunk.id) for chunk in old.chunks)
    assert [entry.name for entry in (store.path / "generations").iterdir()] == [str(store.generation())]
    assert check(store) == []
    for table in (store.path / "generations").glob("*/vectors/*.lance"):
        assert len(list((table / "_versions").glob("*.manifest"))) == 1
    assert not list((store.path / "generations").glob("*/bm25/*/*.del"))


def test_compaction_changes_nothing_that_a_reader_sees(store: Store) -> None:
    documents = [numbered(number, language="fr" if number % 4 == 0 else "en") for number in range(16)]
    ingest(store, *documents)
    before = contents(store)
    with store.writer(MANIFEST) as writer:
        writer.compact()
    assert contents(store) == before


def test_publishing_compacts_by_itself_when_a_fifth_is_dead(store: Store) -> None:
    documents = [numbered(number) for number in range(10)]
    ingest(store, *documents)
    with store.writer(MANIFEST) as writer:
        writer.delete([d.record.id for d in documents[:2]])
        assert writer.needs_compaction() is False
        writer.publish()
        assert writer.needs_compaction() is False
        writer.delete([documents[2].record.id])
        assert writer.needs_compaction() is True
        writer.publish()
        assert writer.needs_compaction() is False
    assert all(not holds(store, d.chunks[0].id) for d in documents[:3])
    assert check(store) == []


def test_deleting_every_document_one_by_one_leaves_an_empty_store(store: Store, tmp_path: Path) -> None:
    documents = [numbered(number, chunks=8) for number in range(15)]
    ingest(store, *documents)
    order = [d.record.id for d in documents]
    random.Random(4).shuffle(order)
    with store.writer(MANIFEST) as writer:
        for left, document_id in enumerate(order, start=1):
            writer.delete([document_id])
            if left % 5 == 0:
                writer.publish()
                with store.snapshot() as snapshot:
                    assert snapshot.counts()["documents"] == 15 - left
                    assert len(snapshot.search_bm25("report", 500)) == 8 * (15 - left)
                assert check(store) == []
        writer.compact()
    empty = Store(tmp_path / "empty")
    with empty.writer(MANIFEST) as writer:
        writer.publish()
    with store.snapshot() as snapshot:
        assert set(snapshot.counts().values()) == {0}
        for table in ("documents", "pages", "parents", "chunks", "model_calls"):
            assert snapshot.connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    assert size(store) <= 1.1 * size(empty)
    assert re.search(r"report-\d", " ".join(holds(store, "report-"))) is None


def test_tables_of_other_modules_survive_compaction(store: Store) -> None:
    with store.writer(MANIFEST) as writer:
        put(writer, numbered(1), numbered(2))
        writer.connection.execute("CREATE TABLE readers (id VARCHAR, name VARCHAR)")
        writer.connection.execute("INSERT INTO readers VALUES ('e', 'Ada')")
        writer.connection.execute("CREATE VIEW people AS SELECT name FROM readers")
        writer.publish()
        writer.compact()
    with store.snapshot() as snapshot:
        assert snapshot.connection.execute("SELECT * FROM people").fetchall() == [("Ada",)]


def test_a_part_is_told_of_deletions_while_the_chunks_are_still_there(store: Store) -> None:
    seen: list[tuple[list[str], int]] = []

    class Bookmarks:
        def create(self, connection: object) -> None:
            connection.execute("CREATE TABLE IF NOT EXISTS bookmarks (chunk_id VARCHAR)")  # type: ignore[attr-defined]

        def delete_documents(self, writer: object, document_ids: list[str]) -> None:
            connection = writer.connection  # type: ignore[attr-defined]
            rows = connection.execute(
                "SELECT count(*) FROM bookmarks JOIN chunks ON id = chunk_id WHERE document_id IN (SELECT unnest(?))",
                [document_ids],
            ).fetchone()
            seen.append((document_ids, rows[0]))

    prepared = numbered(1)
    with store.writer(MANIFEST, parts=[Bookmarks()]) as writer:  # type: ignore[list-item]
        put(writer, prepared)
        writer.flush()
        writer.connection.executemany("INSERT INTO bookmarks VALUES (?)", [[c.id] for c in prepared.chunks])
        writer.publish()
        writer.delete([prepared.record.id])
        writer.publish()
    assert seen == [([prepared.record.id], 3)]


@pytest.mark.parametrize("language", ["en", "fr", "ja"])
def test_bm25_is_rebuilt_from_the_rows_alone(store: Store, language: str) -> None:
    documents = [numbered(number, language=language) for number in range(6)]
    ingest(store, *documents)
    before = contents(store)
    for file in (store.path / "generations" / "1" / "bm25").rglob("*.*"):
        if file.is_file():
            file.unlink()
    findings = check(store)
    assert {finding.engine for finding in findings} == {"tantivy"}
    assert {finding.repair for finding in findings} == {"bm25"}
    with store.writer(MANIFEST) as writer:
        writer.rebuild_postings()
        writer.publish()
    assert check(store) == []
    assert contents(store) == before
