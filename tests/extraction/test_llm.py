from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest

from ekr.config import Settings
from ekr.errors import ModelMissing
from ekr.extraction import LlmExtractor, empty_documents, find_communities, generated_keywords, report_on
from ekr.extraction.llm import extraction_grammar
from ekr.extraction.reports import report_grammar
from ekr.models.base import Generator, Message
from tests.extraction.builders import chunk_of, document, parent
from tests.extraction.test_communities import clique, entity

TEXT = "Ada Lovelace worked with Charles Babbage on the Analytical Engine in London."


class Scripted:
    """A generator that says what it is told to: for what the code makes of an answer, not for how good it is."""

    name = "scripted"
    context_tokens = 4096
    supports_grammar = True

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked = 0

    def count(self, text: str) -> int:
        return len(text.split())

    def stream(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Iterator[str]:
        self.asked += 1
        yield self.answers[min(self.asked, len(self.answers)) - 1]

    def yes_minus_no(self, messages: Sequence[Message]) -> float | None:
        return None


class Memory:
    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, str]] = {}

    def get(self, key: str) -> str | None:
        return self.kept[key][0] if key in self.kept else None

    def put(self, key: str, value: str, owner: str) -> None:
        self.kept[key] = (value, owner)


def chunk(text: str = TEXT):  # type: ignore[no-untyped-def]
    doc = document("Notes")
    return chunk_of(parent(doc, 0, text), 0, text)


def answer(entities: list[tuple[str, str, str]], relations: Sequence[tuple[str, str, str]] = ()) -> str:
    return json.dumps(
        {
            "entities": [{"name": n, "type": t, "description": d} for n, t, d in entities],
            "relations": [{"source": s, "type": t, "target": o, "description": ""} for s, t, o in relations],
        }
    )


GOOD = answer(
    [
        ("Ada Lovelace", "Person", "Ada Lovelace worked with Babbage."),
        ("Charles Babbage", "person", "Born in 1791, he is the father of computing."),
        ("Alan Turing", "Person", "Not in the text."),
    ],
    [("Ada Lovelace", "worked with", "Charles Babbage"), ("Ada Lovelace", "KNOW", "Alan Turing")],
)


def test_only_what_stands_in_the_text_is_kept() -> None:
    (found,) = LlmExtractor(Scripted(GOOD, answer([]))).extract([chunk()], "en")
    assert [e.name for e in found.entities] == ["Ada Lovelace", "Charles Babbage"]
    assert [e.label for e in found.entities] == ["Person", "Person"]
    assert [TEXT[a:b] for e in found.entities for a, b in e.spans] == ["Ada Lovelace", "Charles Babbage"]
    assert [(r.source, r.type, r.target) for r in found.relations] == [
        ("Ada Lovelace", "WORKED_WITH", "Charles Babbage")
    ]


def test_names_of_two_sentences_are_not_related() -> None:
    text = "Ada Lovelace wrote notes. Charles Babbage wrote letters."
    people = [("Ada Lovelace", "Person", ""), ("Charles Babbage", "Person", "")]
    said = answer(people, [("Ada Lovelace", "WROTE", "Charles Babbage")])
    (found,) = LlmExtractor(Scripted(said)).extract([chunk(text)], "en")
    assert found.relations == ()
    text = text.replace("Charles Babbage wrote", "She sent Charles Babbage")
    (found,) = LlmExtractor(Scripted(said)).extract([chunk(text)], "en")
    assert [r.type for r in found.relations] == ["WROTE"]


def test_a_verb_that_the_text_does_not_have_becomes_related_to() -> None:
    said = answer([("Ada Lovelace", "Person", ""), ("London", "Place", "")], [("Ada Lovelace", "DIED_IN", "London")])
    (found,) = LlmExtractor(Scripted(said)).extract([chunk()], "en")
    assert [r.type for r in found.relations] == ["RELATED_TO"]


