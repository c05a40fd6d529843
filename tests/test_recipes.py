"""Recipes: loading, validation, variation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr import recipes
from ekr.errors import RecipeError


def test_every_built_in_recipe_is_valid_and_can_be_shown_and_reloaded() -> None:
    known = recipes.builtin()
    assert {"chunk", "naive", "bypass", "hybrid_mix"} <= set(known)
    for name, recipe in known.items():
        assert recipes.parse(recipes.source(name), name) == recipe
        assert recipe.summary


def test_names_and_aliases_match_case_sensitively() -> None:
    assert recipes.load("CHUNK").name == "chunk"
    with pytest.raises(RecipeError, match="unknown recipe 'Chunk'; did you mean 'chunk'"):
        recipes.load("Chunk")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\nmethods = ["chnk"]', "r.toml:2: methods: unknown value 'chnk'; did you mean 'chunk'"),
        (
            'name = "x"\nsteps = ["neighbour"]\nmethods = ["chunk"]',
            "r.toml:2: steps: unknown value 'neighbour'; did you mean",
        ),
        ('name = "x"\n\nlimitt = 3', "r.toml:3: unknown key 'limitt'; did you mean 'limit'"),
        (
            'name = "x"\nrerank = "crossencoder"',
            "r.toml:2: rerank: unknown value 'crossencoder'; did you mean 'cross_encoder'",
        ),
        ('name = "x"\nlimit = 0', "r.toml:2: limit: "),
        ('name = "x"\nlimit_counts = "chunks"\nchunk_top_k = 0', "r.toml:3: chunk_top_k: "),
        ('name = "x"\nlimit_counts = "chunks"\n[values]\nchunk_top_k = 0', "r.toml:4: chunk_top_k: "),
        ('name = "x"\nmethods = 3', 'r.toml:2: methods: not a list of names; write it as ["first", "second"]'),
        (
            'name = "x"\nmethods = "chunk,bm25"',
            'r.toml:2: methods: \'chunk,bm25\' is one name; write several as a list: ["chunk", "bm25"]',
        ),
        ('name = "x"\nmethods = ["chunk", "chunk"]', "named twice"),
        ('name = "x"\nrerank = "cross_encoder"', "steps need at least one method"),
        (
            'name = "x"\nmethods = ["chunk"]\nwalk = "breadthfirst"',
            "r.toml:3: walk: unknown value 'breadthfirst'; did you mean 'breadth_first'",
        ),
        ('name = "x"\nmethods = ["chunk"]\nbeside = ["local"]', "beside names 'local'"),
        ('name = "x"\nmethods = ["chunk"]\nbeside = ["chunk"]', "at least one must be fused"),
        ('name = "x"\nmethods = ["chunk"]\n[values]\nkeywords = "llmm"', "keywords: unknown value 'llmm'; did you"),
        ('name = "x"\n[values]\nlimit = 3', "limit does not belong in"),
        ('name = "x"\nchunk_top_k = 3', "this recipe counts items: use limit"),
        ("name =", "r.toml: not valid TOML"),
        ("", "r.toml: name: "),
    ],
)
def test_a_wrong_recipe_is_refused_with_line_and_nearest_name(text: str, message: str) -> None:
    with pytest.raises(RecipeError) as caught:
        recipes.parse(text, "r.toml")
    assert message in str(caught.value)


def test_chunk_top_k_is_another_name_of_limit_where_chunks_are_counted() -> None:
    assert recipes.load("naive").varied({"chunk_top_k": 8}).limit == 8


def test_a_copy_of_a_recipe_can_be_edited_and_loaded_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(recipes.source("chunk").replace("limit = 10", "limit = 3"), encoding="utf-8")
    assert recipes.load(str(file)).limit == 3


def test_a_recipe_file_that_is_missing_or_not_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="cannot read recipe"):
        recipes.load(str(tmp_path / "none.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecipeError, match="not UTF-8"):
        recipes.load(str(tmp_path / "binary.toml"))


@pytest.mark.parametrize(
    ("text", "value"),
    [("8", 8), ("0.5", 0.5), ("true", True), ("none", "none"), ('"x"', "x"), ("", ""), ("[1]", [1])],
)
def test_values_of_set_are_read_as_toml_else_as_text(text: str, value: object) -> None:
    assert recipes.parse_value(text) == value


@given(st.text(max_size=300))
def test_no_text_crashes_the_parser(text: str) -> None:
    try:
        recipes.parse(text, "r.toml")
    except RecipeError as error:
        assert "r.toml" in str(error)


TABLE = {
    "entity": ("ENTITY", ["entity"], [], [], "none", 10),
    "chunk": ("CHUNK", ["chunk"], [], [], "none", 10),
    "entity_chunk": ("HYBRID", ["entity", "chunk"], [], [], "none", 10),
    "hybrid_reranked": ("HYBRID_RERANKED", ["entity", "chunk"], ["communities"], [], "cross_encoder", 10),
    "graph_expand": ("GRAPH_EXPAND", ["entity"], ["communities"], ["breadth_first"], "none", 20),
    "thematic": ("THEMATIC", ["community"], [], [], "none", 5),
    "text2cypher": ("TEXT2CYPHER", ["text2cypher"], [], [], "none", 10),
    "naive": (None, ["chunk"], [], [], "cross_encoder", 20),
    "local": (None, ["local"], [], [], "cross_encoder", 20),
    "global": (None, ["global"], [], [], "cross_encoder", 20),
    "hybrid": (None, ["local", "global"], [], [], "cross_encoder", 20),
    "mix": (None, ["local", "global", "chunk"], [], [], "cross_encoder", 20),
    "hybrid_mix": (None, ["chunk", "bm25", "local", "global"], ["neighbours"], ["links"], "cross_encoder", 20),
    "bypass": (None, [], [], [], "none", None),
    "multihop": (None, ["chunk", "bm25", "entity"], [], ["links", "pagerank"], "cross_encoder", 20),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_built_in_recipes_are_those_of_the_specifications(name: str) -> None:
    alias, methods, steps, walk, rerank, limit = TABLE[name]
    recipe = recipes.load(alias or name)
    assert recipe.name == name
    assert list(recipe.methods) == methods
    assert list(recipe.steps) == steps
    assert list(recipe.walk) == walk
    assert recipe.rerank == rerank
    assert limit in (None, recipe.limit)
    # The second specification's modes count passages, the first one's recipes count items.
    assert (recipe.limit_counts == "chunks") == (limit is not None and rerank != "none" and alias is None)


def test_upper_case_hybrid_and_hybrid_are_two_recipes() -> None:
    assert recipes.load("HYBRID").name == "entity_chunk"
    assert recipes.load("hybrid").methods == ("local", "global")


@pytest.mark.parametrize(
    ("walk", "expected"),
    [("none", ()), ("links", ("links",)), (["links", "pagerank"], ("links", "pagerank")), ([], ())],
)
def test_a_walk_is_a_name_or_a_list_of_names(walk: object, expected: tuple[str, ...]) -> None:
    assert recipes.validate({"name": "x", "methods": ["chunk"], "walk": walk}, "x").walk == expected


def test_one_name_stands_for_a_list_of_one() -> None:
    given = {"name": "x", "methods": "chunk", "steps": "neighbours", "walk": "links"}
    recipe = recipes.validate(given, "x")
    assert (recipe.methods, recipe.steps, recipe.walk) == (("chunk",), ("neighbours",), ("links",))
    assert recipe.varied({"methods": "bm25", "steps": []}).methods == ("bm25",)
    with pytest.raises(RecipeError, match="unknown value 'chnk'; did you mean 'chunk'"):
        recipe.varied({"methods": "chnk"})


def test_a_limit_is_named_as_it_was_written() -> None:
    with pytest.raises(RecipeError, match="recipe naive: chunk_top_k: "):
        recipes.load("naive").varied({"chunk_top_k": 0})
    with pytest.raises(RecipeError, match="recipe naive: limit: "):
        recipes.load("naive").varied({"limit": 0})


OF_ONE_PART = [
    "beside_chunks", "bm25_k1", "bm25_b", "bm25_parents", "keywords", "walk_depth", "walk_items", "link_seeds",
    "link_hops", "pagerank_damping", "pagerank_weight", "pagerank_passages", "community_slots", "rerank_weight",
    "rerank_top", "relink",
]  # fmt: skip


def test_values_of_parts_that_a_recipe_lacks_are_named() -> None:
    assert recipes.unused(recipes.load("hybrid_mix"), ["limit", "pagerank_weight", "link_hops", "rerank_top"]) == [
        "pagerank_weight has no effect: the recipe hybrid_mix has no walk pagerank"
    ]
    assert len(recipes.unused(recipes.load("chunk"), OF_ONE_PART)) == len(OF_ONE_PART)
    everything = recipes.load("hybrid_mix").varied(
        {"steps": ["communities"], "walk": ["breadth_first", "links", "pagerank"]}
    )
    assert recipes.unused(everything, recipes.keys()) == []
    assert recipes.unused(recipes.load("thematic"), ["community_slots"])


@pytest.mark.parametrize("name", sorted(recipes.builtin()))
def test_no_built_in_recipe_sets_what_it_never_reads(name: str) -> None:
    recipe = recipes.load(name)
    assert recipes.unused(recipe, recipe.model_fields_set) == []
