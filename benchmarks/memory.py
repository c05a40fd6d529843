"""Peak memory of an ingest with its graph, by number of passages, and of a question on the store that it made.

usage: python benchmarks/memory.py [5000 10000 20000] [--keep DIR]

The passages are those of the multihop sets; past their 9,003, copies in which every longer name is another name, so
that entities and relations go on growing. An ingest that streams peaks at about the same however many there are.
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
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from data import CORPORA, MULTIHOP, require_data

_NAME = re.compile(r"\b[A-Z][a-z]{3,}\b")
_ENDINGS = ("", "ov", "sen", "ini", "ez", "aki")
QUESTIONS = ("Who directed the film?", "Where was the founder of the university born?", "Which river flows through it?")


def passages() -> Iterator[dict[str, str]]:
    """Records of the corpora, without end; ids are unique."""
    for number in range(len(_ENDINGS)):
        ending = _ENDINGS[number]
        for name in MULTIHOP:
            with CORPORA[name].open(encoding="utf-8") as file:
                for line in file:
                    record = json.loads(line)
                    varied = {key: _NAME.sub(lambda m: m[0] + ending, record[key]) for key in ("title", "text")}  # noqa: B023
                    yield {"id": f"{name}-{number}-{record['id']}", **varied}


def peak_of(command: list[str]) -> tuple[float, float, str]:
    """(seconds, peak resident megabytes, standard output) of `ekr` as a process."""
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([sys.executable, "-m", "ekr", *command], stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        told = output.read()
    if process.returncode:
        sys.exit(f"ekr {command[0]} ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss / 1024, told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[5000, 10_000, 20_000])
    parser.add_argument("--keep", type=Path, help="folder in which the stores stay")
    given = parser.parse_args()
    require_data()
    for size in given.sizes:
        with nullcontext(given.keep) if given.keep else tempfile.TemporaryDirectory(prefix="ekr-memory-") as folder:
            base = Path(folder)
            base.mkdir(parents=True, exist_ok=True)
            corpus, store = base / f"passages-{size}.jsonl", base / f"store-{size}"
            with corpus.open("w", encoding="utf-8") as file:
                for _, record in zip(range(size), passages(), strict=False):
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")
            seconds, peak, told = peak_of(["ingest", str(corpus), "--store", str(store), "--json", "--quiet"])
            report = json.loads(told)
            counts = json.loads(peak_of(["status", "--store", str(store), "--json"])[2])
            ask = ["--store", str(store), "--context-only", "--set", "rerank=none", "--json"]
            asked = [peak_of(["query", question, *ask])[1] for question in QUESTIONS]
        graph = ", ".join(f"{counts[kind]} {kind}" for kind in ("chunks", "entities", "relations", "communities"))
        print(
            f"{size} passages ({graph}): ingest {peak:.0f} MB, {seconds:.0f} s; a question {max(asked):.0f} MB",
            flush=True,
        )
        print(f"  stages: {report['timings']}", flush=True)


if __name__ == "__main__":
    main()
