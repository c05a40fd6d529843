"""A sound store, and a copy of it for each test to damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.reliability import shelves


@pytest.fixture(scope="module")
def sound(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound store of as many documents as the module's COUNT says; tests work on copies of it."""
    folder = tmp_path_factory.mktemp("damage")
    shelves.make(folder / "store", shelves.write(folder / "notes", request.module.COUNT))
    return folder / "store"


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    """A copy of the sound store."""
    return shutil.copytree(sound, tmp_path / "store")
