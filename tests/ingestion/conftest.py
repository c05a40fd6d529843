"""Ingests of small folders with the real embedder and the real extractor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

from ekr.chunking import ChunkSettings
from ekr.config import Settings
from ekr.ingestion.pipeline import Indexer, IngestOptions, ingest
from ekr.ingestion.report import IngestReport
from ekr.loaded import LoadedModels
from ekr.models.base import Generator, Vectors
from ekr.store import Manifest, Store
from ekr.store.graph_schema import RAW_TABLES, RESOLVED_TABLES
from ekr.store.vectors import VectorReader

NOTES = {
    "engines.md": (
        "# Engines\n\n## Difference Engine\n\nThe Difference Engine was a mechanical calculator that Charles Babbage "
        "designed. The British Government paid for it until 1842.\n\n## Analytical Engine\n\nThe Analytical Engine "
        "(AE) was a mechanical computer. Charles Babbage described it to Luigi Menabrea in Turin.\n"
    ),
    "lovelace.txt": (
        "Ada Lovelace worked with Charles Babbage on the Analytical Engine. She translated an article by Luigi "
        "Menabrea. Ada Lovelace died in London in 1852.\n"
    ),
    "reglement.md": (
        "# Règlement intérieur\n\n## Article 6 Horaires\n\nLes salles de lecture de la Société sont ouvertes à Paris. "
        "On entend par « lecteur », toute personne inscrite par la Société. L'article 7 s'applique au lecteur.\n\n"
        "## Article 7 Sanctions\n\nLe lecteur qui ne respecte pas l'article 6 est exclu par la Société.\n"
    ),
    "turing.txt": (
        "Alan Turing studied in Cambridge and worked in London. He read Ada Lovelace on the Analytical Engine and "
        "answered Lady Lovelace in 1950.\n"
    ),
}

ENGLISH = ("engines.md", "lovelace.txt", "turing.txt")

GRAPH_TABLES = (*RAW_TABLES, *RESOLVED_TABLES, "graph_vectors")


@dataclass
class Listening:
    """The embedder of this machine; keeps the texts that it was given."""

    models: LoadedModels
    texts: list[str] = field(default_factory=list)

    @property
    def info(self):  # type: ignore[no-untyped-def]
        return self.models.embedder().info

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.texts.extend(texts)
        return self.models.embedder().embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        return self.models.embedder().embed_query(text)


@pytest.fixture(scope="session")
def models() -> LoadedModels:
    return LoadedModels(Settings())


@dataclass
class Workshop:
    """Stores beside each other, and the notes that go into them."""

    folder: Path
    models: LoadedModels
    embedder: Listening
    settings: Settings = field(default_factory=Settings)
    generator: Callable[[], Generator] | None = None

    def note(self, name: str, text: str | None = None) -> Path:
        file = self.folder / "notes" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(NOTES[name] if text is None else text, encoding="utf-8")
        return file

    def notes(self, *names: str) -> list[Path]:
        """The files of these notes; of the English ones when none is named."""
        return [self.note(name) for name in names or ENGLISH]

    def store(self, name: str = "store") -> Store:
        return Store(self.folder / name)

    def ingest(self, store: Store, *files: Path, **options: object) -> IngestReport:
        chunking = ChunkSettings()
        indexer = Indexer(
            store=store,
            manifest=lambda: Manifest(self.embedder.info, asdict(chunking)),
            tokenizer=self.models.tokenizer,
            embedder=lambda: self.embedder,
            release_embedder=lambda: None,
            generator=self.generator or self.models.generator,
            chunking=chunking,
            settings=self.settings,
        )
        return ingest(indexer, files, IngestOptions(**options))  # type: ignore[arg-type]


@pytest.fixture
def workshop(tmp_path: Path, models: LoadedModels) -> Workshop:
    return Workshop(tmp_path, models, Listening(models))


def graph_rows(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the graph, sorted, and the ids of its vectors."""
    with store.snapshot() as snapshot:
        with snapshot.connection.cursor() as cursor:
            found = {table: sorted(cursor.execute(f"FROM {table}").fetchall(), key=str) for table in GRAPH_TABLES}
        embedder = snapshot.manifest.embedder
        reader = VectorReader(snapshot.directory / "vectors", embedder.dimension, embedder.name)
        vectors = {f"vectors of {k}": sorted(reader.rows(k)) for k in ("entities", "relations", "reports")}
    return {**found, **vectors}  # type: ignore[dict-item]
