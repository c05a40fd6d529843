"""text2cypher: a query is written, checked, repaired once or refused; values come with the passages behind them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from uuid import uuid4

import jsonschema
import pytest

from ekr import Engine, Recipe
from ekr.errors import RetrievalError, UsageError
from ekr.models.base import Message
from ekr.results import Result
from ekr.retrieval.filters import Filters

SCHEMA = json.loads((resources.files("ekr") / "schema" / "query.json").read_text(encoding="utf-8"))
MIXED = Recipe(name="mixed", methods=("bm25", "text2cypher"), limit=10)


class Writes:
    """Writes one text after another, whatever it is asked."""

    context_tokens = 8192
    supports_grammar = False

    def __init__(self, *texts: str) -> None:
        self.name = f"scripted-{uuid4()}"  # answers are kept by the generator's name
        self._texts = list(texts)
        self.asked: list[Sequence[Message]] = []

    def count(self, text: str) -> int:
        return len(text) // 4 + 1

    def stream(self, messages: Sequence[Message], **_: object) -> Iterator[str]:
        self.asked.append(messages)
        yield self._texts[len(self.asked) - 1]

    def yes_minus_no(self, messages: Sequence[Message]) -> float | None:
        return None


Ask = Callable[..., tuple[Result, Writes]]


@pytest.fixture
def ask(library_store: Path) -> Iterator[Ask]:
    """Asks with a generator that writes given texts."""
    with Engine.open(library_store, reranker="none") as engine:

        def run(
            question: str, *texts: str, recipe: Recipe | str = "TEXT2CYPHER", **values: object
        ) -> tuple[Result, Writes]:
            generator = Writes(*texts)
            engine.models._generator = generator
            return engine.retrieve(question, recipe, **values), generator

        yield run


QUESTION = "Who worked with Charles Babbage?"
RIGHT = "MATCH (p:Person)-[:WORK_WITH]->(b {name: 'Charles Babbage'}) RETURN DISTINCT p.name ORDER BY p.name"


def test_rows_are_values_followed_by_the_passages_behind_them(ask: Ask) -> None:
    result, _ = ask(QUESTION, RIGHT)
    jsonschema.validate(result.to_json(), SCHEMA)
    values = [item for item in result.items if item.type == "value"]
    assert [value.row for value in values] == [("Ada Lovelace",), ("John Herschel",)]
    assert values[0].columns == ("p.name",)
    assert {place.document for place in values[0].evidence or ()} >= {"lovelace.md"}
    passages = result.items[len(values) :]
    assert passages
    assert {item.type for item in passages} == {"chunk"}
    assert {place.chunk_id for value in values for place in value.evidence or ()} == {item.id for item in passages}
    (record,) = result.trace.extra["text2cypher"]
    assert (record["repaired"], record["rows"]) == ("rule", 2)  # WORK_WITH holds both ways


def test_nodes_in_a_row_lead_to_their_passages(ask: Ask) -> None:
    result, _ = ask("Which engines are there?", "MATCH (e {name: 'Analytical Engine'}) RETURN e")
    value, *passages = result.items
    assert value.row is not None
    assert value.row[0]["properties"]["name"] == "Analytical Engine"
    assert str(value) == "e = Analytical Engine"
    assert "engine.md" in {item.document for item in passages}


def test_a_failed_query_is_repaired_with_its_error(ask: Ask) -> None:
    result, generator = ask(QUESTION, "MATCH (p:Persn) RETURN p.name", f"```cypher\n{RIGHT}\n```")
    (record,) = result.trace.extra["text2cypher"]
    assert record["repaired"] == "generator"
    assert "did you mean Person?" in record["attempts"][0]["error"]
    assert len([item for item in result.items if item.type == "value"]) == 2
    first, second = generator.asked
    assert second[-1].content.startswith(first[-1].content)
    assert "did you mean Person?" in second[-1].content


@pytest.mark.parametrize(
    ("question", "text", "reason"),
    [
        (QUESTION, "MATCH (p:Person) RETURN p.nam", "unknown property"),
        (QUESTION, "MATCH (p:Person) SET p.name = 'x' RETURN p", "read-only"),
        (QUESTION, "MATCH (p:Person) RETURN p.name", "Charles Babbage, which the query leaves out"),
        ("Who met Zaphod Beeblebrox?", "MATCH (p)--(b {name: 'Zaphod Beeblebrox'}) RETURN p", "no name in the graph"),
        ("Who met Zaphod Beeblebrox?", "MATCH (p)-[:MEET]-() RETURN count(p)", "Zaphod"),
        ("What happened in 1066?", "MATCH (d:Date) RETURN d.name", "1066"),
        ("Which people are not mentioned?", "MATCH (p:Person)<-[:MENTIONS]-() RETURN p.name", "use NOT"),
        ("Which person is best known?", "MATCH (p:Person) RETURN p.name, count(p)", "counts each node by itself"),
        ("Who lives where?", "MATCH (p:Place)-[:WORK_WITH]->(q:Place) RETURN p", "joins these labels"),
    ],
)  # fmt: skip
def test_a_query_that_fails_twice_is_an_error_with_the_reason(ask: Ask, question: str, text: str, reason: str) -> None:
    with pytest.raises(RetrievalError, match="also after a repair") as caught:
        ask(question, text, text)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_beside_another_method_the_failure_is_named_and_the_others_answer(ask: Ask) -> None:
    result, _ = ask(QUESTION, "MATCH (", "MATCH (", recipe=MIXED)
    ((failure),) = result.degraded
    assert (failure["stage"], failure["name"]) == ("method", "text2cypher")
    assert {item.type for item in result.items} == {"chunk"}
    (record,) = result.trace.extra["text2cypher"]
    assert (record["query"], len(record["attempts"])) == (None, 2)
    jsonschema.validate(result.to_json(), SCHEMA)


def test_beside_another_method_values_are_fused_with_passages(ask: Ask) -> None:
    result, _ = ask(QUESTION, RIGHT, recipe=MIXED)
    assert result.degraded == []
    assert {item.type for item in result.items} == {"value", "chunk"}


def test_a_query_that_finds_nothing_is_tried_again_and_then_believed(ask: Ask) -> None:
    empty = "MATCH (p:Person)-[:MEET]-(b {name: 'John Herschel'}) RETURN p.name"
    result, generator = ask("Who met John Herschel?", empty, empty)
    assert result.items == ()
    assert len(generator.asked) == 2
    assert "finds nothing" in generator.asked[1][-1].content


def test_a_longer_result_than_the_limit_says_so(ask: Ask) -> None:
    result, _ = ask("Which entities are there?", "MATCH (e:Entity) RETURN e.name", limit=3)
    assert [item.type for item in result.items] == ["value"] * 3
    assert [item.rank for item in result.items] == [1, 2, 3]
    assert any("the first 3 are kept" in note for note in result.trace.notes)


def test_without_the_generator_the_error_names_it(library_store: Path, tmp_path: Path) -> None:
    with Engine.open(library_store, reranker="none", generator=str(tmp_path / "none.gguf")) as engine:
        with pytest.raises(RetrievalError, match=r"text2cypher: .*none\.gguf"):
            engine.retrieve(QUESTION, "text2cypher")
        result = engine.retrieve(QUESTION, MIXED)
    assert [failure["name"] for failure in result.degraded] == ["text2cypher"]


def test_a_document_filter_is_refused_rather_than_ignored(ask: Ask, library_store: Path) -> None:
    chosen = Filters(documents=("lovelace.md",))
    with pytest.raises(UsageError, match="can't use --document"):
        ask(QUESTION, RIGHT, filters=chosen)
    result, _ = ask(QUESTION, RIGHT, recipe=MIXED, filters=chosen)
    assert [failure["name"] for failure in result.degraded] == ["text2cypher"]
    assert {item.document for item in result.items} == {"lovelace.md"}


@pytest.fixture(scope="module")
def real(library_store: Path) -> Iterator[Engine]:
    """The library with the default generator, where it is on this machine."""
    from ekr.config import Settings
    from ekr.models.cache import folder_of, state_of

    if state_of(folder_of(Settings().cache_dir, "qwen2.5-coder-1.5b")) != "present":
        pytest.skip("needs: ekr models pull qwen2.5-coder-1.5b")
    with Engine.open(library_store, reranker="none") as engine:
        yield engine


@pytest.mark.models
def test_the_default_generator_counts_and_cites_no_passage_for_a_number_that_none_has(real: Engine) -> None:
    result = real.query("How many documents are there?", "text2cypher")
    (value,) = [item for item in result.items if item.type == "value"]
    assert value.row == (5,)
    assert result.answer is not None
    assert "5" in result.answer or "five" in result.answer.lower()
    assert not result.refused


@pytest.mark.models
def test_the_default_generator_lists_and_the_answer_cites_the_evidence(real: Engine) -> None:
    result = real.query("Who worked with Charles Babbage?", "text2cypher")
    names = {cell for item in result.items if item.type == "value" for cell in item.row or ()}
    assert names == {"Ada Lovelace", "John Herschel"}
    assert result.answer is not None
    assert "Ada Lovelace" in result.answer
    assert result.grounded
    assert any(reference.cited for reference in result.references)
