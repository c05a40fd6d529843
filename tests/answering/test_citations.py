from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ekr.answering.citation_marks import parse_citations
from ekr.answering.citations import verify
from tests.answering.support_for_answering import source

SOURCES = [
    source(1, "Le délai de notification est de quinze jours après la connaissance de l'incident.", "Article 73", 102),
    source(2, "Les amendes peuvent aller jusqu'à 35 000 000 EUR ou 7 % du chiffre d'affaires.", "Article 99", 115),
    source(3, "Charles Babbage employed Joseph Clement to make the parts of the engine.", None, 4),
]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a [1].", [1]),
        ("a [1, 3]", [1, 3]),
        ("a [1][2]", [1, 2]),
        ("a [1-3]", [1, 2, 3]),
        ("a [^2]", [2]),
        ("a 【2】", [2]),
        ("a 【2†page 4】", [2]),
        ("a [source 2] b [extrait 3]", [2, 3]),
        ('a [reference_id="2"]', [2]),
        ("a [sic] (1) 1.", []),
    ],
)
def test_citations_are_read_in_the_forms_models_write(text: str, ids: list[int]) -> None:
    assert parse_citations(text) == ids


def test_a_citation_outside_the_context_is_removed_and_reported() -> None:
    checked = verify("Le délai est de quinze jours [99].", SOURCES, None)
    assert checked.text == "Le délai est de quinze jours [1]."
    assert checked.cited == (1,)
    assert "[99] is not an excerpt: removed" in checked.notes


def test_a_citation_moves_to_the_excerpt_that_supports_it_far_better() -> None:
    checked = verify(
        "Les amendes vont jusqu'à 35 000 000 EUR. [1]",
        SOURCES,
        None,
    )
    assert checked.text.endswith("EUR. [2]")
    assert any("moved to [2]" in note for note in checked.notes)


def test_number_words_and_digits_are_the_same_number() -> None:
    assert verify("Le délai est de 15 jours.", SOURCES, None).cited == (1,)


def test_a_claim_in_the_words_of_the_question_that_no_excerpt_has_is_not_cited() -> None:
    sources = [
        source(1, "Ingrid Solberg leads the safety team at Norvik.", "Incidents"),
        source(2, "Balder delivers valves to Norvik.", "Suppliers"),
    ]
    question = "What does Balder pay its chief executive?"
    checked = verify("Balder pays its chief executive Ingrid Solberg. [1]", sources, None, question)
    assert checked.cited == ()
    assert any("no excerpt supports" in note for note in checked.notes)
    assert verify("Ingrid Solberg leads the safety team. [1]", sources, None, question).cited == (1,)


def test_the_words_that_the_model_was_given_to_begin_with_are_not_judged() -> None:
    opening = "Les passages trouvés ne mentionnent pas 72 heures."
    checked = verify(f"{opening} Le délai est de quinze jours. [1]", SOURCES, None, given=opening)
    assert checked.text == f"{opening} Le délai est de quinze jours. [1]"
    assert checked.notes == ()


def test_a_sentence_that_nothing_supports_loses_its_citation_and_keeps_its_words() -> None:
    checked = verify("Paris est la capitale de la France [1].", SOURCES, None)
    assert checked.text == "Paris est la capitale de la France."
    assert checked.cited == ()
    assert any(note.startswith("no excerpt") for note in checked.notes)


def test_a_sentence_with_a_figure_that_no_excerpt_has_is_not_cited() -> None:
    checked = verify("Le délai de notification de l'incident est de 72 jours [1].", SOURCES, None)
    assert checked.cited == ()
    assert any("72" in note for note in checked.notes)


def test_a_figure_that_only_another_excerpt_has_brings_that_one_in() -> None:
    comet = source(1, "Nadia Korvin discovered the comet Korvin-Aldous. She received the Halvorsen Medal in 1947.")
    medal = source(2, "The Halvorsen Medal was endowed in 1899. It carries a prize of 5,000 crowns.")
    said = "The prize that Nadia Korvin, the discoverer of the comet Korvin-Aldous, received was 5,000 crowns. [1]"
    checked = verify(said, [comet, medal], None, "Which prize did the discoverer of the comet receive?")
    assert checked.text.endswith("crowns. [1][2]")
    assert any("[2] has a figure of it" in note for note in checked.notes)
    assert verify(said, [comet, medal], None, "Who received 5,000 crowns?").cited == (1,)


def test_a_list_number_is_no_figure() -> None:
    assert verify("4. Charles Babbage employed Joseph Clement. [3]", SOURCES, None).cited == (3,)


def test_an_uncited_sentence_gets_the_excerpt_that_supports_it() -> None:
    checked = verify("Joseph Clement made the parts of the engine for Babbage.", SOURCES, None)
    assert checked.text == "Joseph Clement made the parts of the engine for Babbage. [3]"


def test_nothing_but_citations_is_cut() -> None:
    text = "Le délai est de quinze jours (Source : règlement) [1].\n\n- Voir *aussi* [sic] l'article 99 [2]"
    bare = verify(text, SOURCES, None).text.replace("[1]", "").replace("[2]", "")
    assert "(Source : règlement)" in bare
    assert "*aussi* [sic]" in bare


def test_without_sources_every_citation_goes() -> None:
    checked = verify("All is well [1]. Indeed [2].", [], None)
    assert checked.text == "All is well. Indeed."
    assert checked.cited == ()


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.text(max_size=40), st.integers(0, 9999).map(lambda n: f" [{n}]")), max_size=12).map("".join)
)
def test_whatever_a_model_writes_only_known_ids_stay_cited(text: str) -> None:
    checked = verify(text, SOURCES, None)
    assert set(parse_citations(checked.text)) <= {1, 2, 3}
    assert set(checked.cited) == set(parse_citations(checked.text))


def test_a_name_that_nothing_given_has_makes_a_sentence_unsupported() -> None:
    said = "Charles Babbage employed Joseph Whitworth to make the parts of the engine. [3]"
    assert verify(said, SOURCES, None).cited == ()
    assert verify(said, SOURCES, None, question="Did Babbage employ Whitworth?").cited == (3,)
