"""The 30 reference queries on a synthetic graph: equal to hand-written SQL? how fast?

usage: python benchmarks/cypher.py [NODES=20000] [EDGES=100000] [REPEAT=3]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb

from ekr.cypher import GraphSchema, Limits, Node, run

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "cypher"
ROWS = 1_000_000


def plain(value: Any) -> Any:
    """A comparable value: nodes by name, lists with one order, floats rounded."""
    if isinstance(value, Node):
        return value.properties["name"]
    if isinstance(value, list):
        return tuple(sorted((plain(v) for v in value), key=repr))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return round(float(value), 9)
    return value


def bag(rows: list[tuple[Any, ...]]) -> Counter[Any]:
    """Rows without their order."""
    return Counter(tuple(plain(v) for v in row) for row in rows)


def main() -> None:
    nodes, edges, repeat = (*sys.argv[1:], *("20000", "100000", "3")[len(sys.argv) - 1 :])
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "graph.duckdb")
        subprocess.run([sys.executable, str(DATA / "make_graph.py"), path, nodes, edges], check=True)
        connection = duckdb.connect(path)
        connection.execute("CREATE VIEW kg_nodes AS SELECT * FROM nodes")
        connection.execute("CREATE VIEW kg_edges AS SELECT * FROM edges")
        schema = GraphSchema.read(connection)
        times: list[tuple[float, str]] = []
        wrong: list[str] = []
        for line in (DATA / "queries.jsonl").read_text(encoding="utf-8").splitlines():
            query = json.loads(line)
            wanted = bag(connection.execute(query["reference_sql"], query["params"]).fetchall())
            best = float("inf")
            for _ in range(int(repeat)):
                begin = time.perf_counter()
                result = run(connection, schema, query["cypher"], query["params"], Limits(rows=ROWS, seconds=60))
                best = min(best, time.perf_counter() - begin)
            times.append((best, query["id"]))
            if bag(result.rows) != wanted:
                wrong.append(query["id"])
        hub = connection.execute("SELECT src FROM edges GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1").fetchone()
        begin = time.perf_counter()
        reach = run(
            connection,
            schema,
            "MATCH (a)-[*1..6]->(b) WHERE id(a) = $hub RETURN DISTINCT b.name",
            {"hub": hub[0] if hub else None},
            Limits(rows=ROWS, seconds=60),
        )
        hub_seconds = time.perf_counter() - begin
        connection.close()
    milliseconds = sorted(1000 * t for t, _ in times)
    print(f"graph               {int(nodes):,} nodes, {int(edges):,} edges")
    print(f"equal to reference  {len(times) - len(wrong)}/{len(times)} {' '.join(wrong)}")
    print(f"median              {statistics.median(milliseconds):.1f} ms (best of {repeat})")
    print(f"maximum             {milliseconds[-1]:.1f} ms ({max(times)[1]})")
    print(f"hub *1..6 DISTINCT  {1000 * hub_seconds:.0f} ms, {len(reach.rows):,} nodes")
    for seconds, name in sorted(times, reverse=True)[:8]:
        print(f"  {name:24} {1000 * seconds:7.1f} ms")


if __name__ == "__main__":
    main()
