"""Asks a generator for JSON under a grammar, through a cache, and reads what comes back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any, Protocol

from ekr.extraction.records import stable_id
from ekr.models.base import Generator, Message

_ROOT_OF_OBJECT = 'root ::= "{'
_FLAT_OBJECT = re.compile(r"\{[^{}]*\}")


class Cache(Protocol):
    """Keeps answers of a generator. `owner` is the document that an answer stems from, or empty."""

    def get(self, key: str) -> str | None:
        """The answer kept under the key, or None."""
        ...

    def put(self, key: str, value: str, owner: str) -> None:
        """Keeps an answer; it goes when its owner is removed."""
        ...


class NoCache:
    """Keeps nothing."""

    def get(self, key: str) -> str | None:
        """Always None."""
        return None

    def put(self, key: str, value: str, owner: str) -> None:
        """Forgets at once."""


def prompt(name: str) -> str:
    """The text of a prompt file of this package."""
    return files("ekr.extraction").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8").strip()


def ask(
    generator: Generator,
    messages: Sequence[Message],
    grammar: str,
    cache: Cache,
    *,
    owner: str = "",
    max_tokens: int = 700,
) -> str:
    """The generator's answer, from the cache when the same was asked before. Raises ModelError.

    One that is empty, or holds no object where the grammar is of one, is returned but not kept.
    """
    turns = [part for message in messages for part in (message.role, message.content)]
    key = stable_id("ask", generator.name, grammar, str(max_tokens), *turns)
    known = cache.get(key)
    if known is not None and _is_usable(known, grammar):
        return known
    constraint = grammar if generator.supports_grammar else None
    answer = "".join(generator.stream(messages, grammar=constraint, max_tokens=max_tokens))
    if _is_usable(answer, grammar):
        cache.put(key, answer, owner)
    return answer


def _is_usable(answer: str, grammar: str) -> bool:
    if grammar.startswith(_ROOT_OF_OBJECT):
        return next(flat_objects(answer), None) is not None
    return bool(answer.strip())


def flat_objects(answer: str) -> Iterator[dict[str, Any]]:
    """Every complete innermost JSON object of an answer: what was cut off at the end costs only itself."""
    for match in _FLAT_OBJECT.finditer(answer):
        try:
            value = json.loads(match[0])
        except json.JSONDecodeError:
            continue
        if isinstance(value, dict):
            yield value


def whole_object(answer: str) -> dict[str, Any]:
    """The JSON object of an answer; empty when there is none that can be read."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        value = json.loads(answer[start : end + 1]) if start >= 0 else {}
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def field_rule(name: str, rule: str) -> str:
    """A GBNF fragment for `"name":` and a rule."""
    return f'"\\"{name}\\":" {rule}'


def string_rule(longest: int, characters: str = r'[^"\\\x00-\x1f]') -> str:
    """A GBNF fragment for a non-empty JSON string of at most `longest` characters, without escapes."""
    return rf'"\"" {characters}{{1,{longest}}} "\""'


def list_rule(rule: str, most: int, fewest: int = 0) -> str:
    """A GBNF fragment for a JSON list of `fewest` (0 or 1) to `most` items."""
    items = f'{rule} ("," {rule}){{0,{most - 1}}}'
    return f'"[" {items} "]"' if fewest else f'"[" ({items})? "]"'
