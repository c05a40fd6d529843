"""The methods and steps over the graph, on a real store."""

from __future__ import annotations

from collections import Counter

import pytest

from ekr import Engine, Recipe
from ekr.results import Item, Result


def _names(result: Result, type_: str) -> list[str]:
    return [str(item) for item in result.items if item.type == type_]


def _documents(result: Result) -> list[str | None]:
    return [item.document for item in result.items if item.type == "chunk"]


def test_a_named_entity_comes_first_with_its_evidence(library: Engine) -> None:
    result = library.retrieve("Who worked with Charles Babbage?", "ENTITY")
    first = result.items[0]
    assert (first.name, first.label) == ("Charles Babbage", "Person")
    assert first.evidence is not None
    assert first.evidence[0].document == "babbage.md"
    assert "Ada Lovelace" in _names(result, "entity")[:4]


def test_hybrid_ranks_the_people_and_the_passage_that_names_both(library: Engine) -> None:
    result = library.retrieve("Who worked with Babbage?", "HYBRID")
    assert {"Charles Babbage", "Ada Lovelace"} <= set(_names(result, "entity"))
    both = [
        i
        for i in result.items
        if i.type == "chunk" and "Ada Lovelace" in str(i.text) and "Charles Babbage" in str(i.text)
    ]
    assert both
    assert both[0].parent is not None
    assert both[0].text is not None
    assert both[0].text in both[0].parent.text


def test_local_gives_one_list_a_type_with_relations_of_the_named_entity_first(library: Engine) -> None:
    result = library.retrieve("What did Ada Lovelace do?", "local")
    types = [ranked["hits"][0]["type"] for ranked in result.trace.lists]
    assert types == ["entity", "relation", "chunk"]
    first = next(item for item in result.items if item.type == "relation")
    assert "Ada Lovelace" in (first.source, first.target)
    assert first.evidence
    assert _documents(result)[0] in ("lovelace.md", "babbage.md")
    assert result.trace.extra["keywords"][0]["low"] == ["Ada Lovelace"]


def test_global_finds_relations_and_what_they_join(library: Engine) -> None:
    result = library.retrieve("breeding roses", "global")
    relations = [item for item in result.items if item.type == "relation"]
    assert relations
    assert {relations[0].source, relations[0].target} <= set(_names(result, "entity"))
    assert _documents(result)[0] == "roses.md"


def test_thematic_returns_reports(library: Engine) -> None:
    result = library.retrieve("What is known about computing machines?", "THEMATIC")
    assert result.items
    assert all(item.type == "community" and item.title and item.summary for item in result.items)


def test_graph_expand_walks_and_brings_reports(library: Engine) -> None:
    result = library.retrieve("Who was Joseph Marie Jacquard?", "GRAPH_EXPAND")
    counted = Counter(item.type for item in result.items)
    assert counted["relation"]
    assert 1 <= counted["community"] <= 3
    assert len(result.items) <= 20
    assert any(ranked["method"] == "walk" for ranked in result.trace.lists)


def test_a_walk_stops_at_its_depth_and_at_its_number_of_items(library: Engine) -> None:
    def walked(**values: object) -> set[str]:
        recipe = Recipe(name="r", methods=("entity",), walk=("breadth_first",), limit=100, fetch=1)
        result = library.retrieve("Joseph Marie Jacquard", recipe, **values)
        return {h["id"] for ranked in result.trace.lists if ranked["method"] == "walk" for h in ranked["hits"]}

    assert walked(walk_depth=1) < walked(walk_depth=3)
    assert len(walked(walk_depth=3, walk_items=2)) == 2


def test_links_lead_from_a_passage_to_the_one_that_defines_what_it_mentions(library: Engine) -> None:
    plain = Recipe(name="plain", methods=("chunk",), limit_counts="chunks", limit=3, fetch=1)
    linked = plain.varied({"walk": "links"})
    question = "Which machine had a store for numbers and a mill?"
    assert _documents(library.retrieve(question, plain)) == ["engine.md"]
    assert "loom.md" in _documents(library.retrieve(question, linked))


def test_a_passage_that_a_name_in_the_question_defines_joins(library: Engine) -> None:
    linked = Recipe(name="r", methods=("chunk",), walk=("links",), limit_counts="chunks", fetch=1, link_seeds=0)
    assert set(_documents(library.retrieve("Ada Lovelace and the Jacquard Loom", linked))) >= {"lovelace.md", "loom.md"}


def test_pagerank_reaches_passages_that_share_no_word_with_the_question(library: Engine) -> None:
    recipe = Recipe(name="r", methods=("entity",), walk=("pagerank",), limit_counts="chunks", fetch=5)
    found = _documents(library.retrieve("John Herschel", recipe))
    assert found[0] == "babbage.md"
    assert "lovelace.md" in found
    assert "roses.md" not in found[:3]


