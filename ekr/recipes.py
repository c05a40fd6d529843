"""Recipes: named, plain data that says which methods and steps a query uses."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ekr.errors import RecipeError
from ekr.retrieval.methods import METHODS
from ekr.retrieval.steps import STEPS

_KEYS_OUTSIDE_VALUES = {
    "name", "aliases", "summary", "methods", "steps", "rerank", "limit", "limit_counts",
}  # fmt: skip


class Recipe(BaseModel):
    """One recipe. In a TOML file the fields from `rrf_k` on stand in the table `[values]`.

    `limit` counts items of all types, or chunks alone where `limit_counts` is "chunks" (`chunk_top_k` is
    then another name of `limit`). `rerank_weight` is the share of the re-ranker's rank in the blend with
    the fusion rank; 1 is the re-ranker's order alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    summary: str = ""
    methods: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    rerank: Literal["none", "cross_encoder"] = "none"
    limit: int = Field(10, ge=1, le=1000)
    limit_counts: Literal["items", "chunks"] = "items"

    rrf_k: int = Field(60, ge=1, le=10_000)
    fetch: int | None = Field(None, ge=1, le=5000, description="hits asked of each method")
    pool: int | None = Field(None, ge=1, le=1000, description="fused items that go on to the steps")
    bm25_k1: float = Field(1.2, gt=0, le=10)
    bm25_b: float = Field(0.75, ge=0, le=1)
    bm25_parents: bool = Field(False, description="bm25 also ranks by the whole parent")
    rerank_weight: float = Field(1.0, ge=0, le=1)
    max_context_tokens: int = Field(2000, ge=100, le=100_000)

    @model_validator(mode="before")
    @classmethod
    def _accept_file_shape(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        flat = dict(data)
        values = flat.pop("values", {})
        if not isinstance(values, Mapping):
            raise ValueError("values must be a table")
        misplaced = sorted(_KEYS_OUTSIDE_VALUES & set(values))
        if misplaced:
            raise ValueError(f"{misplaced[0]} does not belong in [values]; move it to the top")
        flat.update(values)
        if "chunk_top_k" in flat:
            if flat.get("limit_counts") != "chunks":
                raise ValueError('chunk_top_k needs limit_counts = "chunks"; this recipe counts items: use limit')
            flat["limit"] = flat.pop("chunk_top_k")
        return flat

    @field_validator("methods", "steps")
    @classmethod
    def _check_names(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        valid = list(METHODS if info.field_name == "methods" else STEPS)
        for name in names:
            if name not in valid:
                raise ValueError(f"unknown value '{name}'{_nearest(name, valid)}; one of {', '.join(valid)}")
        return names

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if len(set(self.methods)) != len(self.methods):
            raise ValueError("a method is named twice")
        if not self.methods and (self.steps or self.rerank != "none"):
            raise ValueError("steps need at least one method")
        return self

    def varied(self, changes: Mapping[str, Any]) -> Recipe:
        """A copy with some values changed. Raises RecipeError naming the nearest valid key."""
        shape = self.model_dump(exclude_defaults=True) | dict(changes)
        return validate(shape, f"recipe {self.name}")


def keys() -> list[str]:
    """Every key that a recipe may set, as `--set` takes it."""
    return [*Recipe.model_fields, "chunk_top_k"]


def validate(data: Mapping[str, Any], where: str, lines: Mapping[str, int] | None = None) -> Recipe:
    """A recipe from plain data. Raises RecipeError: one line an error, with line number where known."""
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        problems = [_explain(detail, where, lines or {}) for detail in error.errors()]
        raise RecipeError("\n".join(problems)) from None


def load(name_or_file: str) -> Recipe:
    """The recipe of that name or alias (case-sensitive), or that TOML file. Raises RecipeError."""
    if name_or_file.endswith(".toml") or "/" in name_or_file:
        return load_file(Path(name_or_file))
    recipes = builtin()
    for recipe in recipes.values():
        if name_or_file == recipe.name or name_or_file in recipe.aliases:
            return recipe
    names = [n for r in recipes.values() for n in (r.name, *r.aliases)]
    raise RecipeError(f"unknown recipe '{name_or_file}'{_nearest(name_or_file, names)}; `ekr recipes` lists them")


def load_file(path: Path) -> Recipe:
    """The recipe in a TOML file. Raises RecipeError with file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise RecipeError(f"cannot read recipe {path}: {reason}") from None
    return parse(text, str(path))


def parse(text: str, where: str) -> Recipe:
    """The recipe in a TOML text; `where` names it in errors."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RecipeError(f"{where}: not valid TOML: {error}") from None
    return validate(data, where, _lines_of_keys(text))


def source(name_or_file: str) -> str:
    """The TOML text of a recipe, to read or to copy."""
    if name_or_file.endswith(".toml") or "/" in name_or_file:
        load_file(Path(name_or_file))
        return Path(name_or_file).read_text(encoding="utf-8")
    return (_folder() / f"{load(name_or_file).name}.toml").read_text(encoding="utf-8")


def builtin() -> dict[str, Recipe]:
    """The recipes that come with ekr, by name."""
    files = sorted((f for f in _folder().iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    recipes = [parse(f.read_text(encoding="utf-8"), f.name) for f in files]
    return {recipe.name: recipe for recipe in recipes}


def parse_value(text: str) -> Any:
    """The value of `--set key=value`: TOML where it parses (numbers, booleans, lists), else the text itself."""
    try:
        return tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text


def _folder() -> Traversable:
    installed = resources.files("ekr") / "builtin_recipes"
    if installed.is_dir():
        return installed
    return Path(__file__).resolve().parent.parent / "recipes"


def _lines_of_keys(text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = re.match(r"\s*([A-Za-z0-9_-]+)\s*=", line)
        if found:
            lines.setdefault(found[1], number)
    return lines


def _explain(detail: Mapping[str, Any], where: str, lines: Mapping[str, int]) -> str:
    key = str(detail["loc"][0]) if detail["loc"] else ""
    place = f"{where}:{lines[key]}" if key in lines else where
    if detail["type"] == "extra_forbidden":
        return f"{place}: unknown key '{key}'{_nearest(key, keys())}"
    if detail["type"] == "literal_error":
        valid = re.findall(r"'([^']+)'", str(detail["ctx"]["expected"]))
        near = _nearest(str(detail["input"]), valid)
        return f"{place}: {key}: unknown value '{detail['input']}'{near}; one of {', '.join(valid)}"
    message = str(detail["msg"]).removeprefix("Value error, ")
    return f"{place}: {key}: {message}" if key else f"{place}: {message}"


def _nearest(word: str, valid: list[str]) -> str:
    close = difflib.get_close_matches(word, valid, n=1, cutoff=0.5)
    if not close:
        close = [v for v in valid if v.lower() == word.lower()][:1]
    return f"; did you mean '{close[0]}'?" if close else ""
