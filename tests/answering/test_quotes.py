from __future__ import annotations

from collections.abc import Sequence

from ekr.answering.quotes import key_quotes, quantity_quotes
from ekr.models.base import Vectors
from tests.answering.support_for_answering import HashingEmbedder, source

SOURCES = [
    source(1, "The gate is painted green. The wall is old.", "Walls", 1),
    source(2, "The yearly fee is 40 crowns for each plot. Students pay half of the yearly fee.", "Fee", 2),
]
QUESTION = "What is the yearly fee for a plot?"


def test_the_decisive_passage_is_quoted_word_for_word() -> None:
    found = key_quotes(QUESTION, "It depends.", SOURCES, (), HashingEmbedder(), limit=1)
    assert [quote.source for quote in found] == [2]
    assert found[0].text in SOURCES[1].text


def test_what_the_answer_already_says_is_not_repeated() -> None:
    answer = "The yearly fee is 40 crowns for each plot, and students pay half of the yearly fee."
    assert key_quotes(QUESTION, answer, SOURCES, (2,), HashingEmbedder(), limit=2) == []


def test_a_passage_beside_the_point_is_not_quoted() -> None:
    found = key_quotes(QUESTION, "It depends.", SOURCES, (), HashingEmbedder(), limit=5)
    assert all(quote.source == 2 for quote in found)


def test_a_list_is_quoted_to_its_end() -> None:
    items = "".join(f"\n- the yearly fee item {n} of a rather long list of yearly fees for plots;" for n in range(5))
    listed = source(1, f"The yearly fee for a plot covers:{items}\n- and the key.\nOther things.", None, 1)
    found = key_quotes(QUESTION, "", [listed], (), HashingEmbedder(), limit=1, max_characters=120)
    assert found[0].text.startswith("The yearly fee for a plot covers:")
    assert found[0].text.endswith("and the key.")


def test_no_source_no_quote() -> None:
    assert key_quotes(QUESTION, "", [], (), HashingEmbedder(), limit=2) == []


REPORTING = [
    source(1, "Serious incidents are reported within ten days when somebody died.", "Reporting incidents", 4),
    source(2, "Incidents are reported at once, and within 15 days at the latest. The form is free.", "Reporting", 5),
    source(3, "The market authority publishes incidents reported to it.", "Reporting incidents", 6),
]
ASKED = "Why are incidents to be reported within 72 hours?"


def test_passages_with_a_quantity_of_the_kind_are_quoted_from_every_source_that_has_one() -> None:
    found = quantity_quotes(ASKED, "No.", REPORTING, HashingEmbedder(), wanted=frozenset({"duration"}))
    assert sorted(quote.source for quote in found) == [1, 2]


def test_a_quantity_that_the_answer_says_is_not_quoted_again() -> None:
    answer = "Within 15 days at the latest."
    found = quantity_quotes(ASKED, answer, REPORTING, HashingEmbedder(), wanted=frozenset({"duration"}))
    assert [quote.source for quote in found] == [1]


def test_without_a_figure_in_doubt_nothing_is_embedded_for_it() -> None:
    class Untouched(HashingEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError("embedded for nothing")

    assert quantity_quotes(ASKED, "No.", REPORTING, Untouched(), wanted=frozenset()) == []
