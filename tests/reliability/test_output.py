"""What reaches the terminal, and what lies beside the documents, is never obeyed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Ekr

ESCAPES = "\x1b[31m\x1b]0;owned\x07\x1b[2J\x9b1m\u202eevil\u202c"
MARKUP = "[red]alarm[/red] [/] [link=http://example.org]here[/link]"


@pytest.fixture(scope="module")
def store(ekr: Ekr, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Escape sequences, control characters and Rich markup in name, title, heading and text."""
    folder = tmp_path_factory.mktemp("output")
    text = f"# The {MARKUP} {ESCAPES} mill\n\nThe mill {ESCAPES} ground {MARKUP} corn for Ada Brandt in Lisbon.\n"
    (folder / "notes").mkdir()
    (folder / "notes" / f"mill \x1b[31m {MARKUP.replace('/', '')}.md").write_text(text, encoding="utf-8")
    (folder / "notes" / "broken \x1b[2J.pdf").write_bytes(b"%PDF-1.7 \x1b[31m nothing")
    done = ekr("ingest", folder / "notes", "--store", folder / "store")
    assert done.returncode == 1
    harmless(done.stdout + done.stderr)
    return folder / "store"


def harmless(shown: str) -> None:
    assert not [c for c in shown if c in "\x1b\x07\x9b\u202e\u202c\r"]


@pytest.mark.parametrize(
    "command",
    [
        ("documents",),
        ("show", "mill*"),
        ("query", "What did the mill grind?", "--context-only", "--set", "rerank=none"),
        ("query", "What did the mill grind?", "--context-only", "--set", "rerank=none", "--explain"),
        ("graph",),
        ("doctor",),
        ("delete", "\x1b[31m[red]nobody[/red]"),
        ("query", "Who?", "--recipe", "\x1b[31m[red]"),
        ("query", "Who?", "--document", "\x1b[31m[red]*", "--context-only", "--set", "rerank=none"),
    ],
)
def test_escape_sequences_and_markup_are_shown_as_text(ekr: Ekr, store: Path, command: tuple[str, ...]) -> None:
    done = ekr(*command, "--store", store, env={"FORCE_COLOR": "", "COLUMNS": "400"})
    harmless(done.stdout + done.stderr)
    if command[0] in ("documents", "show"):
        assert "[red]alarm[/red] [/]" in done.stdout


def test_piped_output_has_no_progress_bar_and_stdout_only_data(ekr: Ekr, notes: Path, tmp_path: Path) -> None:
    done = ekr("ingest", notes, "--store", tmp_path / "s", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    assert json.loads(done.stdout)["added"] == 3


def test_unknown_options_are_errors_and_errors_have_no_traceback(ekr: Ekr, tmp_path: Path) -> None:
    for command in (("status", "--stroe", "x"), ("ingest", "--metta", "a=b", "."), ("frobnicate",)):
        done = ekr(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "CURRENT").mkdir()
    done = ekr("status", "--store", tmp_path / "s")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)


def test_files_beside_the_documents_configure_nothing(ekr: Ekr, tmp_path: Path) -> None:
    """Only the user's own configuration counts: a folder from elsewhere cannot choose models or run anything."""
    other = tmp_path / "other"
    for name in ("config.toml", "ekr.toml", ".ekr.toml", "pyproject.toml"):
        (tmp_path / name).write_text(f'store = "{other}"\ngenerator = "http://localhost:9/v1"\n[tool.ekr]\n')
    (tmp_path / ".env").write_text(f"EKR_STORE={other}\nEKR_GENERATOR=http://localhost:9/v1\n")
    (tmp_path / "ekr.py").write_text("raise SystemExit('code of the folder ran')\n")
    (tmp_path / "note.md").write_text("# Note\n\nThe mill ground corn.\n")
    done = ekr("status", "--json", cwd=tmp_path, env={"PYTHONSAFEPATH": "1"})
    assert (done.returncode, json.loads(done.stdout)["store"]) == (0, ".ekr")
