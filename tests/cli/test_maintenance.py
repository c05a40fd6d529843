"""`ekr doctor`, `reindex`, `compact`, `backup` as real processes; names that must not delete; kept properties."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NOTES, Ekr
from tests.models.conftest import pulled


@pytest.fixture
def store(notes_store: Path, tmp_path: Path) -> Path:
    """A copy of the notes' store, which a test may change, on a path with a space and an accent."""
    return shutil.copytree(notes_store, tmp_path / "mon dépôt")


def told(ekr: Ekr, *arguments: str | Path, code: int = 0) -> Any:
    done = ekr(*arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def context(ekr: Ekr, store: Path, **options: object) -> list[str]:
    asked = ("query", "Who designed the Difference Engine?", "--recipe", "mix", "--set", "rerank=none")
    done = ekr(*asked, "--context-only", "--json", "--store", store, **options)
    assert done.returncode == 0, done.stderr
    return [item["id"] for item in json.loads(done.stdout)["items"]]


def test_doctor_counts_the_engines_and_the_models(ekr: Ekr, store: Path) -> None:
    found = told(ekr, "doctor", "--store", store)
    assert (found["sound"], found["problems"], found["format_version"]) == (True, [], 1)
    rows, vectors, postings = (found["counts"][engine] for engine in ("duckdb", "lancedb", "tantivy"))
    assert rows["documents"] == 3
    assert rows["chunks"] == vectors["chunks"] == postings["chunks"] > 0
    assert rows["communities"] == vectors["reports"]
    assert {"name": "multilingual-e5-small", "state": "present", "damaged": []} in found["models"]
    shown = ekr("doctor", "--store", store)
    assert shown.stdout.splitlines()[-1] == "Everything is sound."


def test_an_empty_store_is_sound(ekr: Ekr, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "empty", tmp_path / "none"):
        assert told(ekr, "doctor", "--store", place)["sound"]
        assert told(ekr, "doctor", "--repair", "--store", place)["generation"] is None
        assert told(ekr, "compact", "--store", place)["generation"] is None
    assert not (tmp_path / "none").exists()
    for command in (("reindex",), ("backup", tmp_path / "copy")):
        failed = ekr(*command, "--store", tmp_path / "none")
        assert (failed.returncode, failed.stdout) == (1, "")
        assert "run: ekr ingest" in failed.stderr


def test_doctor_names_a_damaged_model_and_one_that_is_needed_but_not_here(
    ekr: Ekr, store: Path, tmp_path: Path
) -> None:
    from ekr.config import Settings

    cache = tmp_path / "cache"
    cache.mkdir()
    own = Settings().cache_dir
    for name in ("multilingual-e5-small", "en_core_web_sm", "fr_core_news_sm"):
        (cache / name).symlink_to(own / name)
    (cache / "fr_core_news_sm").unlink()
    shutil.copytree(own / "fr_core_news_sm", cache / "fr_core_news_sm")
    weights = max((cache / "fr_core_news_sm").rglob("*"), key=lambda file: file.stat().st_size * file.is_file())
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    env = {"EKR_CACHE_DIR": str(cache)}
    done = ekr("doctor", "--json", "--store", store, env=env)
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert [(p["part"], p["advice"]) for p in found["problems"]] == [("models", "run: ekr models pull fr_core_news_sm")]
    assert any("qwen2.5-coder-1.5b is not on this machine" in note for note in found["notes"])
    (cache / "multilingual-e5-small").unlink()
    done = ekr("doctor", "--store", store, env=env)
    assert done.returncode == 1
    assert "the model multilingual-e5-small is not on this machine; run: ekr models pull" in done.stdout


def test_reindex_needs_no_source_file_and_changes_the_embedder_of_the_whole_store(ekr: Ekr, tmp_path: Path) -> None:
    pulled("all-minilm-l6-v2")
    folder, store = tmp_path / "notes", tmp_path / "store"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    told(ekr, "ingest", folder, "--store", store)
    before = context(ekr, store)
    counts = told(ekr, "doctor", "--store", store)["counts"]
    shutil.rmtree(folder)
    other = {"EKR_EMBEDDER": "all-minilm-l6-v2"}
    refused = ekr("query", "Who?", "--context-only", "--store", store, env=other)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "run: ekr reindex --embedder all-minilm-l6-v2" in refused.stderr
    assert told(ekr, "reindex", "--embedder", "all-minilm-l6-v2", "--store", store)["embedder"] == "all-minilm-l6-v2"
    assert context(ekr, store, env=other)
    found = ekr("doctor", "--json", "--store", store, env=other)
    assert found.returncode == 0
    assert json.loads(found.stdout)["counts"] == counts
    assert "run: ekr reindex --embedder multilingual-e5-small" in ekr("doctor", "--store", store).stdout
    told(ekr, "reindex", "--store", store)
    assert context(ekr, store) == before


def test_a_reindex_that_fails_leaves_the_store_as_it_was(ekr: Ekr, store: Path) -> None:
    before = context(ekr, store)
    for embedder, code in (("no-such-model", 2), ("/no/such/model.onnx", 1)):
        failed = ekr("reindex", "--embedder", embedder, "--store", store)
        assert (failed.returncode, failed.stdout, len(failed.stderr.splitlines())) == (code, "", 1)
    assert context(ekr, store) == before
    assert told(ekr, "doctor", "--store", store)["sound"]


def test_compact_leaves_one_generation_and_says_what_it_saved(ekr: Ekr, store: Path) -> None:
    before = context(ekr, store)
    told(ekr, "delete", "people/lovelace.txt", "--store", store)
    done = told(ekr, "compact", "--store", store)
    assert done["bytes_after"] <= done["bytes_before"]
    assert [entry.name for entry in (store / "generations").iterdir()] == [str(done["generation"])]
    assert told(ekr, "compact", "--if-needed", "--store", store)["generation"] == done["generation"]
    assert set(context(ekr, store)) < set(before)


def test_a_backup_is_a_store_and_never_overwrites(ekr: Ekr, store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copies" / "monday"
    assert told(ekr, "backup", copy, "--store", store)["destination"] == str(copy)
    assert told(ekr, "doctor", "--store", copy)["sound"]
    assert context(ekr, copy) == context(ekr, store)
    again = ekr("backup", copy, "--store", store)
    assert (again.returncode, again.stdout) == (2, "")
    assert "is not empty" in again.stderr
    inside = ekr("backup", store / "copy", "--store", store)
    assert inside.returncode == 2
    assert "lies inside the store" in inside.stderr
    told(ekr, "delete", "*", "--store", copy)
    assert told(ekr, "status", "--store", store)["documents"] == 3


def test_a_name_that_several_documents_share_removes_none(ekr: Ekr, tmp_path: Path) -> None:
    store = tmp_path / "store"
    for shelf in ("east", "west"):
        (tmp_path / shelf).mkdir()
        (tmp_path / shelf / "note.md").write_text(f"# Note\n\nThe {shelf} shelf holds the ledger of the mill.\n")
        told(ekr, "ingest", tmp_path / shelf, "--store", store)
    lines = [json.dumps({"id": f"r{n}", "text": f"Record {n} of the mill."}) for n in range(3)]
    (tmp_path / "records.jsonl").write_text("\n".join(lines))
    told(ekr, "ingest", tmp_path / "records.jsonl", "--store", store)
    refused = ekr("delete", "note.md", "--store", store)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert str(tmp_path / "east" / "note.md") in refused.stderr
    assert str(tmp_path / "west" / "note.md") in refused.stderr
    assert told(ekr, "status", "--store", store)["documents"] == 5
    assert told(ekr, "delete", tmp_path / "east" / "note.md", "--store", store) == {"removed": ["east/note.md"]}
    assert len(told(ekr, "delete", tmp_path / "records.jsonl", "--store", store)["removed"]) == 3
    assert told(ekr, "delete", "note.md", "--store", store) == {"removed": ["note.md"]}


def test_names_that_the_lists_show_remove_what_they_mean(ekr: Ekr, tmp_path: Path) -> None:
    store = tmp_path / "store"
    for shelf in ("east", "west"):
        (tmp_path / "docs" / shelf).mkdir(parents=True)
        lines = [{"id": name, "text": f"{name} of the mill."} for name in (f"only-{shelf}", "both", "east.jsonl")]
        (tmp_path / "docs" / shelf / "same.jsonl").write_text("\n".join(map(json.dumps, lines[:2])))
        (tmp_path / "docs" / shelf / f"{shelf}.jsonl").write_text("\n".join(map(json.dumps, lines[2:])))
    (tmp_path / "docs" / "east" / "both").write_text("not a document")
    told(ekr, "ingest", tmp_path / "docs", "--extractor", "none", "--store", store)
    assert told(ekr, "status", "--store", store)["documents"] == 6
    # Two records of that id; two files of that name; a file and a record.
    for shared in ("both", "same.jsonl", "east.jsonl"):
        refused = ekr("delete", shared, "--store", store)
        assert (refused.returncode, refused.stdout) == (2, ""), shared
        assert "name each by its full path" in refused.stderr
    assert told(ekr, "status", "--store", store)["documents"] == 6
    by_document = {row["document"]: row["document_id"] for row in told(ekr, "documents", "--store", store)}
    assert by_document["east/same.jsonl#only-east"] == "only-east"
    assert told(ekr, "delete", "only-east", "--store", store)["removed"] == ["east/same.jsonl#only-east"]
    assert told(ekr, "delete", "west.jsonl", "--store", store)["removed"] == ["west/west.jsonl#east.jsonl"]
    assert told(ekr, "delete", "west/same.jsonl", "--store", store)["removed"] == [
        "west/same.jsonl#both", "west/same.jsonl#only-west"
    ]  # fmt: skip
    assert told(ekr, "delete", "same.jsonl", "--store", store)["removed"] == ["east/same.jsonl#both"]


def test_the_beginning_of_an_id_removes_only_when_it_is_long_enough(ekr: Ekr, store: Path) -> None:
    from ekr.store import Store

    with Store(store).snapshot() as snapshot:
        record = snapshot.find_document("engines.md")[0]
    assert ekr("show", record.id[:7], "--store", store).returncode == 0
    short = ekr("delete", record.id[:7], "--store", store)
    assert (short.returncode, short.stdout) == (2, "")
    assert "no document" in short.stderr
    assert told(ekr, "delete", record.id[:8], "--store", store) == {"removed": ["engines.md"]}


def properties(ekr: Ekr, store: Path) -> dict[str, dict[str, Any]]:
    return {row["document"]: row["metadata"] for row in told(ekr, "documents", "--store", store)}


def test_given_properties_stay_when_a_document_changes(ekr: Ekr, tmp_path: Path) -> None:
    store, note, records = tmp_path / "store", tmp_path / "note.md", tmp_path / "records.jsonl"
    note.write_text("---\nperiod: victorian\nshelf: 4\n---\nThe mill had a store.\n", encoding="utf-8")
    records.write_text('{"id": "r1", "text": "The mill had a wheel."}\n', encoding="utf-8")
    told(ekr, "ingest", note, records, "--meta", "case=12", "--meta", "shelf=9", "--store", store)
    note.write_text("---\nperiod: modern\n---\nThe mill had a store and a wheel.\n", encoding="utf-8")
    records.write_text('{"id": "r1", "text": "The mill had two wheels."}\n', encoding="utf-8")
    assert told(ekr, "ingest", note, records, "--store", store)["updated"] == 2
    expected = {"period": "modern", "case": "12", "shelf": "9"}
    assert properties(ekr, store) == {"note.md": expected, "records.jsonl#r1": {"case": "12", "shelf": "9"}}
    assert told(ekr, "ingest", note, records, "--store", store)["unchanged"] == 2
    told(ekr, "ingest", note, "--meta", "case=13", "--meta", "shelf=", "--store", store)
    assert properties(ekr, store)["note.md"] == {"period": "modern", "case": "13"}
    assert told(ekr, "ingest", note, "--meta", "shelf=", "--store", store)["unchanged"] == 1


def test_compact_says_when_there_was_nothing_to_do(ekr: Ekr, store: Path) -> None:
    assert ekr("compact", "--if-needed", "--store", store).stdout == "Nothing to compact.\n"
    assert ekr("compact", "--store", store).stdout.startswith("From ")