def test_a_description_that_the_text_does_not_support_is_dropped() -> None:
    (found,) = LlmExtractor(Scripted(GOOD, answer([]))).extract([chunk()], "en")
    assert [e.description for e in found.entities] == ["Ada Lovelace worked with Babbage.", ""]


def test_gleaning_adds_what_the_first_answer_missed() -> None:
    generator = Scripted(GOOD, answer([("Analytical Engine", "Product", "")]))
    (found,) = LlmExtractor(generator).extract([chunk()], "en")
    assert generator.asked == 2
    assert "Analytical Engine" in [e.name for e in found.entities]


def test_an_answer_cut_off_keeps_what_is_complete() -> None:
    (found,) = LlmExtractor(Scripted(GOOD[: GOOD.index("Alan")]), gleaning=False).extract([chunk()], "en")
    assert [e.name for e in found.entities] == ["Ada Lovelace", "Charles Babbage"]


def test_the_same_chunk_is_asked_once_and_belongs_to_its_document() -> None:
    cache = Memory()
    first, second = Scripted(GOOD), Scripted("never asked")
    one = LlmExtractor(first, cache).extract([chunk()], "en")
    assert LlmExtractor(second, cache).extract([chunk()], "en") == one
    assert (first.asked, second.asked) == (2, 0)
    assert {owner for _, owner in cache.kept.values()} == {chunk().document_id}


@pytest.mark.parametrize("said", ["", "I am sorry", '{"entities":[],"relations":[]}', "{{{", "[1, 2]"])
def test_an_empty_answer_is_noted_and_named(said: str) -> None:
    extractor = LlmExtractor(Scripted(said))
    found = extractor.extract([chunk()], "en")
    assert extractor.notes() == ["scripted found no entity in 1 of 1 chunks"]
    assert extractor.notes() == []
    assert empty_documents(found) == [chunk().document_id]


def test_keywords_fall_back_to_the_question_when_the_answer_is_empty() -> None:
    found = generated_keywords("Who met Babbage?", Scripted('{"high":[],"low":[]}'))
    assert found.fallback
    assert found.low == ("met", "Babbage")
    said = '{"high":["people met","weather","the Analytical Engine of Babbage"],"low":["Babbage","Ada Lovelace"]}'
    kept = generated_keywords("Who met Babbage?", Scripted(said))
    assert (kept.high, kept.low, kept.fallback) == (("people met",), ("Babbage",), False)


def test_a_report_with_wrong_references_gives_way_to_the_template() -> None:
    relations = clique("m", 4)
    (community,) = find_communities(relations)
    people = {n: entity(n) for n in community.members}
    inside = {r.id: r for r in relations}
    good = '{"title":"Four people","summary":"They meet.","findings":[{"text":"All meet.","members":[1,2,9]}]}'
    written = report_on(community, people, inside, Scripted(good))
    assert written.by == "scripted"
    assert written.findings[0].entity_ids == community.members[:2]
    bad = good.replace("[1,2,9]", "[7]")
    assert report_on(community, people, inside, Scripted(bad)).by == "template"
    light = [r for r in relations if {r.source_id, r.target_id} == {"m0", "m1"}]
    (small,) = find_communities(light)
    assert report_on(small, people, inside, Scripted(good)).by == "template"


def test_the_grammars_are_accepted_by_llama_cpp() -> None:
    llama = pytest.importorskip("llama_cpp")
    from ekr.extraction.keywords import keyword_grammar

    for grammar in (extraction_grammar(), report_grammar(12), keyword_grammar()):
        assert llama.LlamaGrammar.from_string(grammar, verbose=False) is not None


@pytest.mark.models
def test_a_small_generator_finds_the_two_people() -> None:
    from ekr.models import load_generator

    try:
        generator: Generator = load_generator("qwen2.5-coder-1.5b", Settings())
    except ModelMissing as missing:
        pytest.skip(str(missing))
    (found,) = LlmExtractor(generator, gleaning=False).extract([chunk()], "en")
    assert {"Ada Lovelace", "Charles Babbage"} <= {e.name for e in found.entities}
    assert all(e.spans for e in found.entities)
