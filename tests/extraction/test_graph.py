from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ekr.extraction import Entity, Graph, RawExtraction, ResolutionSettings, build_graph
from tests.extraction.builders import chunk_of, document, law, parent, passages, raw


def named(graph: Graph, name: str) -> Entity:
    (found,) = [e for e in graph.entities if e.name == name]
    return found


def names(graph: Graph) -> set[str]:
    return {entity.name for entity in graph.entities}


def one(text: str, *entities: tuple[str, str], **options: object) -> Graph:
    doc = document("Untitled notes of ours")
    chunk = chunk_of(parent(doc, 0, text), 0, text)
    return build_graph([raw(chunk, *entities, **options)], [], [chunk])  # type: ignore[arg-type]


def test_same_name_with_two_types_is_one_entity_with_both() -> None:
    definitions, chunks = passages([("One", "Jordan won the match."), ("Two", "They flew to Jordan.")])
    graph = build_graph(
        [
            raw(chunks[0], ("Jordan", "Person"), ("match", "Event"), relations=[("Jordan", "WIN", "match")]),
            raw(chunks[1], ("Jordan", "Place"), ("JORDAN", "Place")),
        ],
        definitions,
        chunks,
    )
    assert named(graph, "Jordan").labels == ("Place", "Person")
    assert [r.type for r in graph.relations if r.type == "WIN"] == ["WIN"]


def test_a_surname_is_the_full_name_where_one_person_has_it() -> None:
    graph = one(
        "Charles Babbage met Ada Lovelace. Babbage smiled. Babbage left.",
        ("Charles Babbage", "Person"),
        ("Ada Lovelace", "Person"),
        ("Babbage", "Organization"),
    )
    assert names(graph) == {"Charles Babbage", "Ada Lovelace"}
    assert named(graph, "Charles Babbage").mentions == 3
    assert "Babbage" in named(graph, "Charles Babbage").aliases


def test_a_surname_of_two_persons_stays_apart() -> None:
    graph = one(
        "Charles Darwin and Erasmus Darwin. Darwin wrote.",
        ("Charles Darwin", "Person"),
        ("Erasmus Darwin", "Person"),
        ("Darwin", "Person"),
    )
    assert names(graph) == {"Charles Darwin", "Erasmus Darwin", "Darwin"}


def test_a_place_is_not_a_person_of_another_document() -> None:
    definitions, chunks = passages(
        [("One", "George Washington was born. He went to Washington."), ("Two", "Washington is a city.")]
    )
    graph = build_graph(
        [
            raw(chunks[0], ("George Washington", "Person"), ("Washington", "Place")),
            raw(chunks[1], ("Washington", "Place")),
        ],
        definitions,
        chunks,
    )
    assert {"George Washington", "Washington"} <= names(graph)


def test_different_numbers_never_merge() -> None:
    graph = one("Lothair II and Lothair III reigned.", ("Lothair II", "Person"), ("Lothair III", "Person"))
    assert names(graph) == {"Lothair II", "Lothair III"}


def test_bra_and_bras_stay_apart_but_phrases_merge_with_their_plural() -> None:
    text = "Bra is a town. Bras is a village. The notified bodies and a notified body act."
    doc = document("Untitled notes of ours")
    chunk = chunk_of(parent(doc, 0, text), 0, text)
    other = replace(chunk, id="other")
    raws = []
    for c in (chunk, other):
        phrases = raw(c, ("notified bodies", "Concept"), ("notified body", "Concept"), kind="phrase")
        proper = raw(c, ("Bra", "Place"), ("Bras", "Place"))
        raws.append(replace(phrases, entities=phrases.entities + proper.entities))
    graph = build_graph(raws, [], [chunk, other])
    assert {"Bra", "Bras"} <= names(graph)
    assert len([n for n in names(graph) if n.startswith("notified")]) == 1


def test_an_acronym_merges_with_its_expansion() -> None:
    text = "The Food and Drug Administration (FDA) acts. The FDA decides."
    doc = document("Untitled notes of ours")
    chunk = chunk_of(parent(doc, 0, text), 0, text)
    first = raw(chunk, ("Food and Drug Administration", "Organization"), ("FDA", "Organization"))
    expanded = replace(first.entities[0], aliases=("FDA",))
    graph = build_graph([replace(first, entities=(expanded, first.entities[1]))], [], [chunk])
    assert named(graph, "Food and Drug Administration").aliases == ("FDA",)
    assert names(graph) == {"Food and Drug Administration"}


def test_an_acronym_of_two_things_is_resolved_in_each_document() -> None:
    definitions, chunks = passages(
        [
            ("One", "The American Basketball Association (ABA) and the ABA."),
            ("Two", "The American Bar Association (ABA) and the ABA."),
        ]
    )
    raws = []
    for chunk, long_form in zip(chunks, ("American Basketball Association", "American Bar Association"), strict=True):
        found = raw(chunk, (long_form, "Organization"), ("ABA", "Organization"))
        raws.append(replace(found, entities=(replace(found.entities[0], aliases=("ABA",)), found.entities[1])))
    graph = build_graph(raws, definitions, chunks)
    assert "ABA" in named(graph, "American Bar Association").aliases
    assert "ABA" in named(graph, "American Basketball Association").aliases
    assert "ABA" not in names(graph)


