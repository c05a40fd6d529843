"""Vector search is exact, filtered before it ranks, and refuses what does not fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ekr.errors import StoreError
from ekr.store import Store, vector_index
from ekr.store.check import check
from ekr.store.vectors import VectorReader, VectorWriter, normalised
from tests.store.builders import DIMENSION, MANIFEST, document, ingest, numbered, put

ROWS = 400


def unit(matrix: np.ndarray) -> np.ndarray:
    return np.asarray(matrix / np.linalg.norm(matrix, axis=-1, keepdims=True), dtype=np.float32)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[VectorReader, np.ndarray]:
    """400 random vectors, ten a document, written in three pieces with deletions between."""
    folder = tmp_path_factory.mktemp("vectors")
    matrix = unit(np.random.default_rng(5).normal(size=(ROWS, DIMENSION)))
    writer = VectorWriter(folder, DIMENSION)
    ids, owners = [f"c{n:03}" for n in range(ROWS)], [f"d{n // 10:02}" for n in range(ROWS)]
    writer.add("chunks", ["x'1", "x'2"], ["o'dd", "d00"], matrix[:2])
    for start in (0, 150, 300):
        part = slice(start, min(start + 150, ROWS))
        writer.add("chunks", ids[part], owners[part], matrix[part])
    writer.delete("chunks", "document_id", ["o'dd", "unknown"])
    writer.delete("chunks", "id", ["x'2"])
    writer.finish()
    return VectorReader(folder, DIMENSION, "tiny"), matrix


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10_000),
    limit=st.integers(1, 500),
    documents=st.none() | st.sets(st.integers(0, 60), max_size=45),
)
def test_search_equals_brute_force(
    table: tuple[VectorReader, np.ndarray], seed: int, limit: int, documents: set[int] | None
) -> None:
    reader, matrix = table
    query = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32) * 3
    wanted = None if documents is None else {f"d{number:02}" for number in documents}
    similarity = matrix @ unit(query)
    rows = [n for n in range(ROWS) if documents is None or n // 10 in documents]
    hits = reader.search("chunks", query, limit, wanted)
    assert len({hit for hit, _ in hits}) == len(hits) == min(limit, len(rows))
    assert {int(hit[1:]) for hit, _ in hits} <= set(rows)
    scores = [score for _, score in hits]
    assert scores == pytest.approx([float(similarity[int(hit[1:])]) for hit, _ in hits], abs=1e-5)
    assert scores == pytest.approx(sorted((float(similarity[n]) for n in rows), reverse=True)[:limit], abs=1e-5)


def test_a_filter_of_thousands_of_documents_is_exact(table: tuple[VectorReader, np.ndarray]) -> None:
    reader, matrix = table
    wanted = {"d07", *(f"other-{number}" for number in range(5000))}
    hits = reader.search("chunks", matrix[0], 50, wanted)
    assert {hit for hit, _ in hits} == {f"c{n:03}" for n in range(70, 80)}
    assert [hit for hit, _ in reader.search("chunks", matrix[0], 50, ids={"c003", "c399", "zz"})][:1] in (
        ["c003"],
        ["c399"],
    )


def test_limits_and_empty_filters_give_nothing_and_huge_ones_everything(
    table: tuple[VectorReader, np.ndarray],
) -> None:
    reader, matrix = table
    assert reader.search("chunks", matrix[0], 0) == reader.search("chunks", matrix[0], -3) == []
    assert reader.search("chunks", matrix[0], 5, documents=set()) == []
    assert reader.search("entities", matrix[0], 5) == []
    assert len(reader.search("chunks", matrix[0], 10**12)) == reader.count("chunks") == ROWS


@pytest.mark.parametrize(
    "vector", [np.ones(3), np.ones(DIMENSION + 1), np.zeros(DIMENSION), np.full(DIMENSION, np.inf)]
)
def test_a_vector_that_does_not_fit_is_an_error(table: tuple[VectorReader, np.ndarray], vector: np.ndarray) -> None:
    with pytest.raises(StoreError, match=r"ekr (reindex|models check)"):
        table[0].search("chunks", vector.astype(np.float32), 5)


def test_vectors_are_stored_with_length_1() -> None:
    rows = normalised(np.array([[3.0, 4.0], [1.0, 0.0]], np.float32), 2, "tiny")
    assert rows.ravel().tolist() == pytest.approx([0.6, 0.8, 1.0, 0.0])


def test_equal_vectors_are_ordered_by_id(store: Store) -> None:
    same = np.ones((1, DIMENSION), np.float32)
    documents = [document(f"/{number}.txt", "same") for number in range(40)]
    with store.writer(MANIFEST) as writer:
        for prepared in documents:
            writer.put(prepared, same)
        writer.publish()
    expected = sorted(prepared.chunks[0].id for prepared in documents)
    with store.snapshot() as snapshot:
        for limit in (1, 5, 40):
            assert [hit for hit, _ in snapshot.search_vectors("chunks", same[0], limit)] == expected[:limit]


def test_other_modules_keep_their_own_vectors_in_the_same_generation(store: Store) -> None:
    matrix = unit(np.random.default_rng(2).normal(size=(5, DIMENSION)))
    with store.writer(MANIFEST) as writer:
        put(writer, numbered(1))
        writer.connection.execute("INSERT INTO graph_vectors SELECT 'entities', unnest(['a', 'b', 'c']), 'hash'")
        writer.put_vectors("entities", ["a", "b", "c"], ["", "", ""], matrix[:3])
        writer.publish()
        writer.delete_vectors("entities", ["b"])
        writer.connection.execute("DELETE FROM graph_vectors WHERE id = 'b'")
        writer.publish()
    with store.snapshot() as snapshot:
        assert {hit for hit, _ in snapshot.search_vectors("entities", matrix[0], 9)} == {"a", "c"}
        assert snapshot.search_vectors("entities", matrix[1], 9, ids={"c"})[0][0] == "c"
        assert snapshot.search_vectors("reports", matrix[0], 9) == []
        with pytest.raises(StoreError, match="chunks, entities"):
            snapshot.search_vectors("nonsense", matrix[0], 9)
    with store.writer(MANIFEST) as writer:
        writer.delete_vectors("entities")
        writer.publish()
    with store.snapshot() as snapshot, pytest.raises(StoreError, match="vectors of entities are missing"):
        snapshot.search_vectors("entities", matrix[0], 9)


def test_a_large_table_gets_an_index_whose_recall_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "INDEX_ABOVE", 3000)
    random = np.random.default_rng(7)
    centres = random.normal(size=(40, 32))
    matrix = unit(centres[random.integers(0, 40, 4000)] + 0.3 * random.normal(size=(4000, 32)))
    writer = VectorWriter(tmp_path, 32)
    writer.add("chunks", [f"{n:05}" for n in range(4000)], [f"d{n % 50}" for n in range(4000)], matrix)
    writer.finish()
    probing = vector_index.probing_of(tmp_path, "chunks")
    assert probing is not None and 1 <= probing.probes < 63
    reader = VectorReader(tmp_path, 32, "tiny")
    found = 0
    queries = unit(matrix[:200] + 0.05 * random.normal(size=(200, 32)))
    for query in queries:
        exact = {f"{n:05}" for n in np.argsort(-(matrix @ query))[:10]}
        found += len(exact & {hit for hit, _ in reader.search("chunks", query, 10)})
    assert found / 2000 >= 0.96
    only = {hit for hit, _ in reader.search("chunks", queries[0], 80, documents={"d3"})}
    assert only == {f"{n:05}" for n in range(4000) if n % 50 == 3}


def test_an_index_that_finds_too_little_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "INDEX_ABOVE", 500)
    monkeypatch.setattr(vector_index, "MIN_RECALL", 1.01)
    matrix = unit(np.random.default_rng(7).normal(size=(600, DIMENSION)))
    writer = VectorWriter(tmp_path, DIMENSION)
    writer.add("chunks", [f"{n:05}" for n in range(600)], ["d"] * 600, matrix)
    writer.finish()
    assert vector_index.probing_of(tmp_path, "chunks") is None
    hits = VectorReader(tmp_path, DIMENSION, "tiny").search("chunks", matrix[9], 1)
    assert hits == [("00009", pytest.approx(1.0, abs=1e-5))]


def test_many_small_writes_are_merged_before_they_slow_a_search(tmp_path: Path) -> None:
    matrix = unit(np.random.default_rng(7).normal(size=(40, DIMENSION)))
    writer = VectorWriter(tmp_path, DIMENSION)
    for number in range(40):
        writer.add("chunks", [f"{number:05}"], ["d"], matrix[number : number + 1])
    writer.finish()
    assert len(list((tmp_path / "chunks.lance" / "data").iterdir())) == 1
    assert VectorReader(tmp_path, DIMENSION, "tiny").count("chunks") == 40


def test_a_search_loads_the_engine_without_its_package(store: Store) -> None:
    ingest(store, numbered(1))
    program = (
        "import sys; from pathlib import Path; import numpy as np; from ekr.store import Store\n"
        "with Store(Path(sys.argv[1])).snapshot() as s:\n"
        f"    assert len(s.search_vectors('chunks', np.ones({DIMENSION}, np.float32), 9)) == 3\n"
        "print([m for m in ('lancedb', 'pandas', 'lance_namespace') if m in sys.modules])\n"
        "import lancedb\n"
        "table = lancedb.connect(str(next(Path(sys.argv[1]).glob('generations/*/vectors')))).open_table('chunks')\n"
        "print(table.count_rows())"
    )
    done = subprocess.run([sys.executable, "-c", program, str(store.path)], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "3"]
    assert done.stderr == ""


def test_a_table_written_by_the_package_reads_the_same_through_the_engine(
    table: tuple[VectorReader, np.ndarray],
) -> None:
    import lancedb

    reader, matrix = table
    public = lancedb.connect(str(reader._directory)).open_table("chunks")
    for query in matrix[:10]:
        rows = public.search(query).distance_type("dot").select(["id", "_distance"]).limit(10).to_list()
        hits = reader.search("chunks", query, 10)
        assert [hit for hit, _ in hits] == [row["id"] for row in rows]
        assert [score for _, score in hits] == pytest.approx([1 - row["_distance"] for row in rows], abs=1e-6)


def test_chunks_without_vectors_are_never_published(store: Store) -> None:
    with store.writer(MANIFEST) as writer:
        put(writer, numbered(1))
        writer.flush()
        writer.delete_vectors("chunks", [numbered(1).chunks[0].id])
        with pytest.raises(StoreError, match="3 chunks but 2 vectors"):
            writer.publish()
    assert store.generation() is None
    assert check(store) == []
