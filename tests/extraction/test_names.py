from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.extraction.names import clean, fold, is_acronym, key_of, numbers, singular, tokenize


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Émile ZOLA", "emile zola"),
        ("the European Union", "European Union"),
        ("l’Union européenne", "Union européenne"),
        ("Babbage's", "Babbage"),
        ("U.S. Navy", "US Navy"),
        ("J. R. R. Tolkien", "JRR Tolkien"),
        ("Abdul-Aziz", "Abdul Aziz"),
        ("ＩＢＭ", "IBM"),
        ("Sœur Marie", "soeur marie"),
    ],
)
def test_variants_of_a_name_have_one_key(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@given(st.text(alphabet="aéèàçñöABC 'Œ-", min_size=1, max_size=20))
def test_nfc_and_nfd_have_one_key(name: str) -> None:
    assert key_of(unicodedata.normalize("NFC", name)) == key_of(unicodedata.normalize("NFD", name))


@given(st.text(max_size=60))
def test_tokens_are_spans_of_the_text_in_order(text: str) -> None:
    tokens = tokenize(text)
    assert all(text[t.start : t.end] and fold(text[t.start : t.end]) == t.folded for t in tokens)
    assert all(a.end <= b.start for a, b in pairwise(tokens))


def test_names_with_different_numbers_differ() -> None:
    assert numbers("lothair ii") != numbers("lothair iii")
    assert numbers("article 6") != numbers("article 60")


def test_plural_forms_meet_in_one_stem() -> None:
    assert singular("organismes") == singular("organisme")
    assert singular("notifies") == singular("notifie")
    assert singular("authorities") == singular("authority")
    assert singular("niveaux") == singular("niveal")
    assert singular("class") == "class"


def test_cjk_names_are_cut_into_characters() -> None:
    assert [t.folded for t in tokenize("東京都 Tokyo")] == ["東", "京", "都", "tokyo"]


def test_clean_takes_off_quotes_and_possessives() -> None:
    assert clean(" «Babbage’s» ") == "Babbage"
    assert clean("Arthur (film)") == "Arthur (film)"


def test_acronyms_are_recognised() -> None:
    assert is_acronym("NATO")
    assert is_acronym("SMEs")
    assert not is_acronym("Nato")
    assert not is_acronym("A")
