"""`ekr query` as a real process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from tests.conftest import Ekr

SCHEMA = json.loads((resources.files("ekr") / "schema" / "query.json").read_text(encoding="utf-8"))
RETRIEVE = ("--context-only", "--set", "rerank=none")


def test_json_is_one_documented_object_and_nothing_else(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("query", "What had the Analytical Engine for numbers?", *RETRIEVE, "--json", "--store", notes_store)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    jsonschema.validate(result, SCHEMA)
    assert done.stdout.count("\n") == 1
    assert result["answer"] is None
    assert result["degraded"] == []
    first = result["items"][0]
    assert (first["document"], first["document_id"]) == ("engines.md", "engines.md")
    assert first["heading"] == "Engines > The Analytical Engine"
    assert "a store for numbers" in first["text"]
    assert first["text"] in first["parent"]["text"]
    assert first["page_start"] is None


def test_people_see_document_heading_and_snippet_and_stderr_says_recipe_and_time(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("query", "Bernoulli numbers", *RETRIEVE, "--store", notes_store)
    assert "lovelace.txt" in done.stdout
    assert "hybrid_mix ·" in done.stderr
    quiet = ekr("query", "Bernoulli numbers", *RETRIEVE, "--quiet", "--store", notes_store)
    assert quiet.stderr == ""
    assert quiet.stdout == done.stdout


def test_explain_shows_the_lists_and_the_arithmetic_of_fusion(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("query", "Bernoulli numbers", *RETRIEVE, "--explain", "--store", notes_store)
    assert "1/(60+1) bm25 + 1/(60+1) chunk" in done.stdout
    assert "timings:" in done.stdout


@pytest.mark.parametrize(
    "question",
    [
        'l\'article 6(1): "haut risque" -foo AND (bar',
        "fish days:",
        "https://example.org/a?b=c#d",
        "[red]x[/] \x1b[31m",
        "研究所はどこにありますか。",
        "réglement " * 1000,
    ],
)
def test_any_string_is_a_valid_question(ekr: Ekr, notes_store: Path, question: str) -> None:
    done = ekr("query", question, *RETRIEVE, "--json", "--store", notes_store)
    assert done.returncode == 0, done.stderr
    jsonschema.validate(json.loads(done.stdout), SCHEMA)


def test_accents_and_apostrophes_do_not_hide_a_passage(ekr: Ekr, notes_store: Path) -> None:
    for question in ("sanctions du réglement", "sanctions du re\u0300glement", "l\u2019accès à la société"):
        done = ekr("query", question, "--recipe", "hybrid_mix", *RETRIEVE, "--json", "--store", notes_store)
        assert json.loads(done.stdout)["items"][0]["document"] == "reglement.md"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("",), "the question is empty"),
        (("   ",), "the question is empty"),
        (("x", "--recipe", "hybrid_mixx"), "did you mean 'hybrid_mix'"),
        (("x", "--set", "rrf_kk=3"), "did you mean 'rrf_k'"),
        (("x", "--set", "rrf_k"), "--set takes key=value"),
        (("x", "--set", "rrf_k=zero"), "rrf_k"),
        (("x", "--recipe", "bypass", "--document", "a*"), "can't be filtered"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_code_2(
    ekr: Ekr, notes_store: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = ekr("query", *arguments, "--context-only", "--json", "--store", notes_store)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("limit", ["0", "-3", "many"])
def test_a_limit_that_is_no_positive_number_is_a_usage_error(ekr: Ekr, notes_store: Path, limit: str) -> None:
    done = ekr("query", "x", "--limit", limit, "--context-only", "--store", notes_store)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_empty_store_is_a_one_line_error_that_says_what_to_do(ekr: Ekr, tmp_path: Path) -> None:
    done = ekr("query", "x", "--context-only", "--store", tmp_path / "none")
    assert done.returncode == 1
    assert "ekr ingest" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "none").exists()


def test_bypass_retrieves_nothing_and_that_is_no_error(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("query", "x", "--recipe", "bypass", "--context-only", "--json", "--store", notes_store)
    assert done.returncode == 0
    assert json.loads(done.stdout)["items"] == []


def test_filters_leave_only_what_they_allow(ekr: Ekr, notes_store: Path) -> None:
    def documents(*filters: str) -> set[str]:
        done = ekr("query", "the engine", *filters, *RETRIEVE, "--json", "--store", notes_store)
        assert done.returncode == 0, done.stderr
        items = json.loads(done.stdout)["items"]
        places = [item for item in items if item["type"] == "chunk"]
        places += [place for item in items for place in item.get("evidence", [])]
        return {place["document"] for place in places}

    assert documents("--document", "people/*") == {"people/lovelace.txt"}
    assert documents("--where", "period=victorian") == {"engines.md"}


def test_a_filter_that_matches_nothing_is_an_honest_empty_result_that_names_it(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("query", "x", "--document", "none/*", "--context-only", "--json", "--store", notes_store)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["items"] == []
    assert any("none/*" in note for note in result["trace"]["notes"])


def test_questions_from_standard_input_give_one_line_each_in_order(ekr: Ekr, notes_store: Path) -> None:
    lines = 'Bernoulli numbers\n\n{"question": "horaires des salles", "id": 7}\n{"question": ""}\n{"id": 3}\n'
    done = ekr("query", "-", *RETRIEVE, "--store", notes_store, input=lines)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r.get("question") for r in results[:2]] == ["Bernoulli numbers", "horaires des salles"]
    assert results[0]["items"][0]["document"] == "people/lovelace.txt"
    assert results[2]["error"]["type"] == "UsageError"
    assert results[3]["error"]["message"] == "a JSON line needs a text field `question`"
    assert len(results) == 4
    assert done.returncode == 1


def test_a_closed_pipe_ends_the_command_without_a_word(notes_store: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "ekr", "documents", "--store", str(notes_store)]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_talk_that_nobody_hears_stops_no_work(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "ekr", "ingest", tmp_path, "--dry-run", "--json", "--store", tmp_path / "s"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writer, text=True, check=False)
    os.close(writer)
    assert (done.returncode, len(json.loads(done.stdout)["failed"])) == (1, 1)


def test_a_pipe_that_is_closed_in_the_middle_ends_the_command_without_a_word(notes_store: Path) -> None:
    # More than a pipe holds, so that some of it is written after `head` has gone.
    questions = f"{'mill ' * 3000}\n" * 10
    query = f"'{sys.executable}' -m ekr query - --recipe bypass --context-only --store '{notes_store}'"
    piped = f"{query} | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", piped], input=questions, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


@pytest.mark.parametrize("env", [{"NO_COLOR": "1", "COLUMNS": "40"}, {"LANG": "C", "LC_ALL": "C"}, {"TERM": "dumb"}])
def test_narrow_colourless_and_plain_terminals_work(ekr: Ekr, notes_store: Path, env: dict[str, str]) -> None:
    done = ekr("query", "règlement", *RETRIEVE, "--store", notes_store, env=env)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    if "COLUMNS" in env:
        assert max(map(len, done.stdout.splitlines())) <= 40


@pytest.mark.parametrize("columns", ["1", "5"])
def test_a_terminal_too_narrow_for_a_table_still_shows_words(ekr: Ekr, notes_store: Path, columns: str) -> None:
    shown = ekr("documents", "--store", notes_store, env={"COLUMNS": columns}).stdout
    assert "engine" in shown
    assert all(line.strip() for line in shown.splitlines())


def test_a_value_that_the_recipe_never_reads_is_said_to_be(ekr: Ekr, notes_store: Path) -> None:
    arguments = ("query", "x", "--recipe", "chunk", "--set", "pagerank_weight=2", "--context-only", "--json")
    done = ekr(*arguments, "--store", notes_store)
    assert done.returncode == 0
    assert done.stderr == "ekr: pagerank_weight has no effect: the recipe chunk has no walk pagerank\n"
    assert ekr(*arguments, "-q", "--store", notes_store).stderr == ""


def test_a_store_can_be_moved_and_lie_on_a_path_with_spaces_and_accents(
    ekr: Ekr, notes_store: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "mes données à moi"
    shutil.copytree(notes_store, moved)
    done = ekr("query", "Bernoulli", *RETRIEVE, "--json", "--store", moved)
    assert json.loads(done.stdout)["items"][0]["document"] == "people/lovelace.txt"


@pytest.mark.parametrize(
    ("recipe", "types"),
    [
        ("HYBRID", {"chunk", "entity"}),
        ("GRAPH_EXPAND", {"entity", "relation", "community"}),
        ("THEMATIC", {"community"}),
        ("hybrid_mix", {"chunk", "entity", "relation"}),
        ("multihop", {"chunk", "entity"}),
    ],
)
def test_items_are_typed_and_fit_the_schema(ekr: Ekr, notes_store: Path, recipe: str, types: set[str]) -> None:
    question = "Who worked with Charles Babbage on the Analytical Engine?"
    done = ekr("query", question, "--recipe", recipe, *RETRIEVE, "--json", "--store", notes_store)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    jsonschema.validate(result, SCHEMA)
    assert result["degraded"] == []
    assert {item["type"] for item in result["items"]} == types


def test_explain_of_a_graph_recipe_names_keywords_lists_and_steps(ekr: Ekr, notes_store: Path) -> None:
    question = "Who worked with Charles Babbage?"
    done = ekr("query", question, "--recipe", "hybrid_mix", *RETRIEVE, "--explain", "--store", notes_store)
    for shown in (
        "low-level Charles Babbage",
        "local: ",
        "(relation)",
        "beside: ",
        "neighbours: ",
        "cut: ",
        "timings:",
    ):
        assert shown in done.stdout
    walked = ekr("query", question, "--recipe", "GRAPH_EXPAND", *RETRIEVE, "--explain", "--store", notes_store)
    assert "walk breadth_first: " in walked.stdout
    assert "communities: " in walked.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--label", "Person"), "recipe hybrid_mix can't use --label"),
        (("--relation", "WORK_WITH"), "recipe hybrid_mix can't use --relation"),
        (("--recipe", "ENTITY", "--label", "Persn"), "did you mean 'Person'?"),
    ],
)
def test_a_filter_that_cannot_apply_is_one_line_and_exit_code_2(
    ekr: Ekr, notes_store: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = ekr("query", "x", *arguments, "--context-only", "--json", "--store", notes_store)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_labels_leave_only_entities_that_have_one(ekr: Ekr, notes_store: Path) -> None:
    done = ekr(
        "query", "engines and people", "--recipe", "ENTITY", "--label", "person", "--context-only", "--json",
        "--store", notes_store,
    )  # fmt: skip
    items = json.loads(done.stdout)["items"]
    assert items
    assert all("Person" in item["labels"] for item in items)


def test_a_question_that_is_not_utf_8_is_a_usage_error(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("query", os.fsdecode(b"caf\xe9 volcan"), *RETRIEVE, "--store", notes_store)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ekr: the question is not valid UTF-8\n"


@pytest.mark.parametrize("env", [{}, {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_a_line_that_is_not_utf_8_costs_only_itself(ekr: Ekr, notes_store: Path, env: dict[str, str]) -> None:
    lines = 'Bernoulli \udcff\udcfe\n{"question": "\\ud800 x"}\nrèglement\n'
    raw = {"encoding": "utf-8", "errors": "surrogateescape"}
    done = ekr("query", "-", *RETRIEVE, "--store", notes_store, input=lines, env=env, **raw)
    first, second, third = (json.loads(line) for line in done.stdout.splitlines())
    for failed in (first, second):
        assert failed["error"] == {"type": "UsageError", "message": "the question is not valid UTF-8"}
        assert failed["question"].encode()
    assert first["question"] == "Bernoulli \ufffd\ufffd"
    assert third["question"] == "règlement"
    assert third["items"][0]["document"] == "reglement.md"
    assert done.returncode == 1


@pytest.mark.parametrize("option", ["--reranker", "--generator"])
def test_an_unknown_model_is_a_usage_error_that_names_the_known_ones(ekr: Ekr, notes_store: Path, option: str) -> None:
    done = ekr("query", "x", option, "nosuch", "--context-only", "--json", "--store", notes_store)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"unknown {option[2:]} 'nosuch'; there are " in done.stderr
    by_setting = ekr("query", "x", "--store", notes_store, env={f"EKR_{option[2:].upper()}": "nosuch"})
    assert by_setting.returncode == 2


def test_people_see_the_best_entities_and_relations_and_how_many_more_there_are(ekr: Ekr, notes_store: Path) -> None:
    asked = ("query", "Who worked with Charles Babbage on the Analytical Engine?", *RETRIEVE, "--store", notes_store)
    items = json.loads(ekr(*asked, "--json").stdout)["items"]
    lines = ekr(*asked, env={"COLUMNS": "400"}).stdout.splitlines()
    counts = {kind: sum(item["type"] == kind for item in items) for kind in ("chunk", "entity", "relation")}
    assert max(counts["entity"], counts["relation"]) > 5
    shown = {kind: sum(f" {kind} " in line for line in lines[1:-1]) for kind in counts}
    assert shown == {kind: count if kind == "chunk" else min(5, count) for kind, count in counts.items()}
    more = sum(counts.values()) - sum(shown.values())
    assert lines[-1] == f"{more} more (--json or --explain shows them)"
    assert len(lines) == 2 + sum(shown.values())
