"""Recipes: named, plain data that says which methods and steps a query uses."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from ekr.retrieval.steps import STEPS, WALKS

_VALID = {
    "methods": list(METHODS), "beside": list(METHODS), "steps": list(STEPS), "walk": ["none", *WALKS],
}  # fmt: skip
_KEYS_OUTSIDE_VALUES = {
    "name", "aliases", "summary", "methods", "beside", "steps", "walk", "rerank", "limit", "limit_counts",
}  # fmt: skip


class Recipe(BaseModel):
    """One recipe. In a TOML file the fields from `rrf_k` on stand in the table `[values]`.

    `limit` counts items of all types, or chunks alone where `limit_counts` is "chunks" (`chunk_top_k` is
    then another name of `limit`); entities and relations follow there, at most `top_k` of each and within
    their token budgets. Methods named in `beside` have no vote in the fusion: what they find joins after it.
    `rerank_weight` is the share of the re-ranker's rank in the blend with the rank before; 1 is the
    re-ranker's order alone. Without it a cross-encoder has all of it, a query likelihood 0.4.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    summary: str = ""
    methods: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    walk: tuple[str, ...] = ()
    rerank: Literal["none", "cross_encoder", "graph_distance"] = "none"
    limit: int = Field(10, ge=1, le=1000)
    limit_counts: Literal["items", "chunks"] = "items"

    rrf_k: int = Field(60, ge=1, le=10_000)
    fetch: int | None = Field(None, ge=1, le=5000, description="hits asked of each method")
    top_k: int = Field(40, ge=1, le=1000, description="entities and relations, each")
    pool: int | None = Field(None, ge=1, le=1000, description="fused items (or chunks) that go on to the steps")
    beside_chunks: int = Field(10, ge=0, le=1000, description="passages that the methods beside bring")
    bm25_k1: float = Field(1.2, gt=0, le=10)
    bm25_b: float = Field(0.75, ge=0, le=1)
    bm25_parents: bool = Field(False, description="bm25 also ranks by the whole parent")
    keywords: Literal["nlp", "llm"] = "nlp"
    query_decomposition: bool = Field(False, description="each part of the question is searched too")
    walk_depth: int = Field(2, ge=1, le=5)
    walk_items: int = Field(50, ge=1, le=1000, description="items that a breadth-first walk brings at most")
    link_seeds: int = Field(3, ge=0, le=100, description="best passages whose definition links are followed")
    link_hops: int = Field(1, ge=0, le=4, description="0: only what names in the question define")
    pagerank_damping: float = Field(0.5, gt=0, lt=1)
    pagerank_weight: float = Field(0.5, ge=0, le=10, description="of the PageRank order beside the order before")
    pagerank_passages: float = Field(0.05, ge=0, le=1, description="share of passages in the restart")
    community_slots: int = Field(3, ge=0, le=100, description="places that reports keep through a re-rank")
    rerank_weight: float | None = Field(None, ge=0, le=1)
    rerank_top: int | None = Field(None, ge=1, le=1000, description="passages that are re-ranked; default: all")
    relink: bool = Field(False, description="links of the new best passages are followed after the re-rank")
    max_context_tokens: int = Field(2000, ge=100, le=100_000)
    max_entity_tokens: int = Field(2000, ge=0, le=100_000)
    max_relation_tokens: int = Field(2000, ge=0, le=100_000)

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
        for field in _VALID:
            if isinstance(flat.get(field), str):
                flat[field] = [] if field == "walk" and flat[field] == "none" else [flat[field]]
        if "chunk_top_k" in flat:
            if flat.get("limit_counts") != "chunks":
                raise ValueError('chunk_top_k needs limit_counts = "chunks"; this recipe counts items: use limit')
            flat["limit"] = flat.pop("chunk_top_k")
        return flat

    @field_validator("methods", "beside", "steps", "walk")
    @classmethod
    def _check_names(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        valid = _VALID[str(info.field_name)]
        if info.field_name == "walk" and names == ("none",):
            return ()
        for name in names:
            if "," in name:
                listed = ", ".join(f'"{part.strip()}"' for part in name.split(",") if part.strip())
                raise ValueError(f"'{name}' is one name; write several as a list: [{listed}]")
            if name not in valid:
                raise ValueError(f"unknown value '{name}'{nearest(name, valid)}; one of {', '.join(valid)}")
        if len(set(names)) != len(names):
            raise ValueError(f"a {str(info.field_name).removesuffix('s')} is named twice")
        return names

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if not self.methods and (self.steps or self.walk or self.rerank != "none"):
            raise ValueError("steps need at least one method")
        for name in self.beside:
            if name not in self.methods:
                raise ValueError(f"beside names '{name}', which is not among the methods; change it, too: beside = []")
        if self.methods and set(self.methods) == set(self.beside):
            raise ValueError("every method is beside; at least one must be fused")
        return self

    def varied(self, changes: Mapping[str, Any]) -> Recipe:
        """A copy with some values changed. Raises RecipeError naming the nearest valid key."""
        shape = self.model_dump(exclude_defaults=True) | dict(changes)
        return validate(shape, f"recipe {self.name}")


def unused(recipe: Recipe, names: Iterable[str]) -> list[str]:
    """One line for each of these keys that the recipe never reads, because it lacks the part that does."""
    lines = []
    for name in names:
        part, is_there = next(((p, there) for p, prefix, there in _READERS if name.startswith(prefix)), ("", None))
        if is_there is not None and not is_there(recipe):
            lines.append(f"{name} has no effect: the recipe {recipe.name} has no {part}")
    return lines


def _re_ranks_reports(recipe: Recipe) -> bool:
    return "community" in recipe.methods and recipe.rerank == "cross_encoder"


# Part, keys by how they begin, and whether a recipe has the part.
_READERS: tuple[tuple[str, tuple[str, ...], Callable[[Recipe], bool]], ...] = (
    ("methods beside", ("beside_chunks",), lambda r: bool(r.beside)),
    ("method bm25", ("bm25_",), lambda r: "bm25" in r.methods),
    ("method local or global", ("keywords",), lambda r: not {"local", "global"}.isdisjoint(r.methods)),
    ("walk breadth_first", ("walk_",), lambda r: "breadth_first" in r.walk),
    ("walk links, nor relink", ("link_",), lambda r: "links" in r.walk or (r.relink and r.rerank == "cross_encoder")),
    ("walk pagerank", ("pagerank_",), lambda r: "pagerank" in r.walk),
    ("step communities", ("community_slots",), lambda r: "communities" in r.steps or _re_ranks_reports(r)),
    ("re-rank by cross_encoder", ("rerank_", "relink"), lambda r: r.rerank == "cross_encoder"),
)


def keys() -> list[str]:
    """Every key that a recipe may set, as `--set` takes it."""
    return [*Recipe.model_fields, "chunk_top_k"]


def validate(data: Mapping[str, Any], where: str, lines: Mapping[str, int] | None = None) -> Recipe:
    """A recipe from plain data. Raises RecipeError: one line an error, with line number where known."""
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        # A key or value of the file may hold line ends.
        problems = [" ".join(_explain(detail, data, where, lines or {}).split()) for detail in error.errors()]
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
    raise RecipeError(f"unknown recipe '{name_or_file}'{nearest(name_or_file, names)}; `ekr recipes` lists them")


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


def _explain(detail: Mapping[str, Any], data: Mapping[str, Any], where: str, lines: Mapping[str, int]) -> str:
    key = str(detail["loc"][0]) if detail["loc"] else ""
    values = data.get("values")
    if key == "limit" and ("chunk_top_k" in data or (isinstance(values, Mapping) and "chunk_top_k" in values)):
        key = "chunk_top_k"
    place = f"{where}:{lines[key]}" if key in lines else where
    if detail["type"] == "extra_forbidden":
        return f"{place}: unknown key '{key}'{nearest(key, keys())}"
    if detail["type"] == "literal_error":
        valid = re.findall(r"'([^']+)'", str(detail["ctx"]["expected"]))
        near = nearest(str(detail["input"]), valid)
        return f"{place}: {key}: unknown value '{detail['input']}'{near}; one of {', '.join(valid)}"
    if detail["type"] == "tuple_type":
        return f'{place}: {key}: not a list of names; write it as ["first", "second"]'
    message = str(detail["msg"]).removeprefix("Value error, ")
    return f"{place}: {key}: {message}" if key else f"{place}: {message}"


def nearest(word: str, valid: Sequence[str]) -> str:
    """`; did you mean 'x'?`, or nothing when no valid name is near."""
    close = difflib.get_close_matches(word, valid, n=1, cutoff=0.5)
    if not close:
        close = [v for v in valid if v.lower() == word.lower()][:1]
    return f"; did you mean '{close[0]}'?" if close else ""
