"""Easy Knowledge Retriever: answers from your own documents, with their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ekr.engine import Engine
    from ekr.recipes import Recipe
    from ekr.results import Result
    from ekr.retrieval.filters import Filters

__all__ = ["Engine", "Filters", "Recipe", "Result"]

_HOMES = {
    "Engine": "ekr.engine",
    "Filters": "ekr.retrieval.filters",
    "Recipe": "ekr.recipes",
    "Result": "ekr.results",
}


def __getattr__(name: str) -> object:
    # Imported on first use, so that `import ekr.errors` and each command pay only for what they need.
    if name not in _HOMES:
        raise AttributeError(f"module 'ekr' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
