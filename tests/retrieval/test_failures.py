"""Each method and step really fails; what the others found comes back, and the result says what is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ekr import Engine, Recipe
from ekr.errors import RetrievalError
from ekr.retrieval.steps import STEPS, neighbours

Damaged = Callable[..., Path]
ALL = ("chunk", "bm25", "entity", "local", "global", "community")
QUESTION = "Who worked with Charles Babbage?"


def _failed(engine: Engine, recipe: Recipe | str, **values: object) -> tuple[set[tuple[str, str]], set[str]]:
    result = engine.retrieve(QUESTION, recipe, **values)
    assert result.items
    assert all(failure["error"] for failure in result.degraded)
    return {(d["stage"], d["name"]) for d in result.degraded}, {ranked["method"] for ranked in result.trace.lists}


@pytest.mark.parametrize(
    ("rows", "vectors", "broken"),
    [
        ((), ("chunks",), {"chunk"}),
        ((), ("entities",), {"entity", "local"}),
        ((), ("relations",), {"global"}),
        ((), ("reports",), {"community"}),
        (("relation_evidence",), (), {"local", "global"}),
        (("entity_names",), (), {"entity", "local", "global"}),
    ],
)
def test_a_method_whose_data_is_gone_is_named_and_the_others_answer(
    damaged: Damaged, rows: tuple[str, ...], vectors: tuple[str, ...], broken: set[str]
) -> None:
    with Engine.open(damaged(rows=rows, vectors=vectors), reranker="none") as engine:
        recipe = Recipe(name="all", methods=ALL, limit=30)
        failed, answered = _failed(engine, recipe)
    assert failed == {("method", name) for name in broken}
    assert answered == set(recipe.methods) - broken


def test_the_bm25_index_is_gone(library_store: Path, damaged: Damaged) -> None:
    import shutil

    store = damaged()
    (generation,) = (store / "generations").iterdir()
    shutil.rmtree(generation / "bm25")
    with Engine.open(store, reranker="none") as engine:
        failed, answered = _failed(engine, Recipe(name="r", methods=("chunk", "bm25", "entity"), limit=30))
    assert failed == {("method", "bm25")}
    assert answered == {"chunk", "entity"}


def test_when_every_method_fails_it_is_an_error(damaged: Damaged) -> None:
    with Engine.open(damaged(vectors=("entities", "relations")), reranker="none") as engine:
        for recipe in ("ENTITY", "local", "global", "hybrid"):
            with pytest.raises(RetrievalError, match=r"every method failed: .*ekr doctor"):
                engine.retrieve(QUESTION, recipe)


@pytest.mark.parametrize(
    ("rows", "recipe", "step"),
    [
        ("links", Recipe(name="r", methods=("chunk", "bm25"), walk=("links",)), "walk links"),
        (
            "community_members",
            Recipe(name="r", methods=("chunk", "entity"), steps=("communities",)),
            "communities",
        ),
        ("entities", Recipe(name="r", methods=("chunk",), walk=("pagerank",)), "walk pagerank"),
        ("relations", Recipe(name="r", methods=("entity",), walk=("breadth_first",)), "walk breadth_first"),
        ("relations", Recipe(name="r", methods=("entity",), rerank="graph_distance"), "rerank"),
    ],
)
def test_a_step_whose_data_is_gone_is_named_and_leaves_the_pool_as_it_was(
    damaged: Damaged, rows: str, recipe: Recipe, step: str
) -> None:
    with Engine.open(damaged(rows=(rows,)), reranker="none") as engine:
        result = engine.retrieve(QUESTION, recipe)
        plain = engine.retrieve(QUESTION, recipe.varied({"walk": "none", "steps": [], "rerank": "none"}))
    assert [(d["stage"], d["name"]) for d in result.degraded] == [("step", step)]
    assert [item.id for item in result.items] == [item.id for item in plain.items]


def test_neighbours_fail_and_the_pool_stays(library: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    # The rows that it reads are those of the chunks themselves, so no damage to a store breaks this step alone.
    def broken(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setitem(STEPS, "neighbours", broken)  # type: ignore[arg-type]
    failed, answered = _failed(library, Recipe(name="r", methods=("chunk", "bm25"), steps=("neighbours",)))
    assert failed == {("step", "neighbours")}
    assert answered == {"chunk", "bm25"}
    assert neighbours.join is not broken


def test_without_the_re_ranker_exactly_chunk_top_k_chunks_come_in_fusion_order(library_store: Path) -> None:
    with Engine.open(library_store, reranker="/no/such/reranker.gguf") as engine:
        for recipe in ("naive", "mix", "hybrid_mix"):
            result = engine.retrieve(QUESTION, recipe, chunk_top_k=2)
            assert [(d["stage"], d["name"]) for d in result.degraded] == [("step", "rerank")]
            chunks = [item.id for item in result.items if item.type == "chunk"]
            assert chunks == [row["id"] for row in result.trace.fusion if row["type"] == "chunk"][:2]


def test_without_the_re_ranker_reports_still_keep_their_slots(library_store: Path) -> None:
    with Engine.open(library_store, reranker="/no/such/reranker.gguf") as engine:
        result = engine.retrieve("Who worked with Charles Babbage?", "HYBRID_RERANKED", limit=4)
    assert [(d["stage"], d["name"]) for d in result.degraded] == [("step", "rerank")]
    assert "community" in {item.type for item in result.items}
    assert len(result.items) == 4


def test_keywords_fall_back_on_the_rule_when_the_generator_is_missing(library_store: Path, tmp_path: Path) -> None:
    with Engine.open(library_store, reranker="none", generator=str(tmp_path / "none.gguf")) as engine:
        result = engine.retrieve(QUESTION, "local", keywords="llm")
    assert [(d["stage"], d["name"]) for d in result.degraded] == [("step", "keywords")]
    assert result.trace.extra["keywords"][0]["by"] == "nlp"
    assert any(item.name == "Charles Babbage" for item in result.items)


def test_a_question_without_keywords_is_searched_by_its_own_terms_and_the_trace_says_so(library: Engine) -> None:
    result = library.retrieve("of the and", "local")
    assert result.trace.extra["keywords"][0]["fallback"]
    assert any("own terms" in note for note in result.trace.notes)
