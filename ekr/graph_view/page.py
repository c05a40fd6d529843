"""A network as one self-contained web page: laid out here, drawn on a canvas there."""

from __future__ import annotations

import json
import random
from importlib.resources import files
from typing import Any

from ekr.graph_view.network import Network

_SIZE = 1000.0
_ITERATIONS = 300


def page(network: Network, title: str) -> str:
    """The page as text. It loads nothing from anywhere; texts of documents are data in it, never markup."""
    places = _layout(network)
    communities = [c for c in network.communities if c["level"] == 0]
    number = {c["id"]: index for index, c in enumerate(communities)}
    index = {node["id"]: position for position, node in enumerate(network.nodes)}
    data: dict[str, Any] = {
        "title": title,
        "nodes": [
            {**node, "x": x, "y": y, "community": number.get(node["community"])}
            for node, (x, y) in zip(network.nodes, places, strict=True)
        ],
        "edges": [
            [index[e["source"]], index[e["target"]], e["type"], e["description"], e["weight"]] for e in network.edges
        ],
        "communities": [{"title": c["title"], "summary": c["summary"]} for c in communities],
    }
    template = files("ekr.graph_view").joinpath("page.html").read_text(encoding="utf-8")
    return template.replace("/*DATA*/null", _embedded(data))


def _embedded(data: Any) -> str:
    # Inside a script element `</script>` and `<!--` would end or change it, wherever they stand.
    text = json.dumps(data, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _layout(network: Network) -> list[tuple[float, float]]:
    """Positions of the nodes within a square; the same for the same network."""
    if not network.nodes:
        return []
    import igraph

    index = {node["id"]: position for position, node in enumerate(network.nodes)}
    pairs = sorted({(min(a, b), max(a, b)) for a, b in _ends(network, index) if a != b})
    graph = igraph.Graph(len(index), pairs)
    start = random.Random(0)
    seed = [[start.uniform(0, _SIZE), start.uniform(0, _SIZE)] for _ in index]
    _gather(network, seed)
    igraph.set_random_number_generator(random.Random(0))
    try:
        layout = graph.layout_fruchterman_reingold(niter=_ITERATIONS, seed=seed, start_temp=_SIZE / 20, grid="auto")
    finally:
        igraph.set_random_number_generator(random)
    layout.fit_into((0, 0, _SIZE, _SIZE), keep_aspect_ratio=True)
    return [(round(x, 1), round(y, 1)) for x, y in layout]


def _ends(network: Network, index: dict[str, int]) -> list[tuple[int, int]]:
    return [(index[edge["source"]], index[edge["target"]]) for edge in network.edges]


def _gather(network: Network, seed: list[list[float]]) -> None:
    """Starts the members of a community near each other, so that communities come out as regions."""
    start = random.Random(1)
    centres: dict[str, tuple[float, float]] = {}
    for position, node in enumerate(network.nodes):
        if node["community"] is not None:
            centre = centres.setdefault(node["community"], (start.uniform(0, _SIZE), start.uniform(0, _SIZE)))
            seed[position] = [centre[0] + start.uniform(-20, 20), centre[1] + start.uniform(-20, 20)]
