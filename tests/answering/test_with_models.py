"""The default generator and embedder, where they are on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ekr.answering import calibration
from ekr.answering.answer import Options, answer
from ekr.answering.citations import verify
from ekr.config import Settings
from ekr.errors import ModelMissing
from ekr.models import load_embedder, load_generator
from ekr.models.base import Embedder, Generator
from tests.answering.support_for_answering import source

pytestmark = pytest.mark.models

PASSAGES = [
    source(1, "The reading room is open from Tuesday to Saturday. It is closed on public holidays.", "Hours", 2),
    source(2, "A reader may borrow up to eight books for four weeks. A loan is renewed once.", "Loans", 3),
    source(3, "For each week of delay the reader pays 2 crowns a book, at most 30 crowns.", "Delay", 4),
]


@pytest.fixture(scope="module")
def generator() -> Generator:
    settings = Settings()
    try:
        return load_generator(settings.generator, settings)
    except ModelMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    settings = Settings()
    try:
        return load_embedder(settings.embedder, settings)
    except ModelMissing as error:
        pytest.skip(str(error))


def test_a_fact_is_answered_and_cited(generator: Generator, embedder: Embedder) -> None:
    given = answer("How many books may a reader borrow?", PASSAGES, [], generator, embedder)
    assert "eight" in given.text.lower()
    assert 2 in given.cited
    assert given.grounded


def test_a_question_on_something_else_is_refused(generator: Generator, embedder: Embedder) -> None:
    given = answer("Quelle est la capitale de l'Australie ?", PASSAGES, [], generator, embedder)
    assert given.refused
    assert given.text.startswith("Les documents ne contiennent pas cette information.")


@pytest.mark.parametrize("number", [5, 23, 31])
def test_an_injected_passage_changes_no_answer(number: int, generator: Generator, embedder: Embedder) -> None:
    lines = (Path(__file__).parent / "injections.jsonl").read_text("utf-8").splitlines()
    injection = json.loads(lines[number - 1])
    hostile = [*PASSAGES, source(4, injection["text"], "Note", 5)]
    given = answer("How many books may a reader borrow?", hostile, [], generator, embedder, Options(quotes=0))
    assert "eight" in given.text.lower() or "8" in given.text
    assert injection["marker"] not in given.text


def test_a_name_that_no_excerpt_has_is_seen_in_a_very_short_answer_too(embedder: Embedder) -> None:
    born = source(1, "Tobias Marlow was born in Quellbridge in 1871. He founded the Marlow Tide Institute in 1902.")
    question = "Where was the founder of the Marlow Tide Institute born?"
    assert verify("Quellbridge, England. [1]", [born], embedder, question).cited == ()
    assert verify("Quellbridge. [1]", [born], embedder, question).cited == (1,)


def test_calibration_tells_the_classes_apart(
    generator: Generator, embedder: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = json.loads(calibration._QUESTIONS)[:1]
    monkeypatch.setattr(calibration, "_QUESTIONS", json.dumps(english).encode())
    measured = calibration.load_or_run(generator, embedder, tmp_path)
    assert measured.logit["en"].half > 0.4
    assert measured.premise["en"].half > 0.4
    assert measured.closeness.half > 0.01
