from __future__ import annotations

import pytest

from ekr.answering.premise import premise_of


@pytest.mark.parametrize(
    ("question", "asked", "denial"),
    [
        (
            "Pourquoi le règlement interdit-il totalement la publicité ?",
            "Le règlement interdit-il totalement la publicité ?",
            "Le règlement n'interdit pas totalement la publicité",
        ),
        (
            "Pourquoi Ada Lovelace a-t-elle écrit son mémoire en français ?",
            "Ada Lovelace a-t-elle écrit son mémoire en français ?",
            "Ada Lovelace n'a pas écrit son mémoire en français",
        ),
        ("Pourquoi est-il interdit de fumer ?", "Est-il interdit de fumer ?", "Il n'est pas interdit de fumer"),
        ("Why does the Regulation ban chatbots?", "Does the Regulation ban chatbots?", None),
        ("In which year did Babbage complete it?", "Did Babbage complete it?", None),
    ],
)
def test_what_a_question_takes_for_granted(question: str, asked: str, denial: str | None) -> None:
    premise = premise_of(question)
    assert premise is not None
    assert (premise.question, premise.denial) == (asked, denial)


@pytest.mark.parametrize("question", ["Who made it?", "Qui l'a fait ?", "", "Quel est le délai ?", "why"])
def test_other_questions_take_nothing_for_granted(question: str) -> None:
    assert premise_of(question) is None
