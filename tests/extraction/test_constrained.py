"""What is kept of a generator's answers."""

from __future__ import annotations

import pytest

from ekr.extraction.constrained import ask
from ekr.extraction.llm import extraction_grammar
from ekr.extraction.reports import report_grammar
from ekr.models.base import Message
from tests.extraction.test_llm import Memory, Scripted

MESSAGES = [Message("user", "Ada Lovelace met Charles Babbage.")]
OTHER = "root ::= [A-Za-z ]+"


@pytest.mark.parametrize("bad", ["", " \n", "I am sorry", "{{{", "[1, 2]", '{"entities":[{"name":"Ada Lov'])
@pytest.mark.parametrize("grammar", [extraction_grammar(), report_grammar(3)], ids=["extraction", "report"])
def test_an_answer_without_an_object_is_asked_for_again(bad: str, grammar: str) -> None:
    cache, good = Memory(), '{"entities":[],"relations":[]}'
    generator = Scripted(bad, good)
    assert ask(generator, MESSAGES, grammar, cache) == bad
    assert cache.kept == {}
    assert [ask(generator, MESSAGES, grammar, cache) for _ in range(2)] == [good, good]
    assert generator.asked == 2


def test_a_bad_answer_that_was_kept_is_not_replayed() -> None:
    cache = Memory()
    ask(Scripted("{}"), MESSAGES, extraction_grammar(), cache)
    (key,) = cache.kept
    cache.kept[key] = ("I am sorry", "")
    assert ask(Scripted('{"entities":[]}'), MESSAGES, extraction_grammar(), cache) == '{"entities":[]}'
    assert cache.kept[key] == ('{"entities":[]}', "")


def test_an_answer_that_is_no_object_by_its_grammar_is_kept_unless_it_is_empty() -> None:
    cache = Memory()
    generator = Scripted("", "MATCH", "never asked")
    assert [ask(generator, MESSAGES, OTHER, cache) for _ in range(3)] == ["", "MATCH", "MATCH"]
