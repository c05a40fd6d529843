"""Only the user's own file, variables and flags are settings: a folder from elsewhere chooses and runs nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ekr.config import Settings

PRINT_SETTINGS = "from ekr.config import Settings; print(Settings().model_dump_json())"


def hostile_values(folder: Path) -> dict[str, object]:
    """Another value for every setting there is."""
    values: dict[str, object] = {}
    for name, field in Settings.model_fields.items():
        number = name in {"threads", "seed"}
        values[name] = (
            7 if number else str(folder / "other") if "Path" in str(field.annotation) else "http://[::1]:9/v1"
        )
    return values


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of documents with every file in it that might be taken for configuration, and a module in ekr's name."""
    values = hostile_values(tmp_path)
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
    tables = f"{lines}[ekr]\n{lines}[tool.ekr]\n{lines}"
    for name in ("config.toml", "ekr.toml", ".ekr.toml", "pyproject.toml", ".ekr/config.toml", "ekr/config.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(tables)
    for name in (".env", ".ekr.env"):
        (tmp_path / name).write_text("".join(f"EKR_{key.upper()}={value}\n" for key, value in values.items()))
    (tmp_path / "recipes.toml").write_text('[mine]\nextends = "hybrid_mix"\n')
    for name in ("sitecustomize.py", "typer.py", "conftest.py"):
        (tmp_path / name).write_text("raise SystemExit('code of the folder ran')\n")
    (tmp_path / "note.md").write_text("# Note\n\nThe mill ground corn.\n")
    return tmp_path


def settings_in(folder: Path, **variables: str) -> dict[str, object]:
    # -P: what stands in the working directory is no module, as for the installed command.
    command = [sys.executable, "-P", "-c", PRINT_SETTINGS]
    env = {**os.environ, **variables}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True)
    settings: dict[str, object] = json.loads(done.stdout)
    return settings


def test_no_file_beside_the_documents_changes_a_setting(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert settings_in(folder) == settings_in(elsewhere)
    # The same values, where the user's own file is: that they would be taken is what the test rests on.
    (elsewhere / "ekr").mkdir()
    (elsewhere / "ekr" / "config.toml").write_bytes((folder / "config.toml").read_bytes())
    taken = settings_in(folder, XDG_CONFIG_HOME=str(elsewhere))
    set_by_variables = {name for name in Settings.model_fields if f"EKR_{name.upper()}" in os.environ}
    expected = hostile_values(folder)
    assert {name for name in expected if taken[name] != expected[name]} == set_by_variables


def test_the_installed_command_runs_no_code_of_the_folder_and_ingests_it_with_the_users_models(folder: Path) -> None:
    command = [Path(sys.executable).with_name("ekr"), "ingest", ".", "--extractor", "none", "--json"]
    if not command[0].exists():
        pytest.skip("the command is not installed beside this Python")
    done = subprocess.run(
        [*command, "--store", "s"], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["documents"]["added"] == ["note.md"]
    status = subprocess.run(
        [command[0], "status", "--json", "--store", "s"], cwd=folder, capture_output=True, text=True, check=True
    )
    facts = json.loads(status.stdout)
    assert facts["embedder"] == Settings().embedder
    recipes = [command[0], "recipes", "list", "--json"]
    listed = subprocess.run(recipes, cwd=folder, capture_output=True, text=True, check=True)
    assert "mine" not in listed.stdout
