"""Files missing, cut short, emptied or overwritten in each engine: one-line errors, doctor names it, --repair mends
what can be made anew from the rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from ekr import Engine
from ekr.errors import EkrError, StoreError
from ekr.store import FORMAT_VERSION
from tests.conftest import Ekr
from tests.reliability import shelves

COUNT = 6


def remove(file: Path) -> None:
    file.unlink()


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def overwrite(file: Path) -> None:
    data = bytearray(file.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(64) if any(data[middle : middle + 64]) else b"\xff" * 64
    file.write_bytes(data)


HARMS = (remove, cut_short, empty, overwrite)
SEGMENT = (".idx", ".term", ".store", ".fieldnorm", ".fast", ".pos")


def one(store: Path, pattern: str) -> Path:
    return sorted(shelves.generation_of(store).glob(pattern))[0]


def facts(store: Path) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    return shelves.rows(store), shelves.vectors(store), shelves.postings(store)


def asks_without_a_traceback(engine: Engine) -> list[str]:
    """Questions of every kind; each works, is degraded, or fails with one line. Returns the lines."""
    said = []
    for recipe in ("mix", "multihop"):
        try:
            result = engine.retrieve("Who works at the Halden Institute?", recipe, rerank="none")
            said += [failure["error"] for failure in result.to_json()["degraded"]]
        except EkrError as error:
            said.append(str(error))
    assert all("\n" not in line for line in said)
    return said


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("suffix", [*SEGMENT, "meta.json"])
def test_a_damaged_file_of_bm25_is_named_and_made_anew(
    sound: Path, store: Path, suffix: str, harm: Callable[[Path], None]
) -> None:
    harm(one(store, f"bm25/chunk-en/*{suffix}"))
    with shelves.engine_of(store) as engine:
        said = asks_without_a_traceback(engine)
        assert said or suffix != "meta.json"
        found = shelves.problems(store)
        assert {(problem.part, problem.advice) for problem in found} == {("tantivy", "run: ekr doctor --repair")}
        mended = shelves.mend(store)
        assert (mended.done, mended.failed, mended.examination.findings) == (("BM25 is built anew",), (), ())
        assert asks_without_a_traceback(engine) == []
    assert facts(store) == facts(sound)


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize(("table", "file"), [("chunks", "data/*.lance"), ("relations", "_versions/*.manifest")])
def test_a_damaged_file_of_the_vectors_is_named_and_made_anew(
    sound: Path, store: Path, table: str, file: str, harm: Callable[[Path], None]
) -> None:
    harm(one(store, f"vectors/{table}.lance/{file}"))
    with shelves.engine_of(store) as engine:
        asks_without_a_traceback(engine)
        assert {(problem.part, problem.repairable) for problem in shelves.problems(store)} == {("lancedb", True)}
        assert shelves.mend(store).examination.findings == ()
        assert asks_without_a_traceback(engine) == []
    assert facts(store) == facts(sound)


@pytest.mark.parametrize(
    "folder", ["bm25", "vectors", "bm25/chunk-en", "vectors/chunks.lance", "vectors/reports.lance"]
)
def test_a_missing_folder_is_named_and_made_anew(sound: Path, store: Path, folder: str) -> None:
    shutil.rmtree(shelves.generation_of(store) / folder)
    with shelves.engine_of(store) as engine:
        # No recipe of these reads reports.
        assert asks_without_a_traceback(engine) or folder == "vectors/reports.lance"
    assert shelves.problems(store)
    assert shelves.mend(store).examination.findings == ()
    assert facts(store) == facts(sound)


@pytest.mark.parametrize("harm", [remove, cut_short, empty], ids=lambda harm: harm.__name__)
def test_lost_rows_are_said_to_be_lost_and_nothing_else_is_touched(
    store: Path, harm: Callable[[Path], None], ekr: Ekr
) -> None:
    harm(one(store, "graph.duckdb"))
    before = {file: file.read_bytes() for file in store.rglob("*") if file.is_file() and file.name != "writer.lock"}
    for command in (("query", "Who?", "--context-only"), ("ingest", store.parent.parent), ("documents",), ("compact",)):
        done = ekr(*command, "--store", store)
        assert (done.returncode, done.stdout) == (1, "")
        assert len(done.stderr.splitlines()) == 1
    for options in ((), ("--repair",)):
        done = ekr("doctor", *options, "--json", "--store", store)
        assert done.returncode == 1
        problems = json.loads(done.stdout)["problems"]
        assert [problem["part"] for problem in problems] == ["duckdb"]
        assert problems[0]["advice"].startswith("restore a backup")
    assert {file: file.read_bytes() for file in before} == before


def test_a_row_that_was_overwritten_on_the_disk_is_found(store: Path) -> None:
    file = one(store, "graph.duckdb")
    data = bytearray(file.read_bytes())
    places = data.count(shelves.own_word(2).encode())
    assert places
    data[:] = data.replace(shelves.own_word(2).encode(), b"!" * len(shelves.own_word(2)))
    file.write_bytes(data)
    assert [problem.part for problem in shelves.problems(store)] == ["duckdb"]


@pytest.mark.parametrize("content", ["", "seven\n", "99\n", "\x00\x00"])
def test_a_current_that_leads_nowhere_is_set_to_the_generation_there_is(
    sound: Path, store: Path, content: str, ekr: Ekr
) -> None:
    (store / "CURRENT").write_text(content)
    asked = ekr("query", "Who?", "--context-only", "--store", store)
    assert (asked.returncode, asked.stdout, len(asked.stderr.splitlines())) == (1, "", 1)
    assert [problem.part for problem in shelves.problems(store)] == ["store"]
    assert shelves.mend(store).examination.findings == ()
    assert facts(store) == facts(sound)


def test_without_any_generation_a_repair_says_so(store: Path) -> None:
    shutil.rmtree(store / "generations")
    with shelves.engine_of(store) as engine:
        found = engine.doctor(repair=True)
    assert not found.sound
    assert any("no whole generation is left" in problem.problem for problem in found.problems)


def test_a_missing_pin_is_put_back(sound: Path, store: Path) -> None:
    one(store, "pin").unlink()
    assert shelves.problems(store)
    assert shelves.mend(store).examination.findings == ()
    assert facts(store) == facts(sound)


@pytest.mark.parametrize("generations", [1, 2])
def test_a_lost_current_is_an_empty_store_with_a_remark_and_comes_back(
    sound: Path, store: Path, generations: int
) -> None:
    with shelves.engine_of(store) as engine:
        number = engine.compact() if generations > 1 else engine.status()["generation"]
        (store / "CURRENT").unlink()
        found = engine.doctor()
        assert found.sound
        assert any(f"generation {number} is there" in note for note in found.notes)
        assert engine.status()["documents"] == 0
        written = store.parent / "more.txt"
        written.write_text("The bridge was inspected.\n")
        with pytest.raises(StoreError, match=f"generation {number} is there; run: ekr doctor --repair"):
            engine.ingest(written)
        assert engine.doctor(repair=True).repaired == (f"generation {number} is the current one again",)
    assert facts(store) == facts(sound)


def test_a_store_of_a_newer_format_is_left_alone(sound: Path, store: Path, ekr: Ekr) -> None:
    with duckdb.connect(str(one(store, "graph.duckdb"))) as connection:
        connection.execute("UPDATE manifest SET value = ? WHERE key = 'format_version'", [str(FORMAT_VERSION + 1)])
    before = {file: file.read_bytes() for file in store.rglob("*") if file.is_file() and file.name != "writer.lock"}
    for command in (
        ("query", "Who?", "--context-only"),
        ("ingest", sound.parent / "notes"),
        ("delete", "*"),
        ("compact",),
        ("reindex",),
        ("backup", store.parent / "copy"),
        ("status",),
    ):
        done = ekr(*command, "--store", store)
        assert (done.returncode, done.stdout) == (1, ""), command
        assert len(done.stderr.splitlines()) == 1
        assert "upgrade ekr" in done.stderr
    for options in ((), ("--repair",)):
        found = json.loads(ekr("doctor", *options, "--json", "--store", store).stdout)
        assert [problem["advice"] for problem in found["problems"]] == ["upgrade ekr"]
    assert {
        file: file.read_bytes() for file in store.rglob("*") if file.is_file() and file.name != "writer.lock"
    } == before


@pytest.mark.parametrize(
    ("statement", "repaired"),
    [
        ("DELETE FROM community_members WHERE rank = 0", "the graph is resolved anew"),
        ("DELETE FROM relation_evidence", "the graph is resolved anew"),
        ("INSERT INTO mentions VALUES ('nobody', 'nothing', 0, 1)", "the graph is resolved anew"),
        ("DELETE FROM entities WHERE mentions > 1", "the graph is resolved anew"),
        ("INSERT INTO model_calls VALUES ('k', 'extract', 'nobody', '1')", "1 rows that belong to nothing are removed"),
        ("INSERT INTO pages VALUES ('nobody', 1, 'text')", "1 rows that belong to nothing are removed"),
        ("INSERT INTO documents SELECT * FROM documents LIMIT 1", "1 rows that belong to nothing are removed"),
    ],
)
def test_rows_that_do_not_fit_together_are_made_to(sound: Path, store: Path, statement: str, repaired: str) -> None:
    with duckdb.connect(str(one(store, "graph.duckdb"))) as connection:
        connection.execute(statement)
    assert shelves.problems(store)
    mended = shelves.mend(store)
    assert mended.examination.findings == ()
    assert repaired in mended.done
    assert facts(store) == facts(sound)
