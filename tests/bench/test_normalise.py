from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.bench.normalise import normalise, normalise_answer, without_citations


def test_apostrophes_spaces_and_accents_are_made_alike() -> None:
    assert normalise("l\u2019IA\u00a0: \u2018x\u2019\u202f4\n\t%  e\u0301te\u0301") == "l'IA : 'x' 4 % été"


def test_invisible_characters_vanish() -> None:
    assert normalise("hy\u00adphen\u200bated\ufeff") == "hyphenated"


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text())
def test_white_space_is_single_plain_spaces(text: str) -> None:
    assert all(not c.isspace() or c == " " for c in normalise(text))
    assert "  " not in normalise(text)


@pytest.mark.parametrize(
    ("answer", "bare"),
    [
        ("Le délai est de 15 jours [2].", "Le délai est de 15 jours."),
        ("Yes [1, 3]; also [4] [5].", "Yes; also."),
        ("[1] Yes", " Yes"),
        ("see [sic] and x[i]", "see [sic] and x[i]"),
    ],
)
def test_citation_markers_are_no_claims(answer: str, bare: str) -> None:
    assert without_citations(answer) == bare


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("The  Quick, Brown fox!", "quick brown fox"),
        ("An apple; a pear", "apple pear"),
        ("theatre", "theatre"),
        ("U.S.", "us"),
        ("G. Stanley Hall", "g stanley hall"),
    ],
)
def test_answers_are_normalised_as_squad_does(raw: str, plain: str) -> None:
    assert normalise_answer(raw) == plain
