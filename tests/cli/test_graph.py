"""`ekr graph` as a real process."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.conftest import Ekr

NAMESPACE = {"g": "http://graphml.graphdrawing.org/xmlns"}


def test_the_overview_counts_and_names_the_best_linked(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("graph", "--store", notes_store)
    assert done.returncode == 0, done.stderr
    assert "Charles Babbage" in done.stdout
    facts = json.loads(ekr("graph", "--json", "--store", notes_store).stdout)
    status = json.loads(ekr("status", "--json", "--store", notes_store).stdout)
    for name in ("entities", "relations", "communities"):
        assert facts[name] == status[name] > 0
    ranks = [entity["pagerank"] for entity in facts["top_entities"]]
    assert ranks == sorted(ranks, reverse=True)
    sizes = [community["size"] for community in facts["largest_communities"]]
    assert sizes == sorted(sizes, reverse=True)


def test_show_prints_an_entity_with_its_relations_and_pages(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("graph", "show", "charles babbage", "--store", notes_store)
    assert done.returncode == 0, done.stderr
    assert "Charles Babbage (Person" in done.stdout
    assert "lovelace.txt" in done.stdout
    (found,) = json.loads(ekr("graph", "show", "Charles Babbage", "--json", "--store", notes_store).stdout)
    assert found["relations"]
    assert all("Charles Babbage" in (r["source"], r["target"]) for r in found["relations"])
    assert {place["document"] for place in found["evidence"]} <= {"engines.md", "people/lovelace.txt"}


def test_an_unknown_entity_is_a_usage_error_that_names_the_nearest(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("graph", "show", "Charles Babage", "--store", notes_store)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "did you mean 'Charles Babbage'?" in done.stderr


def test_a_part_of_a_name_is_answered_with_the_whole_name(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("graph", "show", "Charles", "--store", notes_store)
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'Charles Babbage'?" in done.stderr
    assert "did you mean 'Ada Lovelace'?" in ekr("graph", "show", "Ada", "--store", notes_store).stderr
    assert "did you mean" not in ekr("graph", "show", "…", "--store", notes_store).stderr


def test_show_counts_every_passage_that_it_lists(ekr: Ekr, tmp_path: Path) -> None:
    article = "# Article 6 Opening hours\n\n" + "\n\n".join(
        f"{'The rooms are open to members, who bring their own lamp and ink. ' * 20}Part {n}." for n in range(4)
    )
    (tmp_path / "rules.md").write_text(article, encoding="utf-8")
    ekr("ingest", tmp_path / "rules.md", "--store", tmp_path / "s")
    arguments = ("graph", "show", "Article 6", "--evidence", "100", "--store", tmp_path / "s")
    (found,) = json.loads(ekr(*arguments, "--json").stdout)
    assert found["passages"] == len(found["evidence"]) > found["chunks"]
    more = found["passages"] - found["chunks"]
    shown = ekr(*arguments).stdout
    assert f" in {found['chunks']} passage" in shown
    assert f", {more} more define" in shown


def test_exports_hold_the_same_graph(ekr: Ekr, notes_store: Path, tmp_path: Path) -> None:
    plain = json.loads(ekr("graph", "export", "--format", "json", "--store", notes_store).stdout)
    names = {node["id"]: node["name"] for node in plain["nodes"]}
    assert "Charles Babbage" in names.values()
    assert all(edge["source"] in names and edge["target"] in names for edge in plain["edges"])
    for community in plain["communities"]:
        assert set(community["members"]) <= set(names)
    file = tmp_path / "graph.graphml"
    done = ekr("graph", "export", "--format", "graphml", "-o", file, "--store", notes_store)
    assert (done.returncode, done.stdout) == (0, "")
    root = ET.parse(file).getroot()
    nodes = {
        node.get("id"): node.findtext("g:data[@key='node_name']", namespaces=NAMESPACE)
        for node in root.iterfind(".//g:node", NAMESPACE)
    }
    assert nodes == names
    assert len(root.findall(".//g:edge", NAMESPACE)) == len(plain["edges"])


def test_a_limit_keeps_the_best_linked_and_says_what_is_missing(ekr: Ekr, notes_store: Path) -> None:
    done = ekr("graph", "export", "--limit", 2, "--store", notes_store)
    nodes = json.loads(done.stdout)["nodes"]
    assert len(nodes) == 2
    assert "2 of " in done.stderr
    top = json.loads(ekr("graph", "--json", "--store", notes_store).stdout)["top_entities"]
    assert [node["id"] for node in nodes] == [entity["id"] for entity in top[:2]]


def test_the_page_is_one_file_that_loads_nothing(ekr: Ekr, notes_store: Path) -> None:
    page = ekr("graph", "export", "--format", "html", "--store", notes_store).stdout
    assert page.startswith("<!DOCTYPE html>")
    assert "Charles Babbage" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "src=" not in page
    assert page.count("</script>") == 1


@pytest.mark.parametrize("arguments", [("export", "--format", "pdf"), ("export", "--limit", "0"), ("show",)])
def test_a_wrong_request_is_a_usage_error(ekr: Ekr, notes_store: Path, arguments: tuple[str, ...]) -> None:
    assert ekr("graph", *arguments, "--store", notes_store).returncode == 2


def test_an_empty_store_says_what_to_do(ekr: Ekr, tmp_path: Path) -> None:
    done = ekr("graph", "--store", tmp_path / "none")
    assert done.returncode == 1
    assert "ekr ingest" in done.stderr


def test_a_file_that_cannot_be_written_is_named(ekr: Ekr, notes_store: Path, tmp_path: Path) -> None:
    done = ekr("graph", "export", "-o", tmp_path / "none" / "g.json", "--store", notes_store)
    assert done.returncode == 2
    assert "cannot write" in done.stderr
