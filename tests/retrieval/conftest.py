"""A small store with a graph: people, engines and one topic that touches nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from ekr import Engine
from tests.conftest import run_ekr

LIBRARY = {
    "lovelace.md": """---
period: victorian
---
# Ada Lovelace

Ada Lovelace was a mathematician who worked with Charles Babbage. Ada Lovelace worked with Charles Babbage on the
Analytical Engine. In 1843 Ada Lovelace published notes on it, which set out how it could compute the Bernoulli numbers.
""",
    "babbage.md": """---
period: victorian
---
# Charles Babbage

Charles Babbage was an English inventor. Charles Babbage designed the Analytical Engine in London. John Herschel worked
with Charles Babbage on astronomical tables. Charles Babbage met Ada Lovelace in 1833.
""",
    "engine.md": """# Analytical Engine

The Analytical Engine was a general-purpose mechanical computer. Its design had a store for numbers and a mill that
worked on them. It was to be programmed with punched cards taken from the Jacquard Loom.
""",
    "loom.md": """---
period: napoleonic
---
# Jacquard Loom

The Jacquard Loom is a device fitted to a weaving machine. Joseph Marie Jacquard built the Jacquard Loom in Lyon in
1804. It made patterns of silk from a chain of cards.
""",
    "roses.md": """# Roses of David Austin

David Austin bred roses in Albrighton. David Austin named the Graham Thomas rose after Graham Thomas, a gardener.
""",
}


@pytest.fixture(scope="session")
def library_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a graph; tests must not write to it."""
    folder = tmp_path_factory.mktemp("library")
    for name, text in LIBRARY.items():
        (folder / name).write_text(text, encoding="utf-8")
    store = tmp_path_factory.mktemp("library_store") / "ekr"
    done = run_ekr("ingest", folder, "--store", store, "--json")
    assert done.returncode == 0, done.stderr
    return store


@pytest.fixture(scope="session")
def library(library_store: Path) -> Iterator[Engine]:
    """An engine on that store, without re-ranker."""
    with Engine.open(library_store, reranker="none") as engine:
        yield engine


@pytest.fixture
def damaged(library_store: Path, tmp_path: Path) -> Callable[..., Path]:
    """Makes a copy of the store without some tables of rows or of vectors."""

    def make(*, rows: tuple[str, ...] = (), vectors: tuple[str, ...] = ()) -> Path:
        copy = tmp_path / "damaged"
        shutil.copytree(library_store, copy)
        (generation,) = (copy / "generations").iterdir()
        with duckdb.connect(str(generation / "graph.duckdb")) as connection:
            for table in rows:
                connection.execute(f"DROP TABLE {table}")
        for table in vectors:
            shutil.rmtree(generation / "vectors" / f"{table}.lance")
        return copy

    return make
