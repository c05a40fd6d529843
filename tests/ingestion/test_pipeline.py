"""What an ingest takes and refuses, and how much it embeds at a time."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest

from ekr.ingestion import pipeline
from ekr.models.base import Vectors
from ekr.store import Store
from ekr.store.check import check
from tests.ingestion.conftest import Listening, Workshop

COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "été.md") for form in ("NFC", "NFD"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files whose names differ in their Unicode form alone, and a third."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in (DECOMPOSED, COMPOSED, "other.md"):
        (folder / name).write_text(f"The {len(name)} letters.\n", encoding="utf-8")
    if len(list(folder.iterdir())) < 3:
        pytest.skip("this file system holds the two names for one")
    return folder


def texts(store: Store) -> dict[str, str]:
    with store.snapshot() as snapshot:
        names = {record.id: record.display for record in snapshot.documents()}
        return {names[chunk.document_id]: chunk.text for chunk in snapshot.iter_chunks()}


@pytest.mark.parametrize("names", [(".",), (DECOMPOSED, COMPOSED, "other.md"), (COMPOSED, ".")])
def test_of_two_names_in_two_unicode_forms_one_goes_in_and_the_other_is_named(
    workshop: Workshop, folder: Path, names: tuple[str, ...]
) -> None:
    store = workshop.store()
    for added, unchanged in ((2, 0), (0, 2)):
        for dry_run in (True, False):
            report = workshop.ingest(store, *(folder / name for name in names), extractor="none", dry_run=dry_run)
            (problem,) = report.failed
            assert problem.document == COMPOSED
            assert problem.reason == "has the name of another file in another Unicode form; rename one"
            assert (len(report.added), len(report.updated), report.unchanged) == (added, 0, unchanged)
    assert texts(store) == {COMPOSED: f"The {len(COMPOSED)} letters.", "other.md": "The 8 letters."}


def test_a_name_in_another_unicode_form_replaces_nothing_in_a_later_ingest(workshop: Workshop, folder: Path) -> None:
    store = workshop.store()
    workshop.ingest(store, folder / COMPOSED, extractor="none")
    report = workshop.ingest(store, folder / DECOMPOSED)
    assert (len(report.failed), report.generation) == (1, None)
    assert texts(store) == {COMPOSED: f"The {len(COMPOSED)} letters."}
    # Pruning keeps the document of the one that was taken.
    assert workshop.ingest(store, folder, prune=True).removed == []
    (folder / COMPOSED).unlink()
    assert workshop.ingest(store, folder).updated == [COMPOSED]
    assert texts(store)[COMPOSED] == f"The {len(DECOMPOSED)} letters."


def test_files_of_one_name_in_two_folders_are_two_documents(workshop: Workshop, tmp_path: Path) -> None:
    for shelf in ("east", "west"):
        (tmp_path / shelf).mkdir()
        (tmp_path / shelf / DECOMPOSED).write_text(f"The {shelf} shelf.")
    report = workshop.ingest(workshop.store(), tmp_path / "east", tmp_path / "west", extractor="none")
    assert (len(report.added), report.failed) == (2, [])


def test_a_document_of_many_chunks_is_embedded_in_pieces_and_put_whole(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    article = "\n\n".join(f"## Article {n}\n\nThe keeper of mill {n} shall count its sacks." for n in range(30))
    files = [workshop.note("small.txt", "A note on the mill.\n"), workshop.note("large.md", article)]
    whole, pieces = workshop.store("whole"), workshop.store("pieces")
    workshop.ingest(whole, *files, extractor="none")
    sizes: list[int] = []
    embed = Listening.embed_passages

    def counted(self: Listening, texts: Sequence[str]) -> Vectors:
        sizes.append(len(texts))
        return embed(self, texts)

    monkeypatch.setattr(Listening, "embed_passages", counted)
    monkeypatch.setattr(pipeline, "EMBED_BATCH_CHUNKS", 8)
    report = workshop.ingest(pieces, *files, extractor="none")
    assert sum(sizes) == report.chunks == 31
    assert max(sizes) <= 8
    assert report.generation == 1
    assert check(pieces) == []
    question = workshop.embedder.embed_query("Who counts the sacks of mill 23?")
    found = []
    for store in (whole, pieces):
        with store.snapshot() as snapshot:
            found.append(dict(snapshot.search_vectors("chunks", question, 31)))
    assert len(found[0]) == 31
    assert found[1] == pytest.approx(found[0], abs=1e-3)
