from __future__ import annotations

import time
from pathlib import Path

import pytest

from ekr.config import Settings
from ekr.errors import EkrError, ModelMissing
from ekr.extraction import PIPELINES, NlpExtractor, RawExtraction, build_graph
from ekr.store.records import ChunkRecord
from tests.extraction.builders import chunk_of, document, parent, passages


@pytest.fixture(scope="module")
def extractor() -> NlpExtractor:
    from ekr.models import language_data

    try:
        return NlpExtractor({language: language_data(name, Settings()) for language, name in PIPELINES.items()})
    except EkrError as missing:
        pytest.skip(f"the spaCy pipelines are not there: {missing}")


def chunk(text: str, language: str) -> ChunkRecord:
    doc = document("Notes", language=language)
    return chunk_of(parent(doc, 0, text), 0, text, language)


def extract(extractor: NlpExtractor, text: str, language: str) -> RawExtraction:
    return extractor.extract([chunk(text, language)], language)[0]


def triples(found: RawExtraction) -> set[tuple[str, str, str]]:
    return {(r.source, r.type, r.target) for r in found.relations}


def test_english_names_and_relations(extractor: NlpExtractor) -> None:
    found = extract(
        extractor,
        "Ada Lovelace worked with Charles Babbage. She was born in London. Lambert was the second son of Adalbert II.",
        "en",
    )
    labels = {e.name: e.label for e in found.entities}
    assert labels["Ada Lovelace"] == labels["Charles Babbage"] == "Person"
    assert labels["London"] == "Place"
    assert {
        ("Ada Lovelace", "WORK_WITH", "Charles Babbage"),
        ("Ada Lovelace", "BORN_IN", "London"),
        ("Lambert", "SON_OF", "Adalbert II"),
    } <= triples(found)


def test_french_names_and_relations(extractor: NlpExtractor) -> None:
    found = extract(
        extractor,
        "Ada Lovelace a travaillé avec Charles Babbage. Elle est née à Londres. Paris est la capitale de la France.",
        "fr",
    )
    assert {
        ("Ada Lovelace", "TRAVAILLER_AVEC", "Charles Babbage"),
        ("Ada Lovelace", "NAITRE_A", "Londres"),
        ("Paris", "CAPITALE_DE", "France"),
    } <= triples(found)


def test_definitions_laws_dates_and_acronyms(extractor: NlpExtractor) -> None:
    found = extract(
        extractor,
        "‘Provider’ means a person that develops a system under Regulation (EU) 2016/679 of 27 April 2016. "
        "The Food and Drug Administration (FDA) agreed.",
        "en",
    )
    kinds = {(e.name, e.label, e.kind) for e in found.entities}
    assert ("Provider", "Concept", "term") in kinds
    assert ("Regulation (EU) 2016/679", "Law", "name") in kinds
    assert ("27 April 2016", "Date", "name") in kinds
    (agency,) = [e for e in found.entities if e.name == "Food and Drug Administration"]
    assert agency.aliases == ("FDA",)


def test_spans_are_offsets_of_the_chunk(extractor: NlpExtractor) -> None:
    text = "L’ingénieur Charles Babbage\na conçu la machine analytique à\u00a0Londres."
    found = extract(extractor, text, "fr")
    (person,) = [e for e in found.entities if e.name == "Charles Babbage"]
    assert [text[a:b] for a, b in person.spans] == ["Charles Babbage"]
    assert all(0 <= a < b <= len(text) for e in found.entities for a, b in e.spans)


def test_page_furniture_and_references_are_no_names(extractor: NlpExtractor) -> None:
    found = extract(extractor, "In accordance with Article 47, Section 2 and Annex VII, it shall apply.", "en")
    assert [e.name for e in found.entities if e.kind == "name"] == []


def test_a_language_without_pipeline_is_noted_once(extractor: NlpExtractor) -> None:
    found = extract(extractor, "Gestern wählte der Bundestag in Berlin Angela Merkel.", "de")
    extract(extractor, "Noch ein Satz.", "de")
    assert {"Bundestag", "Berlin Angela Merkel"} & {e.name for e in found.entities}
    assert [note for note in extractor.notes() if "'de'" in note] == [
        "no language data for 'de': names are found by their capitals, relations only by nearness"
    ]


def test_a_missing_pipeline_names_the_command_that_gets_it(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="run: ekr models pull fr_core_news_sm"):
        NlpExtractor({"fr": tmp_path}).extract([chunk("Bonjour.", "fr")], "fr")


def test_without_any_pipeline_the_note_says_what_to_pull() -> None:
    extractor = NlpExtractor({})
    extractor.extract([chunk("Ada met Charles.", "en")], "en")
    assert extractor.notes()[0].endswith("run: ekr models pull en_core_web_sm")


@pytest.mark.parametrize("text", ["", " ", "\n\n", "…", "((((", "🙂🙂", "a" * 3000, "1 2 3 4 5"])
def test_odd_texts_are_taken(extractor: NlpExtractor, text: str) -> None:
    for language in ("en", "fr", "und"):
        extract(extractor, text, language)


def test_the_same_text_gives_the_same_result_alone_and_in_a_batch(extractor: NlpExtractor) -> None:
    texts = ["Ada Lovelace met Charles Babbage in Turin.", "Marie Curie discovered radium in Paris.", "No names here."]
    chunks = [chunk(t, "en") for t in texts]
    together = extractor.extract(chunks, "en")
    assert [r.entities for r in together] == [extractor.extract([c], "en")[0].entities for c in chunks]


def test_the_worked_example(extractor: NlpExtractor) -> None:
    definitions, chunks = passages(
        [
            ("Engine", "Charles Babbage designed the Analytical Engine. Ada Lovelace worked with Babbage on it."),
            ("Notes", "Ada Lovelace published notes on the Analytical Engine in 1843. Lovelace was a mathematician."),
        ]
    )
    graph = build_graph(extractor.extract(chunks, "en"), definitions, chunks)
    names = {e.id: e.name for e in graph.entities}
    assert {"Charles Babbage", "Ada Lovelace", "Analytical Engine"} <= set(names.values())
    assert not {"Babbage", "Lovelace"} & set(names.values())
    edges = {(names[r.source_id], r.type, names[r.target_id]) for r in graph.relations}
    assert ("Ada Lovelace", "WORK_WITH", "Charles Babbage") in edges
    assert ("Charles Babbage", "DESIGN", "Analytical Engine") in edges


def test_extraction_is_fast_enough_for_a_long_law(extractor: NlpExtractor) -> None:
    sentence = "The provider of a high-risk AI system shall inform the market surveillance authority in Brussels. "
    chunks = [chunk(sentence * 6, "en") for _ in range(40)]
    extractor.extract(chunks[:2], "en")
    begin = time.process_time()
    extractor.extract(chunks, "en")
    # 650,000 characters in 20 s of one core are 32,500 a second; a third of it still shows a quadratic step.
    assert sum(len(c.text) for c in chunks) / (time.process_time() - begin) > 11_000
