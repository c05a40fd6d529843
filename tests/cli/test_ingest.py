"""`ekr ingest`, `documents`, `show`, `status`, `delete` as real processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NOTES, Ekr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A fresh folder of notes that a test may change."""
    for name, text in NOTES.items():
        file = tmp_path / "notes" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path / "notes"


def _ingest(ekr: Ekr, store: Path, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    done = ekr("ingest", *arguments, "--json", "--store", store)
    assert done.returncode == code, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def _status(ekr: Ekr, store: Path) -> dict[str, Any]:
    status: dict[str, Any] = json.loads(ekr("status", "--json", "--store", store).stdout)
    return status


def test_the_same_content_again_is_a_no_op(ekr: Ekr, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    assert _ingest(ekr, store, folder)["added"] == 3
    before = _status(ekr, store)
    again = _ingest(ekr, store, folder)
    assert (again["added"], again["updated"], again["unchanged"], again["generation"]) == (0, 0, 3, None)
    assert _status(ekr, store) == before


def test_changed_content_replaces_and_prune_removes_what_is_gone(ekr: Ekr, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    _ingest(ekr, store, folder)
    (folder / "engines.md").write_text("# Looms\n\nThe Jacquard loom wove silk from punched cards.\n", encoding="utf-8")
    (folder / "reglement.md").unlink()
    changed = _ingest(ekr, store, folder)
    assert (changed["updated"], changed["removed"]) == (1, 0)
    assert _status(ekr, store)["documents"] == 3
    pruned = _ingest(ekr, store, folder, "--prune")
    assert pruned["documents"]["removed"] == ["reglement.md"]
    found = ekr(
        "query", "mill", "--recipe", "hybrid_mix", "--set", "rerank=none", "--context-only", "--json", "--store", store
    )
    assert json.loads(found.stdout)["items"]
    assert "mill that" not in found.stdout
    assert _status(ekr, store)["documents"] == 2


def test_broken_files_are_named_with_their_reason_and_the_others_are_in(ekr: Ekr, folder: Path, tmp_path: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing here")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "legacy.txt").write_bytes("Le café de l'été, où l'on mangeait des crêpes à Noël.".encode("cp1252"))
    (folder / "notes.xyz").write_text("not supported", encoding="utf-8")
    (folder / ".hidden.md").write_text("# hidden", encoding="utf-8")
    (folder / "questions.jsonl").write_text('{"question": "Who?"}\n', encoding="utf-8")
    summary = _ingest(ekr, tmp_path / "s", folder, code=1)
    assert summary["added"] == 4
    assert {f["document"] for f in summary["failed"]} == {"broken.pdf", "empty.txt"}
    assert all(f["reason"] for f in summary["failed"])
    assert {s["document"] for s in summary["skipped"]} == {"notes.xyz", ".hidden.md", "questions.jsonl"}
    assert [w["document"] for w in summary["warnings"]] == ["legacy.txt"]


@pytest.mark.parametrize("name", ["notes.xyz", "missing.md", "questions.jsonl"])
def test_a_file_named_on_purpose_that_cannot_be_taken_is_an_error(
    ekr: Ekr, folder: Path, tmp_path: Path, name: str
) -> None:
    (folder / "notes.xyz").write_text("x", encoding="utf-8")
    (folder / "questions.jsonl").write_text('{"question": "Who?"}\n', encoding="utf-8")
    summary = _ingest(ekr, tmp_path / "s", folder / name, code=1)
    assert len(summary["failed"]) == 1
    assert summary["added"] == 0


def test_several_processes_read_what_one_reads(ekr: Ekr, folder: Path, tmp_path: Path) -> None:
    one = _ingest(ekr, tmp_path / "one", folder)
    two = _ingest(ekr, tmp_path / "two", folder, "--jobs", "2")
    for summary in (one, two):
        # A slow machine publishes what it has on the way.
        del summary["timings"], summary["generation"]
    assert one == two


def test_a_dry_run_reports_and_writes_nothing(ekr: Ekr, folder: Path, tmp_path: Path) -> None:
    summary = _ingest(ekr, tmp_path / "s", folder, "--dry-run")
    assert (summary["added"], summary["dry_run"], summary["generation"]) == (3, True, None)
    assert not (tmp_path / "s").exists()


def test_a_dry_run_names_what_would_be_removed_and_removes_nothing(ekr: Ekr, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    records = folder / "records.jsonl"
    records.write_text("".join(f'{{"id": "r{n}", "text": "Record {n} of the mill."}}\n' for n in range(2)))
    _ingest(ekr, store, folder, "--extractor", "none")
    before = _status(ekr, store)
    (folder / "reglement.md").unlink()
    (folder / "engines.md").write_bytes(b"")
    records.write_text('{"id": "r1", "text": "Record 1 of the mill."}\n')
    gone = ["records.jsonl#r0", "reglement.md"]
    plan = _ingest(ekr, store, folder, "--prune", "--dry-run", code=1)
    assert (plan["removed"], sorted(plan["documents"]["removed"])) == (2, gone)
    assert _ingest(ekr, store, folder, "--dry-run", code=1)["removed"] == 0
    shown = ekr("ingest", folder, "--prune", "--dry-run", "--store", store).stdout
    assert "  would be removed: reglement.md\n" in shown
    assert _status(ekr, store) == before
    assert sorted(_ingest(ekr, store, folder, "--prune", code=1)["documents"]["removed"]) == gone


def test_records_of_a_jsonl_file_are_documents_with_their_own_ids(ekr: Ekr, tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    rows = [
        {"id": 7, "title": "Boole", "text": "George Boole taught himself mathematics.", "century": 19},
        {"id": "h", "title": "Hollerith", "text": "Herman Hollerith built a tabulating machine."},
    ]
    file.write_text("\n".join([*map(json.dumps, rows), "{broken", json.dumps(rows[0])]), encoding="utf-8")
    summary = _ingest(ekr, tmp_path / "s", file, code=1)
    assert summary["documents"]["added"] == ["corpus.jsonl#7", "corpus.jsonl#h"]
    assert len(summary["failed"]) == 2
    done = ekr(
        "query", "tabulating machine", "--set", "rerank=none", "--context-only", "--json", "--store", tmp_path / "s"
    )
    first = json.loads(done.stdout)["items"][0]
    assert (first["document"], first["document_id"]) == ("corpus.jsonl#h", "h")
    filtered = ekr(
        "query",
        "who",
        "--where",
        "century=19",
        "--set",
        "rerank=none",
        "--context-only",
        "--json",
        "--store",
        tmp_path / "s",
    )
    assert [i["document_id"] for i in json.loads(filtered.stdout)["items"] if i["type"] == "chunk"] == ["7"]


def test_properties_given_again_with_another_value_update_the_document(ekr: Ekr, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    assert _ingest(ekr, store, folder, "--meta", "case=12")["added"] == 3
    assert _ingest(ekr, store, folder, "--meta", "case=12")["unchanged"] == 3
    assert _ingest(ekr, store, folder, "--meta", "case=13")["updated"] == 3
    listed = json.loads(ekr("documents", "--json", "--store", store).stdout)
    assert {row["metadata"]["case"] for row in listed} == {"13"}


def test_show_prints_a_document_or_a_chunk(ekr: Ekr, notes_store: Path) -> None:
    whole = ekr("show", "people/lovelace.txt", "--store", notes_store)
    assert whole.stdout.startswith("Ada Lovelace worked with Charles Babbage")
    found = ekr("query", "mill", "--set", "rerank=none", "--context-only", "--json", "--store", notes_store)
    item = json.loads(found.stdout)["items"][0]
    chunk = ekr("show", item["document"], "--chunk", item["id"], "--store", notes_store)
    assert chunk.stdout.strip() == item["text"].strip()
    missing = ekr("show", "engines.md", "--page", "2", "--store", notes_store)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "has no pages" in missing.stderr


def test_delete_removes_a_document_and_names_one_that_is_not_there(ekr: Ekr, folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    _ingest(ekr, store, folder)
    wrong = ekr("delete", "nothing.md", "engines.md", "--store", store)
    assert wrong.returncode == 2
    assert _status(ekr, store)["documents"] == 3
    assert json.loads(ekr("delete", "engines.md", "--json", "--store", store).stdout) == {"removed": ["engines.md"]}
    assert _status(ekr, store)["documents"] == 2
    assert ekr("delete", "people/*", "reglement.md", "--store", store).returncode == 0
    assert (_status(ekr, store)["documents"], _status(ekr, store)["chunks"]) == (0, 0)


def test_the_status_of_an_empty_store_is_zeros(ekr: Ekr, tmp_path: Path) -> None:
    status = _status(ekr, tmp_path / "none")
    assert [status[k] for k in ("documents", "chunks", "entities", "relations", "communities")] == [0] * 5
    assert status["generation"] is None
