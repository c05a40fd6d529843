"""One document of many changed: after compaction nothing of what it said before is left in any engine or file."""

from __future__ import annotations

import os
from pathlib import Path

from ekr.store import Store
from ekr.store.analysis import analyser
from ekr.store.check import check
from tests.reliability import shelves

COUNT = int(os.environ.get("EKR_TEST_DOCUMENTS", "12"))
OLD = "xylophonequartz"


def test_after_compaction_no_trace_of_the_old_text_is_left(tmp_path: Path) -> None:
    folder, store = shelves.write(tmp_path / "notes", COUNT), tmp_path / "store"
    note = folder / "note-2.md"
    said = note.read_text(encoding="utf-8")
    secret = f"\n## {OLD.title()} Treaty\n\nThe {OLD.title()} Treaty binds Ada Brandt to the {OLD.title()} Company.\n"
    note.write_text(said + secret, encoding="utf-8")
    shelves.make(store, folder)
    term = analyser("en").terms(OLD)[0]
    assert {name for name, value in shelves.stored_texts(store) if OLD in value.lower()} >= {
        "pages.text",
        "chunks.text",
        "entities.name",
        "extractions.value",
    }
    assert shelves.indexed(store, term) == ["chunk-en", "parent-en"]

    with Store(store).snapshot() as snapshot:
        old_chunks = {chunk.id for chunk in snapshot.iter_chunks() if OLD in chunk.text.lower()}

    note.write_text(said, encoding="utf-8")
    report = shelves.make(store, folder)
    assert (report.updated, report.unchanged) == (["note-2.md"], COUNT - 1)
    assert check(Store(store)) == []
    with shelves.engine_of(store) as engine:
        engine.compact()
        assert engine.doctor().sound

    assert [name for name, value in shelves.stored_texts(store) if OLD in value.lower()] == []
    assert shelves.indexed(store, term) == []
    assert [name for name, value in shelves.stored_texts(store) if value in old_chunks] == []
    assert shelves.files_with(store, OLD, term, *old_chunks) == []
    assert [entry.name for entry in (store / "generations").iterdir()] == [str(Store(store).generation())]
    generation = shelves.generation_of(store)
    assert not list(generation.glob("bm25/*/*.del"))
    tables = sorted(generation.glob("vectors/*.lance"))
    assert [table.stem for table in tables] == ["chunks", "entities", "relations", "reports"]
    for table in tables:
        assert len(list(table.glob("_versions/*.manifest"))) == 1
        assert not list(table.glob("_deletions/*"))

    fresh = tmp_path / "fresh"
    shelves.make(fresh, folder)
    assert shelves.rows(store) == shelves.rows(fresh)
    assert shelves.vectors(store) == shelves.vectors(fresh)
    assert shelves.postings(store) == shelves.postings(fresh)
