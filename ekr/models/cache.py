"""Where models lie on this machine: one folder a model, with a manifest of its files and their sha256."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ekr.errors import ModelError

MANIFEST = "manifest.json"
PARTIAL = "partial"
State = Literal["present", "absent", "damaged"]
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Size in bytes and sha256 of a file, by its path relative to the model's folder."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """What was pulled. `identity` names the weights: equal identities give equal vectors and scores."""

    name: str
    licence: str
    identity: str
    main: str
    sources: tuple[str, ...]
    files: tuple[StoredFile, ...]


def folder_of(cache_dir: Path, name: str) -> Path:
    """The folder of a model; a hub reference becomes one flat, readable name."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "--", name)
    if safe in {"", ".", "..", PARTIAL}:
        raise ModelError(f"{name!r} cannot be the name of a model")
    return cache_dir / safe


def partial_of(cache_dir: Path, name: str) -> Path:
    """The folder in which a pull gathers what it has so far."""
    return cache_dir / PARTIAL / folder_of(cache_dir, name).name


def sha256_of(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """Hex sha256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            if on_bytes:
                on_bytes(len(block))
    return digest.hexdigest()


def describe(folder: Path) -> tuple[StoredFile, ...]:
    """Every file below a folder with its size and sha256, sorted by path; the manifest apart."""
    files = (p for p in folder.rglob("*") if p.is_file() and p != folder / MANIFEST)
    return tuple(StoredFile(p.relative_to(folder).as_posix(), p.stat().st_size, sha256_of(p)) for p in sorted(files))


def write_manifest(folder: Path, manifest: ModelManifest) -> None:
    """Write the manifest into a model's folder."""
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")


def read_manifest(folder: Path) -> ModelManifest | None:
    """The manifest of a model's folder; None when there is none or it cannot be understood."""
    try:
        raw = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files = tuple(StoredFile(**file) for file in raw.pop("files"))
        return ModelManifest(files=files, sources=tuple(raw.pop("sources")), **raw)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def state_of(folder: Path) -> State:
    """Quick: compares sizes, not hashes. A folder without a usable manifest or with a wrong size is damaged."""
    if not folder.exists():
        return "absent"
    manifest = read_manifest(folder)
    if manifest is None:
        return "damaged"
    for file in manifest.files:
        path = folder / file.path
        if not path.is_file() or path.stat().st_size != file.size:
            return "damaged"
    return "present"


def damaged_files(folder: Path, manifest: ModelManifest) -> list[str]:
    """Files that are missing or whose sha256 is not the recorded one."""
    bad = []
    for file in manifest.files:
        path = folder / file.path
        if not path.is_file() or path.stat().st_size != file.size or sha256_of(path) != file.sha256:
            bad.append(file.path)
    return bad


def install(staged: Path, folder: Path) -> None:
    """Move a finished folder into place in one rename; a damaged one that is there is moved away first."""
    mode = (staged / MANIFEST).stat().st_mode  # some libraries write files that only their owner may read
    for path in staged.rglob("*"):
        if path.is_file():
            path.chmod(mode)
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
    if folder.exists():
        old = staged.parent / "replaced"
        shutil.rmtree(old, ignore_errors=True)
        folder.replace(old)
        shutil.rmtree(old, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged.replace(folder)
