"""A network as one self-contained web page: laid out here, drawn on a canvas there."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from ekr.graph_view.layout import layout
from ekr.graph_view.network import Network


def page(network: Network, title: str) -> str:
    """The page as text. It loads nothing from anywhere; texts of documents are data in it, never markup."""
    places = layout(network)
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
