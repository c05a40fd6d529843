from __future__ import annotations

import pytest

from ekr.answering.language import question_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Qui a travaillé avec Babbage ?", "fr"),
        ("Quelles amendes l'article 99 prévoit-il ?", "fr"),
        ("Who worked with Babbage?", "en"),
        ("Maximum fine under Article 99?", "en"),
        ("Welche Pflichten haben Anbieter?", "de"),
        ("¿Qué sistemas de IA están prohibidos?", "es"),
        ("Quali sono gli obblighi dei fornitori?", "it"),
        ("Quais são as obrigações dos fornecedores?", "pt"),
        ("Wat zijn de verplichtingen van aanbieders?", "nl"),
        ("AI法は何を禁止していますか", "ja"),
        ("人工智能法禁止什么", "zh"),
    ],
)
def test_the_language_of_a_question_is_told_from_its_function_words(question: str, language: str) -> None:
    assert question_language(question, "xx") == language


@pytest.mark.parametrize("question", ["Babbage", "42 ?", "", "!!"])
def test_the_default_is_used_when_nothing_tells(question: str) -> None:
    assert question_language(question, "fr") == "fr"
