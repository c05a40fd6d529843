"""Find the embedder that a specification names: a registry name, an ONNX folder or an endpoint."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from ekr.config import Settings
from ekr.errors import ModelError
from ekr.models.base import Embedder, EmbedderInfo, Tokenizer
from ekr.models.cache import read_manifest, sha256_of
from ekr.models.http_client import Endpoint, is_endpoint
from ekr.models.locate import folder_of_model
from ekr.models.registry import BY_NAME, EmbedderSpec

_ONNX_NAMES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_MAX_TOKENS = 512


def load_embedder(spec: str, settings: Settings) -> Embedder:
    """Open an embedder; cheap, since the model itself is read at the first use. Raises ModelError, ModelMissing."""
    if is_endpoint(spec):
        from ekr.models.http_embedder import HttpEmbedder

        return HttpEmbedder(Endpoint(spec, settings.api_key))
    from ekr.models.fastembed_embedder import FastembedEmbedder

    folder = _own_folder(spec)
    if folder is not None:
        model_file, options = _describe_folder(folder)
        info = _info(folder.name, _folder_hash(folder, model_file), options)
        return FastembedEmbedder(folder, model_file, info, options, settings.threads)
    entry, folder = folder_of_model(spec, "embedder", settings)
    manifest = read_manifest(folder)
    assert entry.embedder is not None and manifest is not None
    info = _info(entry.name, manifest.identity, entry.embedder)
    return FastembedEmbedder(folder, entry.main, info, entry.embedder, settings.threads)


def load_tokenizer(spec: str, settings: Settings) -> Tokenizer:
    """The tokenizer of an embedder; behind an endpoint, the one of the default embedder stands in for it.

    Raises ModelMissing.
    """
    from ekr.models.tokenizer import FileTokenizer

    folder = None if is_endpoint(spec) else _own_folder(spec)
    if folder is None:
        name = next(n for n, entry in BY_NAME.items() if entry.role == "embedder" and entry.default)
        _, folder = folder_of_model(name if is_endpoint(spec) else spec, "embedder", settings)
    return FileTokenizer(folder / "tokenizer.json")


def _info(name: str, sha256: str, options: EmbedderSpec) -> EmbedderInfo:
    return EmbedderInfo(name, sha256, options.dimension, options.query_prefix, options.passage_prefix, options.pooling)


def _own_folder(spec: str) -> Path | None:
    """The folder that the user names by path; None when the specification is a name."""
    if spec in BY_NAME:
        return None
    path = Path(spec).expanduser()
    if path.is_dir():
        return path.resolve()
    if path.suffix == ".onnx" or "/" in spec or "\\" in spec:
        raise ModelError(f"{spec} is not a folder; name the folder that holds model.onnx and tokenizer.json")
    return None


def _folder_hash(folder: Path, model_file: str) -> str:
    names = [model_file, *(p.name for p in sorted(folder.glob("*.onnx.data")))]
    digest = hashlib.sha256()
    for name in names:
        digest.update(sha256_of(folder / name).encode())
    return digest.hexdigest()


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    parsed = json.loads(path.read_text(encoding="utf-8"))
    return parsed if isinstance(parsed, dict) else {}


def _describe_folder(folder: Path) -> tuple[str, EmbedderSpec]:
    """File and options of a sentence-transformers export: its own JSON files say pooling, prompts and length."""
    model_file = next((name for name in _ONNX_NAMES if (folder / name).is_file()), None)
    if model_file is None or not (folder / "tokenizer.json").is_file():
        raise ModelError(f"{folder} holds no model.onnx with tokenizer.json; export the model to ONNX first")
    try:
        config = _json(folder / "config.json")
        pooling = _json(folder / "1_Pooling" / "config.json")
        prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
        length = _json(folder / "tokenizer_config.json").get("model_max_length")
        dimension = int(config.get("hidden_size") or pooling["word_embedding_dimension"])
    except (ValueError, KeyError) as error:
        raise ModelError(f"{folder} lacks a usable config.json (hidden_size): {error}") from error
    e5 = "e5" in folder.name.casefold().replace("_", "-").split("-")
    kind: Literal["mean", "cls"] = "cls" if pooling.get("pooling_mode_cls_token") else "mean"
    return model_file, EmbedderSpec(
        dimension=dimension,
        pooling=kind,
        query_prefix=prompts.get("query", "query: " if e5 else ""),
        passage_prefix=prompts.get("passage", prompts.get("document", "passage: " if e5 else "")),
        max_tokens=min(int(length or _MAX_TOKENS), _MAX_TOKENS),
    )
