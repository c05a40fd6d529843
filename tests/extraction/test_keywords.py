from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.extraction import RawExtraction, build_graph, keywords, lookup_in
from ekr.extraction.question_names import Lookup
from tests.extraction.builders import passages


@pytest.fixture(scope="module")
def lookup() -> Lookup:
    definitions, chunks = passages([("The Straw Hat (film)", "A film of its time."), ("Risk management", "A task.")])
    return lookup_in(build_graph([RawExtraction(c.id, c.document_id, "en") for c in chunks], definitions, chunks).names)


@pytest.mark.parametrize(
    ("question", "low", "high"),
    [
        ("Where did the composer of the straw hat die?", ("the straw hat",), "composer"),
        ("Who worked with Charles Babbage on engines?", ("Charles Babbage",), "engines"),
        (
            "L'article 6, paragraphe 1, et les «systèmes sûrs» ?",
            ("article 6, paragraphe 1", "systèmes sûrs"),
            None,
        ),
        ("How is risk management organised?", ("risk management",), "organised"),
    ],
)
def test_names_are_low_level_and_themes_high_level(
    lookup: Lookup, question: str, low: tuple[str, ...], high: str | None
) -> None:
    found = keywords(question, lookup)
    assert found.low == low
    assert high is None or high in " ".join(found.high)
    assert not found.fallback


def test_a_question_that_names_nothing_searches_for_its_own_phrases() -> None:
    found = keywords("what obligations apply to high risk systems")
    assert "high risk systems" in found.low
    assert found.high
    assert not found.fallback


@pytest.mark.parametrize("question", ["who is it", "???", "東京都の首都は"])
def test_a_question_without_keywords_falls_back_to_its_own_terms(question: str) -> None:
    found = keywords(question)
    assert found.fallback
    assert found.low == found.high != ()


@given(st.text(min_size=1, max_size=80))
def test_every_question_has_keywords(question: str) -> None:
    found = keywords(question)
    assert found.low
    assert found.high
