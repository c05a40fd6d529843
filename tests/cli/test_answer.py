"""An answer from end to end, with the default generator and re-ranker."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from tests.conftest import Ekr

SCHEMA = json.loads((resources.files("ekr") / "schema" / "query.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.models


def test_an_answer_cites_a_passage_that_was_in_the_context(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("query", "Which numbers does Note G compute?", "--json", "--store", notes_store)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    jsonschema.validate(result, SCHEMA)
    assert result["degraded"] == []
    assert "Bernoulli" in result["answer"]
    assert result["grounded"]
    cited = [r for r in result["references"] if r["cited"]]
    assert "people/lovelace.txt" in {r["document"] for r in cited}
    assert all(f"[{r['id']}]" in result["answer"] for r in cited)


def test_a_question_that_the_documents_do_not_answer_is_refused(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("query", "What is the capital of Australia?", "--json", "--store", notes_store)
    result = json.loads(done.stdout)
    assert result["refused"]
    assert "Canberra" not in result["answer"]


def test_bypass_asks_the_model_alone(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("query", "What is two plus two?", "--recipe", "bypass", "--json", "--store", notes_store)
    result = json.loads(done.stdout)
    jsonschema.validate(result, SCHEMA)
    assert result["answer"]
    assert (result["grounded"], result["references"], result["items"]) == (False, [], [])


def test_without_its_models_an_answer_is_a_one_line_error_naming_the_pull(
    ekr: Ekr, notes_store: Path, tmp_path: Path
) -> None:
    done = ekr("query", "x", "--recipe", "bypass", "--store", notes_store, env={"EKR_CACHE_DIR": str(tmp_path)})
    assert done.returncode == 1
    assert "ekr models pull qwen2.5-coder-1.5b" in done.stderr
    assert done.stderr.count("\n") == 1
