"""Terms: folding, elision, stop words, French forms, pairs of unspaced scripts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.store.analysis import OTHER, analyser, query_terms


@pytest.mark.parametrize(
    "forms",
    [
        "règlement règlements réglement",
        "obligation obligations",
        "fournisseur fournisseurs",
        "général générale générales",
        "public publics",
    ],
)
def test_forms_of_one_french_word_have_one_term(forms: str) -> None:
    assert len(set(analyser("fr").terms(forms))) == 1


@pytest.mark.parametrize("words", ["note notion", "iii ii", "2024 202"])
def test_different_french_words_keep_apart(words: str) -> None:
    assert len(set(analyser("fr").terms(words))) == 2


@pytest.mark.parametrize(
    ("name", "text", "terms"),
    [
        ("fr", "L’article 6, paragraphe 1", ["articl", "6", "paragraph", "1"]),
        ("fr", "l'IA, qu'il a d´abord jusqu'à III", ["ia", "abord", "iii"]),
        ("en", "The provider's systems (Article 6(1))", ["provid", "system", "articl", "6", "1"]),
        ("en", "AI in the EU", ["ai", "eu"]),
        (OTHER, "Straße naïve ＡＢＣ ﬁn", ["strasse", "naive", "abc", "fin"]),
        (OTHER, "東京タワー", ["東", "京", "タ", "ワ", "ー", "東京", "京タ", "タワ", "ワー"]),
    ],
)
def test_terms_of_a_text(name: str, text: str, terms: list[str]) -> None:
    assert analyser(name).terms(text) == terms


def test_stop_words_of_the_language_of_a_question_are_not_searched_in_another() -> None:
    question = "Quel est le rôle de Le Corbusier dans la conception des machines ?"
    assert set(query_terms("en", question)) == {"role", "corbusi", "concept", "machin"}
    assert "ai" in query_terms("fr", "What is the role of AI?")
    assert query_terms("fr", "AI Act")["ai"] == 1


@given(st.text(st.characters(exclude_categories=[])), st.sampled_from(["en", "fr", OTHER]))
def test_any_text_has_the_same_terms_in_each_normal_form(text: str, name: str) -> None:
    whole = text.encode("utf-8", "replace").decode()
    terms = analyser(name).terms(text)
    assert all(term and not term.isspace() for term in terms)
    for form in ("NFC", "NFD"):
        assert analyser(name).terms(unicodedata.normalize(form, whole)) == terms
