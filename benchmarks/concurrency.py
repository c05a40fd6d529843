"""Four processes query in a loop while one ingests: errors, answers that mix generations, and what reading then costs.

usage: python benchmarks/concurrency.py [--seconds 120] [--readers 4] [--no-control] [--json]

Each ingest replaces every document by a text of the next round, so an answer that is not of one whole generation
shows: its passages speak of two rounds, or some are missing. The readers are timed twice: beside a process that
ingests the same into another store, which keeps the machine as busy and leaves theirs alone, and beside one that
ingests into their own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TOWNS = ("Lisbon", "Geneva", "Oslo", "Turin", "Lyon", "Vienna", "Dublin", "Ghent")
QUESTIONS = ("Which bridge was inspected?", "Who inspected the bridge in Oslo?", "Ines Moreau", "Which round is it?")
_ROUND = re.compile(r"round (\d+)")


def write_round(folder: Path, number: int) -> None:
    """The documents of a round: one a town, all naming the round."""
    folder.mkdir(parents=True, exist_ok=True)
    for town in TOWNS:
        text = (
            f"In round {number} Ines Moreau inspected the bridge in {town}. The bridge of round {number} was sound.\n"
        )
        (folder / f"{town}.txt").write_text(text, encoding="utf-8")


def ingest_rounds(store: Path, folder: Path, seconds: float) -> int:
    """Ingest round after round into a store, three at least; returns how many."""
    from ekr import Engine

    until = time.monotonic() + seconds
    number = 1
    with Engine.open(store) as engine:
        while time.monotonic() < until or number < 4:
            number += 1
            write_round(folder, number)
            report = engine.ingest(folder)
            assert not report.failed and len(report.updated) == len(TOWNS), report
    return number - 1


def read_in_a_loop(store: Path, stop: Path) -> dict[str, Any]:
    """Query until the file `stop` is there: seconds of each query, rounds seen, errors, answers that were not whole."""
    from ekr import Engine

    times: list[float] = []
    rounds: set[int] = set()
    errors: list[str] = []
    mixed: list[str] = []
    with Engine.open(store, reranker="none", threads=1) as engine:
        engine.retrieve(QUESTIONS[0], "hybrid_mix", rerank="none")
        while not stop.exists():
            question = QUESTIONS[len(times) % len(QUESTIONS)]
            began = time.monotonic()
            try:
                result = engine.retrieve(question, "hybrid_mix", rerank="none", limit=50)
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
                continue
            times.append(time.monotonic() - began)
            errors += [f"degraded: {name}" for name in result.trace.degraded]
            texts = [json.dumps(item.to_json(), default=str) for item in result.items]
            seen = {int(number) for text in texts for number in _ROUND.findall(text)}
            chunks = sum(item.type == "chunk" for item in result.items)
            if len(seen) != 1 or chunks != len(TOWNS):
                mixed.append(f"{question}: rounds {sorted(seen)}, {chunks} chunks")
            rounds |= seen
    return {"times": times, "rounds": sorted(rounds), "errors": errors, "mixed": mixed}


def phase(read: Path, write: Path, folder: Path, readers: int, seconds: float) -> dict[str, Any]:
    """Readers on one store and an ingest into another, or the same, for so many seconds."""
    stop = folder.with_suffix(".stop")
    stop.unlink(missing_ok=True)
    command = [sys.executable, str(Path(__file__).resolve()), "--read", str(read), str(stop)]
    reading = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(readers)]
    try:
        rounds = ingest_rounds(write, folder, seconds)
    finally:
        stop.touch()
    told = []
    for process in reading:
        output, _ = process.communicate(timeout=300)
        if process.returncode:
            told.append(
                {"times": [], "rounds": [], "errors": [f"a reader ended with {process.returncode}"], "mixed": []}
            )
        else:
            told.append(json.loads(output))
    times = sorted(t for one in told for t in one["times"])
    return {
        "ingests": rounds,
        "queries": len(times),
        "rounds_seen": len({r for one in told for r in one["rounds"]}),
        "errors": [e for one in told for e in one["errors"]],
        "mixed": [m for one in told for m in one["mixed"]],
        "p50_ms": round(1000 * times[round(0.5 * (len(times) - 1))]) if times else None,
        "p95_ms": round(1000 * times[round(0.95 * (len(times) - 1))]) if times else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120, help="of each phase")
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--no-control", action="store_true", help="leave out the phase beside another store")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        print(json.dumps(read_in_a_loop(*given.read)))
        return
    os.environ["EKR_RERANKER"] = "none"
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="ekr-concurrency-") as base:
        folder, store, other = (Path(base) / name for name in ("documents", "store", "other"))
        write_round(folder, 1)
        from ekr import Engine

        for path in (store, other):
            with Engine.open(path) as engine:
                engine.ingest(folder)
        if not given.no_control:
            found["beside_another_store"] = phase(store, other, folder, given.readers, given.seconds)
            write_round(folder, 1)
        found["beside_an_ingest"] = phase(store, store, folder, given.readers, given.seconds)
    if not given.no_control:
        found["p95_ratio"] = round(found["beside_an_ingest"]["p95_ms"] / found["beside_another_store"]["p95_ms"], 2)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
