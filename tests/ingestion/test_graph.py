from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest

from ekr.config import Settings
from ekr.errors import ModelMissing
from ekr.extraction import NlpExtractor, RawExtraction, reports
from ekr.ingestion import graph
from ekr.models.base import Message
from ekr.models.cache import folder_of
from ekr.store import Store, Writer
from ekr.store.check import check
from ekr.store.records import ChunkRecord
from tests.ingestion.conftest import NOTES, Workshop, graph_rows


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Documents that the extractor reads, in order."""
    documents: list[str] = []
    real = NlpExtractor.extract

    def extract(self: NlpExtractor, chunks: Sequence[ChunkRecord], language: str) -> list[RawExtraction]:
        documents.extend(dict.fromkeys(chunk.document_id for chunk in chunks))
        return real(self, chunks, language)

    monkeypatch.setattr(NlpExtractor, "extract", extract)
    return documents


def test_an_ingest_fills_the_graph_and_its_vectors(workshop: Workshop) -> None:
    store = workshop.store()
    report = workshop.ingest(store, *workshop.notes(*NOTES))
    assert report.warnings == []
    assert check(store) == []
    with store.snapshot() as snapshot:
        assert snapshot.manifest.extractor == "nlp"
        names = {record.name: record for record in snapshot.graph.top_entities(100)}
        assert {"Charles Babbage", "Ada Lovelace", "Analytical Engine", "Article 6", "lecteur"} <= set(names)
        assert names["Analytical Engine"].defined
        worked = snapshot.graph.relations_of([names["Ada Lovelace"].id], ["WORK_WITH"])
        assert [(r.source, r.target) for r in worked] == [("Ada Lovelace", "Charles Babbage")]
        assert sum(record.pagerank for record in names.values()) == pytest.approx(1.0)
        question = workshop.embedder.embed_query("Who designed a mechanical calculator?")
        assert snapshot.search_vectors("entities", question, 3)
        assert snapshot.search_vectors("relations", question, 3)
        assert snapshot.search_vectors("reports", question, 3)
        # What a reference in the text leads to.
        six, seven = (names[f"Article {n}"].id for n in (6, 7))
        chunks = snapshot.graph.defining_chunks([six, seven])
        links = snapshot.graph.links_from(chunks[six])
        assert tuple(chunks[seven]) in {link.target_chunk_ids for link in links if link.type == "REFERS_TO"}


def test_order_and_halves_give_the_same_graph(workshop: Workshop) -> None:
    files = workshop.notes(*NOTES)
    whole, turned, halves = (workshop.store(name) for name in ("whole", "turned", "halves"))
    workshop.ingest(whole, *files)
    workshop.ingest(turned, *reversed(files))
    workshop.ingest(halves, *files[2:])
    workshop.ingest(halves, *files[:2])
    expected = graph_rows(whole)
    assert len(expected["entities"]) > 10
    assert len(expected["communities"]) > 1
    assert graph_rows(turned) == expected
    assert graph_rows(halves) == expected


def test_only_a_changed_document_is_read_again_and_only_changed_texts_embedded(
    workshop: Workshop, read: list[str]
) -> None:
    store, fresh = workshop.store(), workshop.store("fresh")
    files = workshop.notes()
    workshop.ingest(store, *files)
    read.clear()
    workshop.embedder.texts.clear()
    report = workshop.ingest(store, *files)
    assert (read, workshop.embedder.texts, report.generation) == ([], [], None)
    workshop.note("turing.txt", "Alan Turing studied in Manchester with Max Newman.\n")
    workshop.ingest(store, *files)
    with store.snapshot() as snapshot:
        names = {record.id: record.display for record in snapshot.documents()}
        total = sum(len(graph_rows(store)[f"vectors of {kind}"]) for kind in ("entities", "relations", "reports"))
    assert [names[document] for document in read] == ["turing.txt"]
    assert 0 < len(workshop.embedder.texts) < total / 2
    workshop.ingest(fresh, *files)
    assert graph_rows(store) == graph_rows(fresh)
    assert check(store) == []


def test_deleting_documents_leaves_what_a_store_without_them_has(workshop: Workshop) -> None:
    store, fresh = workshop.store(), workshop.store("fresh")
    workshop.ingest(store, *workshop.notes())
    workshop.ingest(fresh, *workshop.notes("engines.md"))
    _delete(workshop, store, "turing.txt", "lovelace.txt")
    assert graph_rows(store) == graph_rows(fresh)
    assert check(store) == []
    _delete(workshop, store, "engines.md")
    assert {table: rows for table, rows in graph_rows(store).items() if rows} == {}
    assert check(store) == []


def test_pruning_makes_the_graph_of_what_is_left(workshop: Workshop) -> None:
    store, fresh = workshop.store(), workshop.store("fresh")
    files = workshop.notes()
    workshop.ingest(store, files[0].parent)
    files[1].unlink()
    report = workshop.ingest(store, files[0].parent, prune=True)
    assert report.removed == ["lovelace.txt"]
    workshop.ingest(fresh, files[0].parent)
    assert graph_rows(store) == graph_rows(fresh)


def test_deletion_works_without_the_embedder_and_the_next_ingest_makes_up_for_it(workshop: Workshop) -> None:
    store, fresh = workshop.store(), workshop.store("fresh")
    files = workshop.notes("engines.md", "lovelace.txt", "turing.txt")
    workshop.ingest(store, *files)

    def missing():  # type: ignore[no-untyped-def]
        raise ModelMissing("the model is not on this machine")

    with store.snapshot() as snapshot:
        manifest = snapshot.manifest
        gone = snapshot.find_document("turing.txt")[0].id
    with store.writer(manifest) as writer:
        writer.delete([gone])
        graph.resolve_after_deletion(writer, missing, missing)
        writer.publish()
    assert check(store) == []
    assert "Turing" not in str(graph_rows(store))
    workshop.ingest(store, *files[:2])
    workshop.ingest(fresh, *files[:2])
    assert graph_rows(store) == graph_rows(fresh)


def test_a_document_without_an_entity_is_named(workshop: Workshop) -> None:
    report = workshop.ingest(workshop.store(), workshop.note("numbers.txt", "12 37 91, 44 and 58; 7 or 9.\n"))
    assert [(w.document, w.reason) for w in report.warnings] == [("numbers.txt", "no entity was found in it")]
    assert check(workshop.store()) == []


def test_a_language_without_data_is_read_by_its_capitals_and_read_again_once_the_data_is_there(
    workshop: Workshop, read: list[str]
) -> None:
    here = workshop.settings
    cache = workshop.folder / "cache"
    for name in (here.embedder, "en_core_web_sm"):
        place = folder_of(cache, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(folder_of(here.cache_dir, name))
    store, fresh = workshop.store(), workshop.store("fresh")
    files = workshop.notes("lovelace.txt", "reglement.md")
    workshop.settings = Settings(cache_dir=cache)
    report = workshop.ingest(store, *files)
    assert any("ekr models pull fr_core_news_sm" in note for note in report.notes)
    assert graph_rows(store)["entities"]
    read.clear()
    assert workshop.ingest(store, *files).generation is None
    workshop.settings = here
    assert workshop.ingest(store, *files).generation == 2
    assert len(read) == 1
    workshop.ingest(fresh, *files)
    assert graph_rows(store) == graph_rows(fresh)
    # Without the data again, what it gave stays.
    workshop.settings = Settings(cache_dir=cache)
    assert workshop.ingest(store, *files).generation is None


def test_without_an_extractor_there_is_no_graph_until_one_is_asked_for(workshop: Workshop) -> None:
    store, fresh = workshop.store(), workshop.store("fresh")
    files = workshop.notes("engines.md", "lovelace.txt")
    workshop.ingest(store, files[0], extractor="none")
    assert {table: rows for table, rows in graph_rows(store).items() if rows} == {}
    # What the store was made with is what it goes on with.
    workshop.ingest(store, files[1])
    with store.snapshot() as snapshot:
        assert (snapshot.manifest.extractor, snapshot.counts()["entities"]) == ("none", 0)
    report = workshop.ingest(store, *files, extractor="nlp")
    assert report.unchanged == 2
    assert report.notes == ["the graph is now that of the extractor nlp; it was none's"]
    workshop.ingest(fresh, *files)
    assert graph_rows(store) == graph_rows(fresh)
    workshop.ingest(store, *files, extractor="none")
    assert {table: rows for table, rows in graph_rows(store).items() if rows} == {}
    assert check(store) == []


def test_a_run_cut_off_after_a_checkpoint_is_sound_and_the_next_one_ends_the_same(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, read: list[str]
) -> None:
    store, fresh = workshop.store(), workshop.store("fresh")
    files = workshop.notes()
    workshop.ingest(store, files[0])
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "checkpoint_due", lambda self: True)
        patch.setattr(graph, "resolve", _cut_off)
        with pytest.raises(KeyboardInterrupt):
            workshop.ingest(store, *files)
    assert check(store) == []
    with store.snapshot() as snapshot:
        assert snapshot.counts()["documents"] == 3
    read.clear()
    workshop.ingest(store, *files)
    assert read == []
    workshop.ingest(fresh, *files)
    assert graph_rows(store) == graph_rows(fresh)


def test_worker_processes_find_the_same(workshop: Workshop) -> None:
    here, workers = workshop.store("here"), workshop.store("workers")
    files = workshop.notes()
    workshop.ingest(here, *files)
    workshop.ingest(workers, *files, jobs=2)
    assert graph_rows(workers) == graph_rows(here)


def test_records_of_a_jsonl_file_define_their_titles(workshop: Workshop) -> None:
    records = [
        {"id": "1", "title": "Grace Hopper", "text": "Grace Hopper wrote a compiler for the UNIVAC I in Philadelphia."},
        {"id": "2", "title": "UNIVAC I", "text": "The UNIVAC I was built by the company of John Mauchly."},
    ]
    file = workshop.note("people.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    store = workshop.store()
    workshop.ingest(store, file)
    with store.snapshot() as snapshot:
        by_record = {document.record_id: document.id for document in snapshot.documents()}
        chunk_of = {chunk.document_id: chunk.id for chunk in snapshot.iter_chunks()}
        links = snapshot.graph.links_from([chunk_of[by_record["1"]]])
        assert [(link.type, link.target_chunk_ids) for link in links] == [("MENTIONS", (chunk_of[by_record["2"]],))]


class Scripted:
    """A generator that names the two persons whom every text is about; fails when told to."""

    name = "scripted"
    context_tokens = 4096
    supports_grammar = True

    def __init__(self) -> None:
        self.asked = 0
        self.fails_at: int | None = None

    def count(self, text: str) -> int:
        return len(text.split())

    def stream(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Iterator[str]:
        self.asked += 1
        if self.asked == self.fails_at:
            raise KeyboardInterrupt
        names = [name for name in ("Ada Lovelace", "Charles Babbage") if name in messages[-1].content]
        yield json.dumps({"entities": [{"name": n, "type": "Person", "description": ""} for n in names]})

    def yes_minus_no(self, messages: Sequence[Message]) -> float | None:
        return None


def test_a_generators_answers_are_kept_for_a_run_that_is_cut_off(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = Scripted()
    workshop.generator = lambda: generator
    store = workshop.store()
    files = workshop.notes("engines.md", "lovelace.txt")
    generator.fails_at = 3
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "checkpoint_due", lambda self: True)
        with pytest.raises(KeyboardInterrupt):
            workshop.ingest(store, *files, extractor="llm")
    assert check(store) == []
    with store.snapshot() as snapshot:
        assert snapshot.counts()["documents"] == 2
        assert snapshot.manifest.extractor == "llm:scripted"
        chunks = snapshot.counts()["chunks"]
    workshop.ingest(store, *files)
    # Two passes a chunk; the call that failed is made again, the two before it are not.
    assert generator.asked == 2 * chunks + 1
    assert check(store) == []
    with store.snapshot() as snapshot:
        names = {record.name for record in snapshot.graph.top_entities(50)}
        calls = snapshot.connection.execute("SELECT count(*) FROM model_calls").fetchone()
        assert {"Ada Lovelace", "Charles Babbage"} <= names
        assert calls == (2 * chunks,)
    _delete(workshop, store, "engines.md", "lovelace.txt")
    with store.snapshot() as snapshot:
        assert snapshot.connection.execute("SELECT count(*) FROM model_calls").fetchone() == (0,)


def test_another_extractor_makes_the_graph_anew(workshop: Workshop) -> None:
    generator = Scripted()
    workshop.generator = lambda: generator
    store, fresh = workshop.store(), workshop.store("fresh")
    file = workshop.note("lovelace.txt")
    workshop.ingest(store, file)
    report = workshop.ingest(store, file, extractor="llm")
    assert report.notes == ["the graph is now that of the extractor llm:scripted; it was nlp's"]
    workshop.ingest(fresh, file, extractor="llm")
    assert graph_rows(store) == graph_rows(fresh)


def test_without_an_extractor_no_answer_about_several_documents_is_kept(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = Scripted()
    workshop.generator = lambda: generator
    monkeypatch.setattr(reports, "LEAST_WEIGHT", 0.0)
    store, files = workshop.store(), workshop.notes("engines.md", "lovelace.txt")

    def kept(store: Store) -> dict[str, int]:
        with store.snapshot() as snapshot:
            rows = snapshot.connection.execute("SELECT kind, count(*) FROM model_calls GROUP BY kind").fetchall()
        return dict(rows)

    workshop.ingest(store, *files, extractor="llm")
    before = kept(store)
    assert before["report"] > 0
    workshop.ingest(store, *files, extractor="none")
    assert kept(store) == {"extract": before["extract"]}
    _delete(workshop, store, "engines.md", "lovelace.txt")
    assert kept(store) == {}


def _cut_off(*_: object, **__: object) -> bool:
    raise KeyboardInterrupt


def _delete(workshop: Workshop, store: Store, *names: str) -> None:
    with store.snapshot() as snapshot:
        manifest = snapshot.manifest
        ids = [record.id for name in names for record in snapshot.find_document(name)]
    with store.writer(manifest) as writer:
        writer.delete(ids)
        graph.resolve_after_deletion(writer, lambda: workshop.embedder, workshop.generator or workshop.models.generator)
        writer.publish()
