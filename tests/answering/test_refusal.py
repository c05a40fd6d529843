from __future__ import annotations

from collections.abc import Sequence

import pytest

from ekr.answering.context import build_context
from ekr.answering.refusal import Calibration, Scale, Signals, assess, missing_names, score
from ekr.models.base import Message
from tests.answering.support_for_answering import ScriptedGenerator, source

CONTEXT = build_context(
    [
        source(
            1, "Providers of high-risk AI systems shall keep the logs for at least six months.", "Article 19 > Logs"
        ),
        source(2, "Market surveillance authorities may impose fines of up to EUR 35 000 000.", "Article 99 > Fines"),
    ],
    [],
    len,
    max_context_tokens=10_000,
)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What is the maximum fine under the DSA?", ("DSA",)),
        ("Quelle est la capitale de l'Australie ?", ("Australie",)),
        ("What does Article 99 say about AI?", ()),
        ("Why is it so?", ()),
    ],
)
def test_names_of_the_question_that_no_excerpt_has_are_found(question: str, missing: tuple[str, ...]) -> None:
    assert missing_names(question, CONTEXT.text) == missing


def test_a_generator_that_says_no_and_a_question_on_something_else_is_refused() -> None:
    generator = ScriptedGenerator("", logit=0.0)
    assert not assess("What is the capital of Australia?", CONTEXT, generator, None, "en", Calibration()).answerable


def test_a_question_in_the_words_of_an_excerpt_is_answered_though_the_generator_doubts() -> None:
    generator = ScriptedGenerator("", logit=0.3)
    question = "How long shall providers of high-risk AI systems keep the logs?"
    assert assess(question, CONTEXT, generator, None, "en", Calibration()).answerable


def test_without_logits_the_decision_is_the_models() -> None:
    verdict = assess(
        "What is the capital of Australia?", CONTEXT, ScriptedGenerator("", logit=None), None, "en", Calibration()
    )
    assert verdict.answerable
    assert verdict.score is None


def test_a_quantity_that_no_excerpt_has_is_named() -> None:
    question = "Why must logs be kept for 72 months?"
    verdict = assess(question, CONTEXT, ScriptedGenerator("", logit=3.0), None, "en", Calibration())
    assert verdict.unmentioned == ("72 months",)


@pytest.mark.parametrize(
    "question", ["What are the 3 main duties?", "Does GPT-4 keep logs?", "Are logs kept for six months or 6 months?"]
)
def test_a_number_that_states_no_quantity_or_is_in_an_excerpt_is_not_named(question: str) -> None:
    verdict = assess(question, CONTEXT, ScriptedGenerator("", logit=3.0), None, "en", Calibration())
    assert verdict.unmentioned == ()


def test_a_presupposition_that_the_generator_does_not_find_is_denied() -> None:
    class Doubting(ScriptedGenerator):
        def yes_minus_no(self, messages: Sequence[Message]) -> float | None:
            return -1.0 if "Does the market authority keep the logs?" in messages[-1].content else 3.0

    question = "Why does the market authority keep the logs?"
    denied = assess(question, CONTEXT, Doubting(""), None, "en", Calibration()).denied
    assert denied is not None
    assert assess(question, CONTEXT, ScriptedGenerator("", logit=3.0), None, "en", Calibration()).denied is None


def test_missing_names_lower_the_score() -> None:
    with_name = Signals(2.0, 0.9, 0.5, ("DSA",))
    without = Signals(2.0, 0.9, 0.5, ())
    assert (score(with_name, Calibration(), "en") or 0) < (score(without, Calibration(), "en") or 0)


def test_a_scale_is_bounded() -> None:
    scale = Scale(1.0, 0.5)
    assert scale(1.5) == 1.0
    assert scale(100) == 2.0
    assert scale(-100) == -2.0


def test_a_question_in_another_language_than_the_excerpts_is_not_judged_by_its_words() -> None:
    question = "Combien de temps les fournisseurs de systèmes d'IA doivent-ils conserver les journaux ?"
    verdict = assess(question, CONTEXT, ScriptedGenerator("", logit=1.0), None, "fr", Calibration())
    assert verdict.signals.coverage is None
    assert verdict.answerable
