from __future__ import annotations

import pytest

from ekr.answering.question_kind import asks_for_several


@pytest.mark.parametrize(
    "question",
    [
        "Quelles sont les obligations des déployeurs ?",
        "Dans quels cas l'identification est-elle autorisée ?",
        "What are the obligations of deployers?",
        "Which high-risk systems are listed in Annex III?",
        "Under which conditions may it be used?",
        "List all the prohibited practices.",
    ],
)
def test_questions_for_several_things(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    [
        "Quelle est la durée maximale ?",
        "Qui a travaillé avec Babbage ?",
        "What is a deep fake?",
        "Who worked with Babbage?",
        "Which engine was never built?",
        "What class is it?",
    ],
)
def test_questions_for_one_thing(question: str) -> None:
    assert not asks_for_several(question)
