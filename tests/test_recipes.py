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
        ('name = "x"\nmethods = ["chunk", "chunk"]', "named twice"),
        ('name = "x"\nrerank = "cross_encoder"', "steps need at least one method"),
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
