"""Whether a model that a request names is one that ekr can look for: a slip of the pen is no missing model."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from ekr.errors import UsageError
from ekr.models.http_client import is_endpoint
from ekr.models.registry import BY_NAME, MODELS

_NO_MODEL = ("auto", "none")
# Any causal model can write and re-rank.
_CAUSAL = {"generator", "reranker"}


def require_known(spec: str, role: Literal["embedder", "generator", "reranker"]) -> None:
    """Raises UsageError for a name that is no embedder, generator or re-ranker of the registry, naming those that are.

    Paths, hub references and endpoints pass: whether they are there is found when they load.
    """
    if spec.startswith("hf:") or is_endpoint(spec) or spec.endswith(".gguf") or "/" in spec or "\\" in spec:
        return
    if role == "reranker" and spec in _NO_MODEL:
        return
    if role == "embedder" and (spec.endswith(".onnx") or Path(spec).expanduser().is_dir()):
        return
    entry = BY_NAME.get(spec) or BY_NAME.get(spec.casefold())
    if entry is not None and (entry.role == role or {entry.role, role} <= _CAUSAL):
        return
    known = [entry.name for entry in MODELS if entry.role == role]
    known += _NO_MODEL if role == "reranker" else ()
    near = get_close_matches(spec.casefold(), known, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'? There are" if near else "there are"
    raise UsageError(f"unknown {role} '{spec}'; {hint} {', '.join(known)}")
