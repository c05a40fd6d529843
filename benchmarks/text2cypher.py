"""Questions that only the graph answers: how many does the default generator's Cypher get right?

usage: python benchmarks/text2cypher.py [--store sample=DIR] [--store act=DIR] [--only ID,ID] [--generator NAME]

The right values come from the reference queries of text2cypher_questions.jsonl, run on the same store. Right: the
rows are those of a reference, whatever further columns they have; with `first`, so many first rows. A question that
the graph can't answer is right when it fails loudly or finds nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

from data import store

from ekr import Engine
from ekr.cypher import GraphSchema, run
from ekr.cypher.serialise import shown
from ekr.errors import EkrError

QUESTIONS = Path(__file__).resolve().parent / "text2cypher_questions.jsonl"
CORPORA = {"sample": "sample", "act": "ai_act_en"}
OUTCOMES = ("right", "right after repair", "loud failure", "found nothing", "silently wrong")


def matches(found: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]], first: int) -> bool:
    """Whether the rows say what a reference says."""
    rows = [Counter(map(plain, row)) for row in dict.fromkeys(tuple(map(plain, row)) for row in found)]
    if first:
        keys = [Counter([plain(row[0])]) for row in wanted[:first]]
        return len(rows) >= len(keys) and all(key <= row for key, row in zip(keys, rows, strict=False))
    left = [Counter(map(plain, row)) for row in wanted]
    if len(rows) != len(left):
        return False
    for row in rows:
        same = next((want for want in left if want <= row), None)
        if same is None:
            return False
        left.remove(same)
    return True


def plain(value: Any) -> Any:
    """A comparable value: numbers as they are, the rest as text."""
    return round(float(value), 6) if isinstance(value, int | float) and not isinstance(value, bool) else shown(value)


def outcome(engine: Engine, question: dict[str, Any]) -> tuple[str, list[str]]:
    """What became of one question, and lines that show it."""
    connection = engine.snapshot().connection
    schema = GraphSchema.read(connection)
    try:
        result = engine.retrieve(question["question"], "text2cypher", limit=200)
    except EkrError as error:
        return ("right" if not question["cypher"] else "loud failure"), [f"error: {error}"]
    (record,) = result.trace.extra["text2cypher"]
    lines = []
    for attempt in record["attempts"]:
        lines.append(f"wrote: {attempt['query']}")
        if attempt["error"]:
            lines.append(f"  error: {attempt['error']}")
    found = [item.row for item in result.items if item.type == "value"]
    lines.append(f"rows: {found[:6]}{' …' if len(found) > 6 else ''}")
    if not question["cypher"]:
        return ("silently wrong" if found else "right"), lines
    for query in question["cypher"]:
        if matches(found, run(connection, schema, query).rows, question.get("first", 0)):
            return ("right after repair" if record["repaired"] else "right"), lines
    lines.append(f"reference: {run(connection, schema, question['cypher'][0]).rows[:6]}")
    return ("silently wrong" if found else "found nothing"), lines


def main() -> None:
    parser = argparse.ArgumentParser(usage=(__doc__ or "").split("usage: ")[1].split("\n")[0])
    parser.add_argument("--store", action="append", default=[])
    parser.add_argument("--only", default="")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--generator", default=None)
    parser.add_argument("--all", action="store_true", help="show the right ones, too")
    options = parser.parse_args()
    places = dict(pair.split("=", 1) for pair in options.store)
    only = set(options.only.split(",")) - {""}
    asked = [json.loads(line) for line in options.questions.read_text(encoding="utf-8").splitlines() if line.strip()]
    engines: dict[str, Engine] = {}
    counted: Counter[str] = Counter()
    times = []
    further = {"generator": options.generator} if options.generator else {}
    for question in asked:
        if only and question["id"] not in only:
            continue
        name = question["store"]
        if name not in engines:
            engines[name] = Engine.open(places.get(name) or store(CORPORA[name]), reranker="none", **further)
        begin = time.perf_counter()
        became, lines = outcome(engines[name], question)
        times.append(time.perf_counter() - begin)
        counted[became] += 1
        if options.all or not became.startswith("right"):
            print(f"{question['id']} {question['kind']}: {became}: {question['question']} ({times[-1]:.1f} s)")
            print("\n".join(f"    {line}" for line in lines), flush=True)
    for name in OUTCOMES:
        print(f"{name:20} {counted[name]}")
    right = counted["right"] + counted["right after repair"]
    print(f"{'all right':20} {right}/{len(times)}")
    print(f"{'seconds a question':20} {statistics.median(times):.1f} (median)")
    for engine in engines.values():
        engine.close()


if __name__ == "__main__":
    main()