def test_multihop_puts_both_passages_of_a_two_hop_question_on_top(library: Engine) -> None:
    result = library.retrieve("Where was the loom built whose cards the Analytical Engine used?", "multihop")
    assert {"engine.md", "loom.md"} <= set(_documents(result)[:3])


def test_graph_distance_ranks_by_hops_and_lets_items_without_a_place_sink(library: Engine) -> None:
    recipe = Recipe(name="r", methods=("entity", "chunk"), rerank="graph_distance", limit=50, fetch=20)
    result = library.retrieve("Ada Lovelace", recipe)
    hops = result.trace.extra["graph_distance"]["hops"]
    distances = [hops.get(f"{item.type}:{item.id}", 999) for item in result.items]
    assert distances == sorted(distances)
    assert distances[0] == 0
    assert len(result.trace.extra["graph_distance"]["seeds"]) == 3


def test_graph_distance_is_seeded_by_what_was_found_before_the_walk(library: Engine) -> None:
    still = Recipe(name="r", methods=("entity",), rerank="graph_distance", limit=50, fetch=5)
    walking = still.varied({"walk": "breadth_first"})
    seeds = [library.retrieve("Ada Lovelace", r).trace.extra["graph_distance"]["seeds"] for r in (still, walking)]
    assert seeds[0] == seeds[1]


def test_items_beside_the_fusion_join_behind_it_and_have_no_vote(library: Engine) -> None:
    beside = Recipe(
        name="r", methods=("chunk", "local"), beside=("local",), limit_counts="chunks", fetch=4, pool=2, beside_chunks=1
    )
    result = library.retrieve("What was published about the Analytical Engine?", beside)
    assert {row["type"] for row in result.trace.fusion} == {"chunk"}
    assert all("local" not in row["ranks"] for row in result.trace.fusion)
    assert len(_documents(result)) == 3
    assert _names(result, "entity")


def test_ranks_count_each_type_where_the_limit_counts_chunks(library: Engine) -> None:
    result = library.retrieve("Ada Lovelace", "hybrid_mix")
    for type_ in ("chunk", "entity", "relation"):
        ranks = [item.rank for item in result.items if item.type == type_]
        assert ranks == list(range(1, len(ranks) + 1))
    assert [i.rank for i in library.retrieve("Ada Lovelace", "HYBRID").items] == list(range(1, 11))


def test_token_budgets_cut_entities_and_relations_and_nothing_else(library: Engine) -> None:
    whole = library.retrieve("Ada Lovelace", "hybrid_mix")
    small = library.retrieve("Ada Lovelace", "hybrid_mix", max_entity_tokens=120, max_relation_tokens=0)
    assert 0 < len(_names(small, "entity")) < len(_names(whole, "entity"))
    assert _names(small, "relation") == []
    assert _documents(small) == _documents(whole)


def test_the_context_holds_facts_and_numbered_passages(library: Engine) -> None:
    context = library.retrieve("Who worked with Charles Babbage?", "hybrid_mix").trace.extra["context"]
    assert '<chunk reference_id="1"' in context
    assert '<entity name="Charles Babbage">' in context
    assert "<relation name=" in context


def test_a_recipe_without_passages_still_has_passages_to_cite(library: Engine) -> None:
    for recipe in ("ENTITY", "GRAPH_EXPAND", "THEMATIC"):
        result = library.retrieve("Who was Ada Lovelace?", recipe)
        assert result.references, recipe
        assert all(item.type != "chunk" for item in result.items)


def test_decomposition_by_rule_searches_each_part(library: Engine) -> None:
    question = "Who built the Jacquard Loom? Who bred roses in Albrighton?"
    recipe = Recipe(name="r", methods=("bm25",), limit=2, fetch=1, query_decomposition=True)
    with Engine.open(library.settings.store, generator="/no/such/model.gguf") as engine:
        result = engine.retrieve(question, recipe)
    assert result.trace.extra["decomposition"]["by"] == "rule"
    assert set(_documents(result)) == {"loom.md", "roses.md"}
    assert len(result.trace.lists) == 3


@pytest.mark.parametrize(
    "question", ["???", "the of and", "研究所はどこにありますか。", "x" * 3000, '"(" OR [[', "\U0001f600"]
)
@pytest.mark.parametrize("recipe", ["hybrid_mix", "multihop", "GRAPH_EXPAND"])
def test_any_question_works_on_the_graph(library: Engine, question: str, recipe: str) -> None:
    result = library.retrieve(question, recipe)
    assert result.degraded == []
    assert all(isinstance(item, Item) for item in result.items)
