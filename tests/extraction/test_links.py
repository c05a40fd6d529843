from __future__ import annotations

from ekr.extraction import RawExtraction, build_graph, lookup_in, names_in_question, question_keys
from tests.extraction.builders import law, passages


def graph_of(texts: list[tuple[str, str]]):  # type: ignore[no-untyped-def]
    definitions, chunks = passages(texts)
    return build_graph([RawExtraction(c.id, c.document_id, "en") for c in chunks], definitions, chunks), chunks


FILMS = [
    ("The Straw Hat (film)", "The Straw Hat is a film of 1971 directed by Oldřich Lipský in Prague."),
    ("Oldřich Lipský", "Oldřich Lipský was a Czech director who died in Prague in 1986."),
    ("It", "It is a novel about fear and memory in a small town of Maine."),
]


def test_a_hop_leads_from_the_mention_to_the_definition() -> None:
    graph, chunks = graph_of(FILMS)
    (mention,) = [
        x
        for x in graph.links
        if x.type == "MENTIONS"
        and x.source_id == chunks[0].id
        and x.count == 1
        and any(
            d.type == "DEFINES" and d.target_id == x.target_id and d.source_id == chunks[1].parent_id
            for d in graph.links
        )
    ]
    assert mention.target_kind == "entity"


def test_a_name_that_is_a_function_word_links_nothing() -> None:
    graph, _ = graph_of([*FILMS, ("Fear", "It was cold. It rained. They said that It fell.")])
    novel = next(e.id for e in graph.entities if e.name == "It")
    assert not [x for x in graph.links if x.type == "MENTIONS" and x.target_id == novel]


def test_names_too_common_to_tell_link_nothing() -> None:
    texts = [(f"Report number {n} here", "In Prague they met again.") for n in range(60)] + [("Prague", "A city.")]
    graph, _ = graph_of(texts)
    city = next(e for e in graph.entities if e.name == "Prague")
    assert city.chunks == 60
    assert not [x for x in graph.links if x.type == "MENTIONS" and x.target_id == city.id]


def test_names_in_a_question_are_found_in_any_case() -> None:
    graph, _ = graph_of(FILMS)
    lookup = lookup_in(graph.names)
    for question in ("Where did the director of The Straw Hat die?", "who directed the straw hat", "Oldrich Lipsky?"):
        (found,) = names_in_question(question, lookup)
        assert found.defined
    assert names_in_question("what is it", lookup) == []
    assert names_in_question("", lookup) == []


def test_question_keys_cover_plural_terms() -> None:
    assert "organisme notifi" in question_keys("Qui sont les organismes notifiés ?")


def test_cross_references_lead_to_the_named_paragraph() -> None:
    definitions, chunks = law(
        [
            ("Article 6 Règles", "1. Un système est à haut risque.\n2. Les systèmes de l'annexe I aussi."),
            ("Article 7 Modifications", "La Commission modifie l'article 6, paragraphe 2, du présent règlement."),
            ("Article 8 Autre", "Voir l'article 6, paragraphe 1, du règlement (UE) 2016/679, et les articles 6 à 7."),
            ("ANNEXE I Liste", "Une liste."),
        ],
        "fr",
    )
    graph = build_graph([RawExtraction(c.id, c.document_id, "fr") for c in chunks], definitions, chunks)
    refers = {(x.source_id, x.target_kind, x.target_id) for x in graph.links if x.type == "REFERS_TO"}
    assert refers == {
        (chunks[0].id, "parent", chunks[3].parent_id),
        (chunks[1].id, "chunk", chunks[0].id),
        (chunks[2].id, "parent", chunks[0].parent_id),
        (chunks[2].id, "parent", chunks[1].parent_id),
    }
    (named,) = names_in_question("Que dit l'annexe I ?", lookup_in(graph.names))
    assert [e.name for e in graph.entities if e.id in named.entity_ids] == ["Annexe I"]
    article = next(e for e in graph.entities if e.name == "Article 6")
    assert article.description == "Règles"
    assert article.chunks == 2


def test_a_section_is_that_of_its_chapter() -> None:
    definitions, chunks = law(
        [
            ("CHAPTER I General > Section 2 Rules > Article 1 Aim", "The rules of Chapter II, Section 2 apply."),
            ("CHAPTER II Special > Section 1 Rules > Article 2 Scope", "They are wide."),
            ("CHAPTER II Special > Section 2 More > Article 3 Duty", "There is one, as in Chapter I, Section 9."),
            ("CHAPTER III Final > Article 4 End", "It ends."),
        ]
    )
    graph = build_graph([RawExtraction(c.id, c.document_id, "en") for c in chunks], definitions, chunks)
    refers = [(x.source_id, x.target_id) for x in graph.links if x.type == "REFERS_TO"]
    assert refers == [(chunks[0].id, chunks[2].parent_id), (chunks[2].id, chunks[0].parent_id)]


def test_defined_terms_lead_to_their_definition() -> None:
    definitions, chunks = law(
        [
            ("Article 3 Définitions", "3) «fournisseur», une personne qui développe un système;"),
            ("Article 16 Obligations", "Les fournisseurs tiennent une documentation."),
        ],
        "fr",
    )
    graph = build_graph([RawExtraction(c.id, c.document_id, "fr") for c in chunks], definitions, chunks)
    term = next(e for e in graph.entities if e.name == "fournisseur")
    links = {(x.type, x.source_kind, x.source_id) for x in graph.links if x.target_id == term.id}
    assert ("DEFINES", "chunk", chunks[0].id) in links
    assert ("MENTIONS", "chunk", chunks[1].id) in links
    assert term.description.startswith("«fournisseur», une personne")


def test_wiki_links_lead_to_the_note_of_that_title() -> None:
    graph, chunks = graph_of(
        [("Ada", "See [[Charles Babbage]] and [[Ada#Life|her life]]."), ("Charles Babbage", "A man of engines.")]
    )
    refers = [(x.source_id, x.target_id) for x in graph.links if x.type == "REFERS_TO"]
    assert refers == [(chunks[0].id, chunks[1].parent_id)]
