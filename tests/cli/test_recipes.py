"""`ekr recipes` as a real process."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Ekr


def test_the_table_names_every_recipe(ekr: Ekr) -> None:
    for arguments in (("recipes",), ("recipes", "list")):
        done = ekr(*arguments)
        assert all(name in done.stdout for name in ("hybrid_mix", "naive", "bypass", "CHUNK"))
    names = [row["name"] for row in json.loads(ekr("recipes", "list", "--json").stdout)]
    assert "hybrid_mix" in names


def test_show_prints_the_file_and_check_accepts_a_copy_of_it(ekr: Ekr, tmp_path: Path) -> None:
    shown = ekr("recipes", "show", "hybrid_mix").stdout
    (tmp_path / "mine.toml").write_text(shown, encoding="utf-8")
    assert ekr("recipes", "check", tmp_path / "mine.toml").returncode == 0


def test_check_names_the_line_and_the_nearest_valid_name(ekr: Ekr, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('name = "x"\nmethods = ["chnk"]\n', encoding="utf-8")
    done = ekr("recipes", "check", tmp_path / "bad.toml")
    assert done.returncode == 2
    assert "bad.toml:2:" in done.stderr
    assert "did you mean 'chunk'" in done.stderr


def test_the_table_shows_methods_steps_and_limit_and_tells_hybrid_from_hybrid(ekr: Ekr) -> None:
    done = ekr("recipes", env={"COLUMNS": "200"})
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "chunk, bm25; beside: local, global" in lines["hybrid_mix"]
    assert "20 chunks" in lines["hybrid_mix"]
    assert "walk: breadth_first, communities" in lines["graph_expand"]
    assert "HYBRID" in lines["entity_chunk"]
    (line,) = done.stderr.splitlines()
    assert "HYBRID is entities and passages, hybrid is the graph alone" in line
