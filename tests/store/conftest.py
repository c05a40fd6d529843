"""A store directory for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from ekr.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store that does not exist yet, on a path with a space and accents."""
    return Store(tmp_path / "mon dépôt" / ".ekr")
