"""Time of a question: a whole cold process, and a warm one through `ekr query -`.

usage: python benchmarks/latency.py [corpus]     (default ai_act_fr; nothing else should run)

Prints the median of five cold processes (files in the page cache) and, of a warm process, the time from one
answer line to the next, without re-rank; then the stages as the trace has them.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

from data import questions, require_data, store

OPTIONS = ["--context-only", "--set", "rerank=none"]
RUNS = 5


def cold(command: list[str]) -> tuple[float, dict[str, float]]:
    """Median wall time of the process in seconds, and the stages of the last run."""
    times = []
    for _ in range(RUNS + 1):
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:]), json.loads(done.stdout)["timings"]


def warm(command: list[str], asked: list[str]) -> tuple[list[float], dict[str, float]]:
    """Seconds from line to line after the first, and the stages of the last question."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    times = []
    for question in asked:
        started = time.perf_counter()
        process.stdin.write(question + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        times.append(time.perf_counter() - started)
    process.stdin.close()
    process.wait()
    return times[1:], json.loads(line)["timings"]


def main() -> None:
    require_data()
    corpus = sys.argv[1] if len(sys.argv) > 1 else "ai_act_fr"
    where = ["--store", str(store(corpus))]
    asked = [row["question"] for row in questions(corpus)][:12]
    ekr = [sys.executable, "-m", "ekr", "query"]
    seconds, stages = cold([*ekr, asked[0], *OPTIONS, "--json", *where])
    print(f"cold process, median of {RUNS}: {seconds:.2f} s")
    print("  " + ", ".join(f"{stage} {value * 1000:.0f} ms" for stage, value in stages.items()))
    times, stages = warm([*ekr, "-", *OPTIONS, *where], asked)
    print(f"warm question: median {statistics.median(times) * 1000:.0f} ms, worst {max(times) * 1000:.0f} ms")
    print("  " + ", ".join(f"{stage} {value * 1000:.0f} ms" for stage, value in stages.items()))


if __name__ == "__main__":
    main()
