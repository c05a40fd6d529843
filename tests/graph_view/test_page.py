"""The page of a network: texts stay data, and a browser really draws it."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ekr.graph_view.graphml import graphml
from ekr.graph_view.layout import layout
from ekr.graph_view.network import Network
from ekr.graph_view.page import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _node(number: int, community: int | None, name: str = "") -> dict[str, Any]:
    return {
        "id": f"n{number}", "name": name or f"Entity {number}", "label": "Person", "labels": ["Person"],
        "description": f"Entity {number} of the test.", "aliases": [], "mentions": 1, "chunks": 1,
        "pagerank": 1 / (number + 1), "community": None if community is None else f"c{community}", "evidence": [],
    }  # fmt: skip


def network_of(count: int, name: str = "") -> Network:
    """Communities of forty, each a ring with a few chords."""
    pick = random.Random(0)
    nodes = [_node(n, n // 40, name) for n in range(count)]
    pairs = [(n, n + 1 if (n + 1) % 40 and n + 1 < count else n - n % 40) for n in range(count)]
    pairs += [(n, n - n % 40 + pick.randrange(min(40, count - (n - n % 40)))) for n in range(count)]
    edges = [
        {"id": f"e{i}", "source": f"n{a}", "target": f"n{b}", "type": "KNOWS", "description": name, "weight": 1.0}
        for i, (a, b) in enumerate(pairs)
    ]
    communities = [
        {"id": f"c{c}", "level": 0, "parent_id": None, "title": f"Group {c}", "summary": "", "size": 40, "members": []}
        for c in range((count + 39) // 40)
    ]
    return Network(nodes, edges, communities)


def _data(text: str) -> Any:
    found = re.search(r"^const data = (.*);$", text, re.MULTILINE)
    assert found
    return json.loads(found[1])


@settings(deadline=None, max_examples=40)
@given(st.text(min_size=1, max_size=40))
def test_no_text_of_a_document_becomes_markup(name: str) -> None:
    hostile = f"{name}</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>"
    text = page(network_of(3, hostile), "t")
    assert text.count("<script") == 1
    assert text.count("</script") == 1
    assert "<!--" not in text
    assert _data(text)["nodes"][0]["name"] == hostile


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=40))
def test_graphml_holds_any_text_but_what_xml_cannot(name: str) -> None:
    root = ET.fromstring(graphml(network_of(2, f"x{name}")))
    first = root.find(".//{*}node/{*}data")
    assert first is not None
    assert (first.text or "").startswith("x")


def test_the_layout_is_the_same_each_time_and_gives_every_entity_room() -> None:
    first, second = (layout(network_of(120)) for _ in range(2))
    assert first == second
    assert len(set(first)) == 120


def test_a_dense_core_is_spread_and_entities_without_a_link_stand_around_it() -> None:
    star = [{"source": "n0", "target": f"n{n}"} for n in range(1, 40)]
    places = layout(Network([_node(n, None) for n in range(60)], star, []))
    distances = [math.dist(place, (0, 0)) for place in places]
    linked, alone = distances[:40], distances[40:]
    assert max(linked) < min(alone)
    assert sorted(linked)[20] == pytest.approx(max(linked) / math.sqrt(2), rel=0.05)


def test_a_network_without_entities_or_without_relations_is_a_page_too() -> None:
    assert _data(page(Network([], [], []), "t"))["nodes"] == []
    assert len(_data(page(Network([_node(0, None), _node(1, None)], [], []), "t"))["nodes"]) == 2


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine to open the page in")
def test_two_thousand_entities_are_drawn_by_a_browser(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    file, picture = tmp_path / "graph.html", tmp_path / "graph.png"
    file.write_text(page(network_of(2000), "Two thousand"), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900", f"--screenshot={picture}"]
    subprocess.run([CHROMIUM, *options, file.as_uri()], check=True, capture_output=True, timeout=120)
    assert picture.stat().st_size > 100_000
