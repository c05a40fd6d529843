"""Which files an ingest takes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ekr.reading.files import Discovery, discover
from ekr.store import Store
from tests.store.builders import document, ingest


def put(folder: Path, *names: str, text: str = "words\n") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(discovery: Discovery) -> list[str]:
    return [file.display for file in discovery.files]


def reasons(discovery: Discovery) -> dict[str, str]:
    return {skipped.display: skipped.reason for skipped in discovery.skipped}


def test_a_folder_is_walked_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    put(tmp_path, "b.md", "a.txt", "sub/c.html", "sub/deep/d.PDF", ".hidden.md", ".git/x.md", "image.png", "noext")
    put(tmp_path, "q.jsonl", text='{"question": "Who?"}\n')
    put(tmp_path, "docs.jsonl", text='{"id": 1, "text": "x"}\n')
    discovery = discover([tmp_path])
    assert found(discovery) == ["a.txt", "b.md", "docs.jsonl", "sub/c.html", "sub/deep/d.PDF"]
    assert reasons(discovery) == {
        ".hidden.md": "hidden",
        ".git/": "hidden",
        "image.png": "unsupported type .png",
        "noext": "unsupported type (no suffix)",
        "q.jsonl": "question file",
    }
    assert discovery.errors == []
    assert not any(file.explicit for file in discovery.files)
    assert all(file.path.is_absolute() for file in discovery.files)


def test_named_themselves_the_same_files_are_errors(tmp_path: Path) -> None:
    put(tmp_path, "image.png", ".hidden.md", "a.md", "draft.md")
    put(tmp_path, "q.jsonl", text='{"question": "Who?"}\n')
    put(tmp_path, ".ekrignore", text="draft.md\n")
    names = ["image.png", ".hidden.md", "q.jsonl", "draft.md", "a.md", "missing.md"]
    discovery = discover([tmp_path / name for name in names])
    assert [(file.display, file.explicit) for file in discovery.files] == [("a.md", True)]
    assert [error.reason for error in discovery.errors] == [
        "unsupported type .png",
        "hidden",
        "question file",
        "named in .ekrignore",
        "no such file or folder",
    ]
    assert discovery.skipped == []


def test_ignore_files_follow_gitignore_at_every_level(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "build/x.md", "sub/keep.md", "sub/drop.md", "sub/more/drop.md", "top.md", "sub/top.md")
    put(tmp_path, ".ekrignore", text="# comment\nbuild/\ndrop.md\n/top.md\n")
    put(tmp_path, "sub/.ekrignore", text="!drop.md\n")
    discovery = discover([tmp_path])
    assert found(discovery) == ["a.md", "sub/drop.md", "sub/keep.md", "sub/top.md", "sub/more/drop.md"]
    assert reasons(discovery)["build/"] == "named in .ekrignore"


def test_a_store_among_the_documents_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "a.txt")
    ingest(Store(tmp_path / "kept"), document("/corpus/b.txt", "One."))
    put(tmp_path / "kept", "notes.txt")
    discovery = discover([tmp_path])
    assert found(discovery) == ["a.txt"]
    assert reasons(discovery) == {"kept/": "a store of ekr"}
    assert [(e.where, e.reason) for e in discover([tmp_path / "kept"]).errors] == [
        (str(tmp_path / "kept"), "a store of ekr")
    ]


def test_an_empty_path_is_not_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.txt")
    monkeypatch.chdir(tmp_path)
    discovery = discover(["", "a.txt"])
    assert found(discovery) == ["a.txt"]
    assert [error.where for error in discovery.errors] == ["''"]


def test_excluded_patterns_are_skipped(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "b.html", "drafts/c.md", "x/drafts/d.md")
    discovery = discover([tmp_path], exclude=["*.html", "drafts/"])
    assert found(discovery) == ["a.md"]
    assert set(reasons(discovery).values()) == {"excluded"}


def test_a_glob_that_the_shell_left_alone_is_expanded(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "b.txt", "sub/c.md", "sub/d.png")
    assert found(discover([f"{tmp_path}/*.md"])) == ["a.md"]
    assert found(discover([f"{tmp_path}/**/*.md"])) == ["a.md", "sub/c.md"]
    everything = discover([f"{tmp_path}/**/*"])
    assert found(everything) == ["a.md", "b.txt", "sub/c.md"]
    assert reasons(everything) == {"sub/d.png": "unsupported type .png"}
    assert discover([f"{tmp_path}/*.docx"]).errors[0].reason == "no file matches"


def test_a_name_that_looks_like_a_glob_is_taken_as_it_is(tmp_path: Path) -> None:
    put(tmp_path, "notes [1].md")
    assert found(discover([tmp_path / "notes [1].md"])) == ["notes [1].md"]


def test_the_same_file_under_links_and_twice_named_counts_once(tmp_path: Path) -> None:
    put(tmp_path, "real/a.md")
    (tmp_path / "link.md").symlink_to(tmp_path / "real" / "a.md")
    (tmp_path / "other").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "loop").symlink_to(tmp_path)
    discovery = discover([tmp_path, tmp_path / "real", tmp_path / "real" / "a.md"])
    assert [file.path for file in discovery.files] == [(tmp_path / "real" / "a.md").resolve()]
    assert discovery.errors == []


def test_broken_and_circular_links_are_named(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere.md")
    (tmp_path / "self.md").symlink_to(tmp_path / "self.md")
    put(tmp_path, "a.md")
    discovery = discover([tmp_path])
    assert found(discovery) == ["a.md"]
    assert len(discovery.errors) == 2


def test_odd_names_are_shown_on_one_line(tmp_path: Path) -> None:
    put(tmp_path, "two\nlines.md", "e\u0301te\u0301.md")
    discovery = discover([tmp_path])
    assert sorted(found(discovery)) == ["two\\nlines.md", "été.md"]
    assert all(file.path.is_file() for file in discovery.files)


def test_a_name_that_is_not_utf8_is_reported_and_the_rest_goes_in(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes only valid names")
    discovery = discover([tmp_path])
    assert found(discovery) == ["a.md"]
    (error,) = discovery.errors
    assert "not valid UTF-8" in error.reason
    error.where.encode("utf-8")


def test_a_folder_named_like_a_file_is_a_folder_and_a_pipe_is_no_file(tmp_path: Path) -> None:
    put(tmp_path, "notes.md/inner.md")
    os.mkfifo(tmp_path / "pipe.md")
    discovery = discover([tmp_path])
    assert found(discovery) == ["notes.md/inner.md"]
    assert [error.reason for error in discovery.errors] == ["not a regular file"]
