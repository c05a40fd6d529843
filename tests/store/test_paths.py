"""A store lies where its path says, for every engine, or the path is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ekr import Engine
from ekr.config import Settings
from ekr.errors import StoreError
from ekr.store import Store
from ekr.store.backup import backup
from ekr.store.check import check
from tests.store.builders import MANIFEST, contents, ingest, numbered

ODD = ["md:x", "s3:x", "file:x", ":memory:", "~x", "a%20b#c", "it's [x]*", "{a}", "n\u00a0b", "~/st"]


def files(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file() and "lock" not in file.name}


@pytest.mark.parametrize("name", ODD)
def test_a_relative_path_of_any_name_is_a_directory_here(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    plain = Store(home / "st")
    ingest(plain, numbered(1))
    before = files(home)
    store = Store(Path(name))
    ingest(store, numbered(1), numbered(2))
    with store.writer(MANIFEST) as writer:
        writer.delete([numbered(2).record.id])
        writer.compact()
    assert check(store) == []
    assert contents(store) == contents(plain)
    assert (here / name / "generations" / "2" / "graph.duckdb").is_file()
    assert files(home) == before


@pytest.mark.parametrize("name", ["a\\b", "a\nb", "a\tb", "\x01", "a?b", "caf\udce9"])
def test_a_name_that_the_engines_read_differently_is_refused_in_one_line(
    name: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    neighbour = Store(tmp_path / "a" / "b")
    ingest(neighbour, numbered(1))
    ingest(store, numbered(1))
    before = sorted(tmp_path.iterdir())
    for attempt in (
        lambda: Engine.open(name),
        lambda: Engine.open(tmp_path / name / ".ekr"),
        lambda: backup(store, tmp_path / name),
    ):
        with pytest.raises(StoreError, match="holds a backslash, a question mark") as raised:
            attempt()
        assert "\n" not in str(raised.value)
        str(raised.value).encode()
    assert sorted(tmp_path.iterdir()) == before


def test_a_tilde_in_the_settings_is_the_home_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EKR_STORE", "~/.st")
    assert Settings().store == tmp_path / ".st"
    assert Settings(store=Path("~/other")).store == tmp_path / "other"
    assert Settings(store=Path("~nobody-of-this-name")).store == Path("~nobody-of-this-name")
    assert Settings(store=Path("a/~")).store == Path("a/~")
