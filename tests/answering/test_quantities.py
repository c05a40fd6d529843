from __future__ import annotations

from ekr.answering.quantities import kinds, of_kinds, quantities


def test_a_figure_with_a_unit_is_a_quantity() -> None:
    assert quantities("Within 72 hours, 15 000 euros or 4 %") == ("72 hours", "15 000 euros", "4 %")


def test_a_figure_that_counts_what_is_asked_for_is_none() -> None:
    assert quantities("What are the 3 main duties of article 73?") == ()


def test_kinds_tell_durations_money_and_shares_apart() -> None:
    assert kinds("Pourquoi sous 72 heures ?") == {"duration"}
    assert kinds("40 dollars, or 2 percent") == {"money", "share"}
    assert kinds("nothing of the kind") == frozenset()


def test_number_words_count_too() -> None:
    assert kinds("au plus tard deux jours après") == {"duration"}
    assert of_kinds("Two days or 40 euros, at most ten  weeks", frozenset({"duration"})) == ("two days", "ten weeks")


def test_a_word_that_only_begins_like_a_number_is_none() -> None:
    assert kinds("centre days, tend years") == frozenset()
