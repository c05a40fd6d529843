from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.bench.matching import compiled
from ekr.bench.normalise import normalise, normalise_answer, normalise_pattern, without_citations


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


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("10\u2009000", "10\u2009000"),
        ("two  spaces", "two  spaces"),
        ("a\nline", "a\nline"),
        (r"a\r\nline\x2c too", "a\r\nline, too"),
        (r"l\u2019IA", "l\u2019IA"),
        (r"12\xa0mois", "12\u00a0mois"),
        ("soft\u00ad*hyphen", "soft\u00adhyphen"),
        (r"soft\u200b?hyphen", "softhyphen"),
        ("a \u2009*b", "a b"),
        (r"a\ \ b", "a  b"),
        ("x[\u2019\u02bc]y[\u2009]z", "x\u2019y\u2009z"),
        ("10[\u00a0-\u00ff]000", "10\u00a0000"),
        ("[]\u00a0]a[-\u00a0]b[a\u00a0-]", "]a\u00a0b-"),
        ("(?ix:A\n B)", "ab"),
    ],
)
def test_a_regex_matches_the_text_it_was_written_for(pattern: str, text: str) -> None:
    assert re.fullmatch(pattern, text, re.IGNORECASE)
    assert compiled(pattern).fullmatch(normalise(text))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a b", "ab"),
        (r"a\n+b", "ab"),
        ("[^\u2019]", "\u2019"),
        ("[^\u00a0]", "\u2009"),
        ("[\u00a1-\u00ff]", " "),
        (r"[\x41-\x43]", "'"),
        (r"\\u2019", "\u2019"),
        (r"a\\ {2}b", "a  b"),
        (r"\(?x\)? a", "xa"),
    ],
)
def test_a_regex_matches_no_more_than_it_did(pattern: str, text: str) -> None:
    assert compiled(pattern).fullmatch(normalise(text) or " ") is None


@pytest.mark.parametrize("pattern", ["\u200b", "\u00ad\ufeff", r"\u200b"])
def test_a_regex_of_invisible_characters_is_empty(pattern: str) -> None:
    assert normalise_pattern(pattern) == ""


@given(st.text())
def test_a_literal_finds_its_own_text(text: str) -> None:
    around = f"x{text}x"
    assert compiled(re.escape(around)).fullmatch(normalise(around))
