from __future__ import annotations

import pytest

from ekr.bench.errors import BenchUsageError
from ekr.bench.recipes import parse_recipe, parse_recipes


@pytest.mark.parametrize(
    ("spec", "name", "overrides"),
    [
        ("hybrid_mix", "hybrid_mix", {}),
        ("hybrid_mix:query_decomposition=true", "hybrid_mix", {"query_decomposition": True}),
        ("naive:chunk_top_k=8,rerank=none", "naive", {"chunk_top_k": 8, "rerank": "none"}),
        ('x.toml:methods=["chunk", "bm25"],bm25_b=0.5', "x.toml", {"methods": ["chunk", "bm25"], "bm25_b": 0.5}),
        ("../my recipes/a.toml", "../my recipes/a.toml", {}),
        ("c:/recipes/a.toml:limit = 3", "c:/recipes/a.toml", {"limit": 3}),
    ],
)
def test_a_recipe_is_varied_in_place(spec: str, name: str, overrides: dict[str, object]) -> None:
    parsed = parse_recipe(spec)
    assert (parsed.spec, parsed.name, parsed.overrides) == (spec.replace(" = ", "="), name, overrides)


@pytest.mark.parametrize("spec", ["", ":limit=3", "naive:", "naive:limit=", "naive:limit=1,limit=2"])
def test_a_spec_that_says_nothing_is_refused(spec: str) -> None:
    with pytest.raises(BenchUsageError, match="--recipe"):
        parse_recipe(spec)


def test_the_same_recipe_twice_is_refused() -> None:
    assert len(parse_recipes(["naive", "naive:limit=3", "naive:limit=4"])) == 3
    with pytest.raises(BenchUsageError, match="named twice"):
        parse_recipes(["naive:limit=3", "mix", "naive: limit=3"])