def test_a_title_without_its_parenthesis_is_an_alias() -> None:
    definitions, chunks = passages(
        [
            ("Theodred II (Bishop of Elmham)", "Theodred II was a medieval bishop of great fame and learning."),
            ("Elmham", "Its bishop was Theodred II for some years, as far as is known today."),
        ]
    )
    graph = build_graph([raw(c, ("Theodred II", "Person")) for c in chunks], definitions, chunks)
    entity = named(graph, "Theodred II (Bishop of Elmham)")
    assert entity.labels[0] == "Person"
    assert entity.chunks == 2
    assert entity.description.startswith("Theodred II was a medieval bishop")
    links = {(x.type, x.source_id, x.target_id) for x in graph.links}
    assert ("MENTIONS", chunks[1].id, entity.id) in links
    assert ("DEFINES", chunks[0].parent_id, entity.id) in links


def test_numbered_units_belong_to_their_document() -> None:
    first, first_chunks = law(
        [("Article 6 Rules", "Rules as in Article 7."), ("Article 7 Scope", "The scope is wide.")]
    )
    other = document("Another", record=False, identity="other")
    home = parent(other, 0, "Something else entirely.", "Article 7 Else")
    far = parent(other, 1, "x", "Article 8 More")
    chunks = [*first_chunks, chunk_of(home, 0, home.text), chunk_of(far, 1, far.text)]
    from ekr.extraction import definitions_of

    definitions = first + definitions_of(other, [home, far], chunks[2:])
    graph = build_graph([RawExtraction(c.id, c.document_id, "en") for c in chunks], definitions, chunks)
    sevens = [e for e in graph.entities if e.name.startswith("Article 7")]
    assert len(sevens) == 2
    refers = [(x.source_id, x.target_id) for x in graph.links if x.type == "REFERS_TO"]
    assert refers == [(first_chunks[0].id, first_chunks[1].parent_id)]


def test_relations_keep_weight_and_evidence() -> None:
    definitions, chunks = passages(
        [("One", "Ada wrote to Charles about engines."), ("Two", "Ada wrote to Charles again and again.")]
    )
    raws = [
        raw(c, ("Ada", "Person"), ("Charles", "Person"), relations=[("Ada", "WRITE_TO", "Charles")]) for c in chunks
    ]
    (relation,) = [r for r in build_graph(raws, definitions, chunks).relations if r.type == "WRITE_TO"]
    assert relation.weight == 2
    assert {e.chunk_id for e in relation.evidence} == {c.id for c in chunks}


def test_rare_types_beyond_the_cap_become_related_to() -> None:
    text = "A1x B2x C3x D4x"
    doc = document("Untitled notes of ours")
    chunk = chunk_of(parent(doc, 0, text), 0, text)
    pairs = [("A1x", "LIKE", "B2x"), ("A1x", "LIKE", "C3x"), ("A1x", "HATE", "D4x")]
    found = raw(chunk, *((n, "Person") for n in text.split()), relations=pairs)
    graph = build_graph([found], [], [chunk], ResolutionSettings(most_types=1))
    assert sorted({r.type for r in graph.relations}) == ["LIKE", "RELATED_TO"]


def test_co_mentions_are_bounded() -> None:
    people = [f"Person{chr(65 + i)}x" for i in range(26)]
    text = ", ".join(people)
    graph = one(text, *((p, "Person") for p in people))
    degree = {e.id: e.relations for e in graph.entities}
    assert 0 < max(degree.values()) <= ResolutionSettings().co_mentions_per_entity


def test_nothing_gives_an_empty_graph() -> None:
    graph = build_graph([], [], [])
    assert graph == Graph((), (), (), (), ())


_SURFACES = st.sampled_from(
    ["Ada Lovelace", "Lovelace", "ADA LOVELACE", "Charles Babbage", "Babbage", "engine notes", "engine note", "FDA"]
)
_LABELS = st.sampled_from(["Person", "Place", "Other", "Concept"])
_FOUND = st.lists(st.tuples(_SURFACES, _LABELS), max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.lists(_FOUND, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(found: list[list[tuple[str, str]]], chance: random.Random) -> None:
    texts = [(f"Title {n} of all", ". ".join(name for name, _ in entities) or "x") for n, entities in enumerate(found)]
    definitions, chunks = passages(texts)
    raws = []
    for chunk, entities in zip(chunks, found, strict=True):
        pairs = [(a[0], "KNOW", b[0]) for a, b in pairwise(entities)]
        raws.append(raw(chunk, *dict.fromkeys(entities), relations=pairs))
    expected = build_graph(raws, definitions, chunks)
    for part in (raws, definitions, chunks):
        chance.shuffle(part)  # type: ignore[arg-type]
    assert build_graph(raws, definitions, chunks) == expected
    assert all(r.source_id != r.target_id for r in expected.relations)
    known = {e.id for e in expected.entities}
    assert all({r.source_id, r.target_id} <= known for r in expected.relations)
    assert all(m.entity_id in known for m in expected.mentions)


@pytest.mark.parametrize("text", ["'", "[[", "«»", "\ud7ff", "東京都"])
def test_odd_titles_and_texts_are_taken(text: str) -> None:
    definitions, chunks = passages([(text, text)])
    build_graph([RawExtraction(chunks[0].id, chunks[0].document_id, "und")], definitions, chunks)
