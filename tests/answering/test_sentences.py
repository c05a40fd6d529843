from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ekr.answering.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It was in 1850. The end.", ["It was in 1850.", "The end."]),
        ("Mr. Babbage met Dr. Lovelace. They talked.", ["Mr. Babbage met Dr. Lovelace.", "They talked."]),
        (
            "Selon l'art. 5, c'est interdit. [1] Voir aussi. [2]",
            ["Selon l'art. 5, c'est interdit. [1]", "Voir aussi. [2]"],
        ),
        ("Les cas :\n- un ; [1]\n- deux. [2]", ["Les cas :", "- un ; [1]", "- deux. [2]"]),
        ("a) x;\nb) y.", ["a) x;", "b) y."]),
        ("a line that\ngoes on here", ["a line that\ngoes on here"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_say(text: str, sentences: list[str]) -> None:
    assert [text[a:b] for a, b in split_sentences(text)] == sentences


@settings(deadline=None)
@given(st.text(max_size=300))
def test_spans_are_in_order_and_hold_all_that_is_not_white_space(text: str) -> None:
    spans = split_sentences(text)
    assert all(a < b for a, b in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())


@pytest.mark.parametrize(
    "sentence",
    [
        "The director is J. R. R. Pemberton. [1]",
        "It opened in the U.S. at 9 a.m. on 4 May [1].",
        "Acme Inc. and Bolt & Co. paid €4.75 million. [1]",
        "Lt. Harry R. Truman stayed at 12 av. Foch. [2]",
        "It is in the U.S. [1]",
    ],
)
def test_names_and_abbreviations_end_no_sentence(sentence: str) -> None:
    text = f"{sentence} Next comes this. [1]"
    assert [text[a:b] for a, b in split_sentences(text)] == [sentence, "Next comes this. [1]"]
