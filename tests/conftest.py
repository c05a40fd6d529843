"""What tests share: the command as a real process, a small store, the evaluation data."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# Times of single examples say nothing on a busy machine.
settings.register_profile("ekr", deadline=None)
settings.load_profile("ekr")

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"

Ekr = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The evaluation data; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the evaluation data (../shared/data) is not there")
    return SHARED


def run_ekr(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs the command as its own process; `env` adds variables, `input` is its standard input."""
    extra = options.pop("env", {})
    env = {**os.environ, "COLUMNS": "100", **extra}  # type: ignore[dict-item]
    command = [sys.executable, "-m", "ekr", *map(str, arguments)]
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        command, capture_output=True, text=True, timeout=300, check=False, **{"input": "", **options, "env": env}
    )


@pytest.fixture(scope="session")
def ekr() -> Ekr:
    """The command `ekr` as a real process."""
    return run_ekr


NOTES = {
    "engines.md": """---
title: Engines
period: victorian
---
# Engines

## The Difference Engine

The Difference Engine was a mechanical calculator that Charles Babbage designed in the 1820s. It was to print
mathematical tables without human error. The British government paid for its construction until 1842.

## The Analytical Engine

The Analytical Engine was a general-purpose mechanical computer. Its design had a store for numbers and a mill that
worked on them, and it was to be programmed with punched cards taken from the Jacquard loom.
""",
    "people/lovelace.txt": (
        "Ada Lovelace worked with Charles Babbage on the Analytical Engine. In 1843 she published a translation of "
        "Menabrea's article with notes longer than the article itself. Note G sets out how the engine could compute "
        "the Bernoulli numbers.\n"
    ),
    "reglement.md": """# Règlement intérieur

## Article 6 Horaires

Les salles de lecture sont ouvertes de neuf heures à dix-huit heures. L'accès est libre pour les membres de la société.

## Article 7 Sanctions

Le non-respect du règlement entraîne une exclusion de six mois au plus, prononcée par le bureau de la société.
""",
}


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three small documents, English and French."""
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def notes_store(notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that holds the notes; tests must not write to it."""
    store = tmp_path_factory.mktemp("store") / "ekr"
    done = run_ekr("ingest", notes, "--store", store, "--json")
    assert done.returncode == 0, done.stderr
    return store
