"""Word lists by language, from `words.toml`."""

from __future__ import annotations

import tomllib
from importlib.resources import files

_LISTS = tomllib.loads((files("ekr.answering") / "words.toml").read_text("utf-8"))

# After these a full stop does not end a sentence.
ABBREVIATIONS = frozenset(_LISTS.pop("abbreviations").split())
# By ISO 639-1 code.
FUNCTION_WORDS: dict[str, frozenset[str]] = {code: frozenset(words.split()) for code, words in _LISTS.items()}
