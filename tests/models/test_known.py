"""Names of models in a request: a slip of the pen is told from a model that is not here."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from ekr.errors import UsageError
from ekr.models.known import require_known
from ekr.models.registry import MODELS


@pytest.mark.parametrize("spec", ["/x/y", "a.gguf", "hf:o/r/f.gguf", "http://127.0.0.1:1/v1#m", "SmolLM2-135M"])
def test_what_may_be_found_when_it_loads_passes(spec: str) -> None:
    require_known(spec, "generator")
    require_known(spec, "reranker")


@pytest.mark.parametrize("role", ["embedder", "generator", "reranker"])
def test_an_unknown_name_is_answered_with_the_known_ones(role: Literal["embedder", "generator", "reranker"]) -> None:
    with pytest.raises(UsageError) as error:
        require_known("nosuch", role)
    assert all(entry.name in str(error.value) for entry in MODELS if entry.role == role)
    assert ("multilingual-e5-small" in str(error.value)) == (role == "embedder")


def test_a_folder_is_an_embedder_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        require_known("mine", "embedder")
    (tmp_path / "mine").mkdir()
    for spec in ("mine", "other.onnx", "./x", "hf:o/r", "http://127.0.0.1:1/v1#m", "Multilingual-E5-small"):
        require_known(spec, "embedder")
    with pytest.raises(UsageError, match="unknown embedder"):
        require_known("SmolLM2-135M", "embedder")


def test_off_and_automatic_are_for_re_rankers_alone() -> None:
    require_known("none", "reranker")
    require_known("auto", "reranker")
    with pytest.raises(UsageError):
        require_known("none", "generator")


def test_a_model_of_another_kind_is_no_generator() -> None:
    with pytest.raises(UsageError, match="unknown generator 'multilingual-e5-small'"):
        require_known("multilingual-e5-small", "generator")
