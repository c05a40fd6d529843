"""An index of vectors that is damaged is named by doctor, and a search through it says what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ekr.errors import StoreError
from ekr.store import Store, vector_index
from ekr.store.check import check
from ekr.store.vectors import VectorReader, VectorWriter
from tests.store.builders import DIMENSION, MANIFEST, numbered, put

CHUNKS = 600


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose chunks have an index."""
    path = tmp_path_factory.mktemp("indexed") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_index, "INDEX_ABOVE", CHUNKS // 2)
        patch.setattr(vector_index, "MIN_RECALL", 0.0)
        with Store(path).writer(MANIFEST) as writer:
            put(writer, numbered(1, CHUNKS), numbered(2))
            writer.publish()
    return path


@pytest.fixture
def store(indexed: Path, tmp_path: Path) -> Store:
    return Store(shutil.copytree(indexed, tmp_path / "store"))


def vectors_of_generation(store: Store) -> Path:
    return next(store.path.glob("generations/*/vectors"))


def middle_zeroed(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + (bytes(64) if any(data[middle : middle + 64]) else b"\1" * 64) + data[middle + 64 :]


HARMS: dict[str, Callable[[bytes], bytes | None]] = {
    "gone": lambda _: None,
    "cut": lambda data: data[: len(data) // 2],
    "emptied": lambda _: b"",
    "overwritten": middle_zeroed,
}


def harmed(file: Path, harm: str) -> None:
    data = HARMS[harm](file.read_bytes())
    file.unlink()
    if data is not None:
        file.write_bytes(data)


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", ["index.idx", "auxiliary.idx"])
def test_a_damaged_file_of_an_index_is_named(store: Store, name: str, harm: str) -> None:
    assert check(store) == []
    (file,) = vectors_of_generation(store).glob(f"chunks.lance/_indices/*/{name}")
    harmed(file, harm)
    (found,) = check(store)
    assert (found.engine, found.repair) == ("lancedb", "vectors")
    assert found.message == f"the file {file.parent.name}/{name} of the index of chunks is missing or damaged"


@pytest.mark.parametrize("harm", ["gone", "cut", "emptied"])
def test_an_index_without_checksums_is_tried(store: Store, harm: str) -> None:
    noted = vectors_of_generation(store) / "chunks.probing.json"
    probes = json.loads(noted.read_text())["probes"]
    noted.unlink()
    noted.write_text(json.dumps({"probes": probes}))
    assert check(store) == []
    (file,) = vectors_of_generation(store).glob("chunks.lance/_indices/*/auxiliary.idx")
    harmed(file, harm)
    assert [(found.engine, found.repair) for found in check(store)] == [("lancedb", "vectors")]


@pytest.mark.parametrize(
    "noted", ['{"pro', "", "[]", "null", '{"probes": null}', '{"probes": {}}', '{"probes": 3, "files": 7}']
)
def test_a_garbled_note_of_an_index_is_one_line_with_advice(store: Store, noted: str) -> None:
    file = vectors_of_generation(store) / "chunks.probing.json"
    file.unlink()
    file.write_text(noted)
    assert [(found.engine, found.repair) for found in check(store)] == [("lancedb", "vectors")]
    with store.snapshot() as snapshot, pytest.raises(StoreError) as raised:
        snapshot.search_vectors("chunks", np.ones(DIMENSION, np.float32), 3)
    assert str(raised.value).endswith("; run: ekr doctor --repair")
    assert "\n" not in str(raised.value)


def test_what_was_noted_stays_when_the_index_grows(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "INDEX_ABOVE", CHUNKS // 2)
    with store.writer(MANIFEST) as writer:
        put(writer, numbered(3))
        writer.publish()
    assert check(store) == []
    directory = vectors_of_generation(store)
    (file,) = directory.glob("chunks.lance/_indices/*/index.idx")
    harmed(file, "overwritten")
    grown = VectorWriter(directory, DIMENSION)
    grown.add("chunks", ["x"], ["d"], np.eye(1, DIMENSION, dtype=np.float32))
    grown.finish()
    assert VectorReader(directory, DIMENSION, "tiny").damaged_index("chunks") == [f"{file.parent.name}/index.idx"]
