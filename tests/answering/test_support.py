from __future__ import annotations

from ekr.answering.support import Excerpts, numbers, terms, written_numbers


def test_numbers_compare_across_ways_of_writing_them() -> None:
    assert numbers("35 000 000 EUR") == numbers("35,000,000 EUR") == numbers("35.000.000 EUR") == {"35000000"}
    assert numbers("quinze jours") == numbers("15 days") == numbers("fifteen days")
    assert written_numbers("deux ou 3") == {"3"}


def test_numbers_and_names_weigh_more_than_words() -> None:
    weights = {t.text: t.weight for t in terms("The engine of Babbage cost 17000 pounds.")}
    assert weights["17000"] > weights["babbag"] > weights["engine"]


def test_accents_and_inflection_do_not_hide_a_word() -> None:
    excerpts = Excerpts(["Les règlements européens."], None)
    assert excerpts.coverage("reglement europeen")[0] == 1.0


def test_the_excerpt_with_the_rare_words_covers_most() -> None:
    excerpts = Excerpts(["The fee is due in May.", "The fee is 40 crowns.", "The fee."], None)
    coverage = excerpts.coverage("The fee is 40 crowns")
    assert coverage.argmax() == 1
    assert coverage[1] == 1.0
