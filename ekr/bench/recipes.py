"""Recipes as the bench names them: a recipe, or one varied in place (`hybrid_mix:chunk_top_k=8`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ekr.bench.errors import BenchUsageError
from ekr.recipes import parse_value

_VARIANT = re.compile(r":(?=\s*[A-Za-z_][\w.]*\s*=)")
_BETWEEN = re.compile(r",(?=\s*[A-Za-z_][\w.]*\s*=)")


@dataclass(frozen=True, slots=True)
class RecipeSpec:
    """`spec` is the row's name in every table: the recipe's name or file, and what it changes, without spaces."""

    spec: str
    name: str
    overrides: Mapping[str, Any]


def parse_recipe(spec: str) -> RecipeSpec:
    """`NAME`, `FILE.toml`, or either with `:key=value[,key=value…]`. Raises BenchUsageError."""
    spec = spec.strip()
    name, *changes = _VARIANT.split(spec, maxsplit=1)
    name = name.strip()
    overrides: dict[str, Any] = {}
    written: list[str] = []
    for change in _BETWEEN.split(changes[0]) if changes else []:
        key, _, value = (part.strip() for part in change.partition("="))
        if not value:
            raise BenchUsageError(f"--recipe {spec!r}: {key} has no value; write {key}=…")
        if key in overrides:
            raise BenchUsageError(f"--recipe {spec!r}: {key} is set twice")
        overrides[key] = parse_value(value)
        written.append(f"{key}={value}")
    if not name or name.endswith(":"):
        raise BenchUsageError(f"--recipe {spec!r}: write NAME or NAME:key=value,key=value")
    return RecipeSpec(f"{name}:{','.join(written)}" if written else name, name, overrides)


def parse_recipes(specs: Sequence[str]) -> list[RecipeSpec]:
    """Several recipes for one table. Raises BenchUsageError when one is named twice."""
    parsed = [parse_recipe(spec) for spec in specs]
    for index, recipe in enumerate(parsed):
        if any((recipe.name, recipe.overrides) == (other.name, other.overrides) for other in parsed[:index]):
            raise BenchUsageError(f"--recipe {recipe.spec!r} is named twice; use --repeat to run it again")
    return parsed
