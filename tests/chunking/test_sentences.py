"""Where sentences end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.chunking.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]


@pytest.mark.parametrize(
    "whole",
    [
        "Dr. Babbage met Mr. Herschel in St. Petersburg.",
        "See Fig. 3, p. 12, and vol. 2 of the U.S. Army report.",
        "J. S. Mill and C. Babbage agreed, e.g. On taxes.",
        "Voir art. 6, al. 2, cf. M. Dupont et Mme. Martin, no. 12.",
        "1. Les fournisseurs veillent à ce que les systèmes soient conformes.",
        "a. First point of the list.",
        "It costs 3.14 pounds at version 2.0 of the site example.org today.",
        "He said (etc.) that it works... and it did.",
    ],
)
def test_abbreviations_numbers_and_markers_end_no_sentence(whole: str) -> None:
    assert sentences(whole) == [whole]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It works. It prints.", ["It works.", "It prints."]),
        ("Marche-t-elle ? Oui ! Bien.", ["Marche-t-elle ?", "Oui !", "Bien."]),
        ("Il dit: «Elle marche.» Puis il part.", ["Il dit: «Elle marche.»", "Puis il part."]),
        ("Il dit : « Elle marche. » Puis il part.", ["Il dit : « Elle marche. »", "Puis il part."]),
        ("“It works.” “Does it?”", ["“It works.”", "“Does it?”"]),
        ("階差機関は機械式である。印刷もする！本当？", ["階差機関は機械式である。", "印刷もする！", "本当？"]),
        ("End in 1871. Éloge funèbre.", ["End in 1871.", "Éloge funèbre."]),
    ],
)
def test_sentences_are_told_apart(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@given(st.text(alphabet="ab AÉ.!?»«)\n。1", max_size=80))
def test_sentences_hold_every_character_in_order(text: str) -> None:
    spans = list(sentence_spans(text, 0, len(text)))
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
