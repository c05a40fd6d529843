"""A network as GraphML, for Gephi, yEd, Cytoscape and NetworkX."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

from ekr.graph_view.network import Network

_NODE = {"name": "string", "label": "string", "description": "string", "mentions": "long", "chunks": "long",
         "pagerank": "double", "community": "string"}  # fmt: skip
_EDGE = {"type": "string", "description": "string", "weight": "double"}
# Characters that XML 1.0 can't hold, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def graphml(network: Network) -> str:
    """The document as text; attributes that a node or edge lacks are left out."""
    root = ET.Element("graphml", {"xmlns": "http://graphml.graphdrawing.org/xmlns"})
    for kind, fields in (("node", _NODE), ("edge", _EDGE)):
        for name, type_ in fields.items():
            ET.SubElement(root, "key", {"id": f"{kind}_{name}", "for": kind, "attr.name": name, "attr.type": type_})
    graph = ET.SubElement(root, "graph", {"edgedefault": "directed"})
    for node in network.nodes:
        _fill(ET.SubElement(graph, "node", {"id": node["id"]}), "node", _NODE, node)
    for edge in network.edges:
        ends = {"id": edge["id"], "source": edge["source"], "target": edge["target"]}
        _fill(ET.SubElement(graph, "edge", ends), "edge", _EDGE, edge)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _fill(element: ET.Element, kind: str, fields: dict[str, str], row: dict[str, Any]) -> None:
    for name in fields:
        if row[name] is not None:
            ET.SubElement(element, "data", {"key": f"{kind}_{name}"}).text = _ILLEGAL.sub("", str(row[name]))
