"""What is on this machine: list, check and remove models."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ekr.config import Settings
from ekr.errors import ModelError
from ekr.models.cache import State, damaged_files, folder_of, partial_of, read_manifest, state_of
from ekr.models.pulling import entry_of
from ekr.models.registry import MODELS


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One line of `ekr models list`; `size` in bytes: on disk when present, else about what it will take."""

    name: str
    role: str
    default: bool
    summary: str
    licence: str
    size: int
    state: State
    path: Path
    terms: str | None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Outcome of a check; `damaged` names files whose sha256 is wrong or that are missing."""

    name: str
    state: State
    damaged: tuple[str, ...]


def list_models(settings: Settings) -> list[ModelRow]:
    """Every model of the registry, and those pulled from the hub by reference, with its state (sizes compared)."""
    rows = []
    for entry in MODELS:
        folder = folder_of(settings.cache_dir, entry.name)
        state = state_of(folder)
        size = _size(folder) if state == "present" else entry.size
        rows.append(
            ModelRow(
                entry.name,
                entry.role,
                entry.default,
                entry.summary,
                entry.licence,
                size,
                state,
                folder,
                entry.terms,
            )
        )
    for folder in sorted(settings.cache_dir.glob("hf--*")):
        manifest = read_manifest(folder)
        if manifest:
            name, size, state = manifest.name, _size(folder), state_of(folder)
            rows.append(ModelRow(name, "generator", False, "from the hub", manifest.licence, size, state, folder, None))
    return rows


def _size(folder: Path) -> int:
    manifest = read_manifest(folder)
    return sum(file.size for file in manifest.files) if manifest else 0


def check(names: Sequence[str], settings: Settings, on_model: Callable[[str], None] | None = None) -> list[CheckResult]:
    """Compare the sha256 of every file of these models (of all present ones when none is named)."""
    wanted = list(names) or [row.name for row in list_models(settings) if row.state != "absent"]
    results = []
    for name in wanted:
        entry = entry_of(name)
        if on_model:
            on_model(entry.name)
        folder = folder_of(settings.cache_dir, entry.name)
        state = state_of(folder)
        manifest = read_manifest(folder)
        damaged: tuple[str, ...] = ()
        if state != "absent":
            damaged = tuple(damaged_files(folder, manifest)) if manifest else ("manifest.json",)
        results.append(CheckResult(entry.name, "damaged" if damaged else state, damaged))
    return results


def remove(names: Sequence[str], settings: Settings) -> list[str]:
    """Delete these models and what a broken-off pull left of them; returns those that were there. Raises ModelError."""
    entries = [entry_of(name) for name in names]
    removed = []
    for entry in entries:
        folder = folder_of(settings.cache_dir, entry.name)
        partial = partial_of(settings.cache_dir, entry.name)
        there = folder.exists() or partial.exists()
        try:
            for path in (folder, partial):
                if path.exists():
                    shutil.rmtree(path)
        except OSError as error:
            raise ModelError(f"{entry.name} could not be removed: {error.strerror or error}") from error
        if there:
            removed.append(entry.name)
    return removed
