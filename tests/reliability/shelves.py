"""Small corpora with a word of their own in each document, stores made from them, and what is in every engine."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path

from ekr import Engine
from ekr.config import Settings
from ekr.doctor import Problem, problem_of
from ekr.ingestion.repair import RebuildingModels, Repaired, repair
from ekr.ingestion.report import IngestReport
from ekr.loaded import LoadedModels
from ekr.store import Store
from ekr.store.bm25 import Bm25Reader, index_names
from ekr.store.check import check
from ekr.store.schema import VECTORS_OF
from ekr.store.vectors import VectorReader

_PEOPLE = ("Ada Brandt", "Paul Lemaire", "Nadia Okafor", "Hugo Ferrand")
_FIRMS = ("Halden Institute", "Corvus Laboratory", "Meridian Society")
_PLACES = ("Lisbon", "Geneva", "Oslo", "Turin", "Lyon")


def own_word(number: int) -> str:
    """A word that occurs in one document only."""
    return f"zorblax{chr(97 + number // 26)}{chr(97 + number % 26)}qu"


def text(number: int) -> str:
    one, other = _PEOPLE[number % 4], _PEOPLE[(number + 1) % 4]
    firm, place, word = _FIRMS[number % 3], _PLACES[number % 5], own_word(number)
    if number % 4 == 3:
        return (
            f"# Carnet {number}\n\n{one} travaille avec {other} à la {firm} de {place}. Le carnet parle de {word}.\n\n"
            f"## Article {number} Prêt\n\nOn entend par « {word} », toute machine prêtée par la {firm}.\n"
        )
    return (
        f"# Notebook {number}\n\n{one} works with {other} at the {firm} in {place}. The notebook speaks of {word}.\n\n"
        f"## The {word.title()} Engine\n\nThe {word.title()} Engine was built by {one} in {place}. The {firm} paid for "
        f"the {word.title()} Engine until {1800 + number}.\n"
    )


def write(folder: Path, count: int = 12) -> Path:
    """`count` documents: one half as Markdown files, the other as records of one JSONL file."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(0, count, 2):
        (folder / f"note-{number}.md").write_text(text(number), encoding="utf-8")
    records = [{"id": f"r{n}", "title": f"Notebook {n}", "text": text(n)} for n in range(1, count, 2)]
    (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return folder


@functools.cache
def models() -> LoadedModels:
    """The models of this machine, loaded once for all tests."""
    return LoadedModels(Settings())


def engine_of(store: Path) -> Engine:
    engine = Engine.open(store)
    engine.models = models()
    return engine


def make(store: Path, documents: Path) -> IngestReport:
    with engine_of(store) as engine:
        return engine.ingest(documents)


def problems(store: Path) -> list[Problem]:
    """What doctor says of the store, without the models: to hash them takes most of its time."""
    return [problem_of(finding) for finding in check(Store(store))]


def mend(store: Path) -> Repaired:
    return repair(Store(store), RebuildingModels(models().embedder, models().generator))


def generation_of(store: Path) -> Path:
    number = Store(store).generation()
    assert number is not None
    return store / "generations" / str(number)


def rows(store: Path) -> dict[str, int]:
    """Rows of every table, but those that tell how the store was made."""
    with Store(store).snapshot() as snapshot, snapshot.connection.cursor() as cursor:
        tables = [row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        counted = sorted(set(tables) - {"manifest", "graph_state"})
        return {name: cursor.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in counted}  # type: ignore[index]


def vectors(store: Path) -> dict[str, int]:
    with Store(store).snapshot() as snapshot:
        reader = VectorReader(snapshot.directory / "vectors", snapshot.manifest.embedder.dimension, "test")
        return {kind: reader.count(kind) for kind in VECTORS_OF}


def postings(store: Path) -> dict[str, int]:
    reader = Bm25Reader(generation_of(store) / "bm25")
    try:
        return {"chunks": len(reader.rows("chunk")), "parents": len(reader.rows("parent"))}
    finally:
        reader.close()


def stored_texts(store: Path) -> Iterator[tuple[str, str]]:
    """(table.column, value) of every column of every table, as text."""
    with Store(store).snapshot() as snapshot, snapshot.connection.cursor() as cursor:
        columns = cursor.execute("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal").fetchall()
        assert ("chunks", "text") in columns
        for table, column in columns:
            for (value,) in cursor.execute(f'SELECT "{column}"::VARCHAR FROM "{table}"').fetchall():
                yield f"{table}.{column}", value or ""


def indexed(store: Path, term: str) -> list[str]:
    """The BM25 indexes in which a term occurs, deleted passages included until they are merged away."""
    import tantivy

    found = []
    for name in index_names(generation_of(store) / "bm25"):
        searcher = tantivy.Index.open(str(generation_of(store) / "bm25" / name)).searcher()
        if searcher.doc_freq("text", term):
            found.append(name)
    return found


def bytes_on_disk(store: Path) -> int:
    return sum(file.stat().st_size for file in store.rglob("*") if file.is_file())


def files_with(store: Path, *needles: str) -> list[str]:
    """Files in which one of the strings occurs, in any case."""
    wanted = [needle.lower().encode() for needle in needles]
    return [
        str(file.relative_to(store))
        for file in sorted(store.rglob("*"))
        if file.is_file() and any(needle in file.read_bytes().lower() for needle in wanted)
    ]
