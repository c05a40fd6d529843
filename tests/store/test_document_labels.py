from __future__ import annotations

import dataclasses

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ekr.store import Store
from ekr.store.records import PreparedDocument
from tests.store.builders import document, ingest


def shown(store: Store) -> list[str]:
    with store.snapshot() as snapshot:
        return sorted(record.display for record in snapshot.documents())


def named(key: str, display: str, record_id: str | None = None) -> PreparedDocument:
    made = document(key, "One.", record_id=record_id)
    path = key if record_id is None else key.removesuffix(f"#{record_id}")
    return dataclasses.replace(made, record=dataclasses.replace(made.record, display=display, path=path))


def test_a_name_that_one_document_has_is_shown_as_it_is(store: Store) -> None:
    ingest(store, document("/x/a/notes.txt", "One."), document("/x/b/other.txt", "Two."))
    assert shown(store) == ["notes.txt", "other.txt"]


def test_documents_that_share_a_name_are_shown_with_the_folders_that_tell_them_apart(store: Store) -> None:
    ingest(store, document("/x/a/deep/notes.txt", "One."), document("/x/b/deep/notes.txt", "Two."))
    assert shown(store) == ["a/deep/notes.txt", "b/deep/notes.txt"]


def test_each_of_them_is_found_by_that_name_and_both_by_the_shared_one(store: Store) -> None:
    one, two = document("/x/a/notes.txt", "One."), document("/x/b/notes.txt", "Two.")
    ingest(store, one, two)
    with store.snapshot() as snapshot:
        assert [record.id for record in snapshot.find_document("a/notes.txt")] == [one.record.id]
        assert {record.id for record in snapshot.find_document("notes.txt")} == {one.record.id, two.record.id}
        assert [r.display for r in snapshot.document_records([two.record.id]).values()] == ["b/notes.txt"]


def test_records_of_files_with_one_name_keep_their_record_id(store: Store) -> None:
    ingest(
        store,
        named("/x/a/log.jsonl#1/2", "log.jsonl#1/2", "1/2"),
        named("/x/b/log.jsonl#1/2", "log.jsonl#1/2", "1/2"),
    )
    assert shown(store) == ["a/log.jsonl#1/2", "b/log.jsonl#1/2"]


def test_a_name_made_so_is_not_that_of_a_third_document(store: Store) -> None:
    third = named("/y/a/notes.txt", "a/notes.txt")
    ingest(store, document("/x/a/notes.txt", "One."), document("/x/b/notes.txt", "Two."), third)
    assert shown(store) == ["a/notes.txt", "x/a/notes.txt", "x/b/notes.txt"]


FOLDERS = st.lists(st.sampled_from(["a", "b", "c d"]), max_size=3).map(tuple)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(FOLDERS, min_size=1, max_size=6))
def test_no_two_documents_are_shown_alike(store: Store, folders: set[tuple[str, ...]]) -> None:
    ingest(store, *(document("/" + "/".join((*folder, "notes.txt")), "One.") for folder in folders))
    names = shown(store)
    assert len(set(names)) == len(names)
