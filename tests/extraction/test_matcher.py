from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ekr.extraction.matcher import Name, NameMatcher


def found(names: list[Name], text: str, *, any_case: bool = False) -> list[tuple[str, tuple[str, ...]]]:
    return [(text[m.start : m.end], m.targets) for m in NameMatcher(names).find(text, any_case=any_case)]


def test_the_longest_name_wins() -> None:
    names = [Name("Lothair", "1"), Name("Lothair II", "2"), Name("Lothair II of Lotharingia", "3")]
    assert found(names, "wife of Lothair II of Lotharingia, son of Lothair") == [
        ("Lothair II of Lotharingia", ("3",)),
        ("Lothair", ("1",)),
    ]


def test_short_names_do_not_match_inside_words_or_in_other_case() -> None:
    names = [Name("AI", "ai"), Name("Go", "go")]
    assert found(names, "It said: I go again. The AI plays Go.") == [("AI", ("ai",)), ("Go", ("go",))]


def test_accents_case_and_apostrophes_do_not_matter() -> None:
    assert found([Name("Conseil d'État", "x")], "le CONSEIL D’ETAT statue") == [("CONSEIL D’ETAT", ("x",))]


def test_a_proper_name_needs_a_capital_but_in_questions() -> None:
    names = [Name("The Straw Hat", "film")]
    assert found(names, "he wore the straw hat") == []
    assert found(names, "who directed the straw hat", any_case=True) == [("the straw hat", ("film",))]


def test_a_term_matches_in_any_case_and_number() -> None:
    names = [Name("organisme notifié", "t", term=True)]
    assert found(names, "Les organismes notifiés et l'Organisme notifié") == [
        ("organismes notifiés", ("t",)),
        ("Organisme notifié", ("t",)),
    ]


def test_a_sentence_end_breaks_a_name_unless_the_name_has_it() -> None:
    names = [Name("Paris France", "p"), Name("St. Maurice", "m")]
    assert found(names, "He left Paris. France was at war. He saw St. Maurice") == [("St. Maurice", ("m",))]


def test_one_word_inside_a_longer_name_is_another_name() -> None:
    names = [Name("United", "album"), Name("Frozen", "film")]
    assert found(names, "In the United States, Frozen Fever was shown. Then Frozen came.") == [("Frozen", ("film",))]


def test_a_name_of_two_things_gives_both() -> None:
    names = [Name("Audrey Williams", "b"), Name("Audrey Williams", "a")]
    assert found(names, "Audrey Williams sang") == [("Audrey Williams", ("a", "b"))]


_WORDS = st.sampled_from(["Ada", "Lovelace", "of", "II", "Paris", "the"])


@given(st.lists(st.lists(_WORDS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=6), st.lists(_WORDS))
def test_matches_never_overlap_and_order_of_names_does_not_matter(names: list[str], words: list[str]) -> None:
    text = " ".join(words)
    forward = NameMatcher(Name(n, n) for n in names).find(text)
    assert forward == NameMatcher(Name(n, n) for n in reversed(names)).find(text)
    assert all(a.end <= b.start for a, b in pairwise(forward))
    assert all(text[m.start : m.end] in m.targets for m in forward)
