"""Models by role: find, fetch and load them.

A specification is a name of the registry, a path, `hf:owner/repository/file.gguf` (once pulled), or the address of an
OpenAI-compatible endpoint (`http://host/v1#model`). A model that is not here raises ModelMissing, whose message names
the command that fetches it.
"""

from __future__ import annotations

from ekr.models.embedders import load_embedder, load_tokenizer
from ekr.models.generators import load_generator
from ekr.models.inventory import CheckResult, ModelRow, check, list_models, remove
from ekr.models.locate import language_data
from ekr.models.pulling import pull
from ekr.models.registry import DEFAULT_NAMES
from ekr.models.rerankers import load_reranker

__all__ = [
    "DEFAULT_NAMES",
    "CheckResult",
    "ModelRow",
    "check",
    "language_data",
    "list_models",
    "load_embedder",
    "load_generator",
    "load_reranker",
    "load_tokenizer",
    "pull",
    "remove",
]
