"""All benchmarks on the evaluation data, one after another.

usage: python benchmarks/run.py     (about two hours on 2 cores; nothing else should run)
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMANDS = (
    ["ingest.py"],
    ["latency.py"],
    ["retrieval.py", "--recipe", "hybrid_mix", "--recipe", "multihop", "--set", "rerank=none"],
    ["retrieval.py", "--recipe", "hybrid_mix", "--recipe", "multihop"],
    ["multihop.py"],
    ["multihop.py", "--rerank"],
    ["cypher.py"],
    ["text2cypher.py"],
)


def main() -> None:
    for script, *arguments in COMMANDS:
        print(f"\n# {script} {' '.join(arguments)}", flush=True)
        subprocess.run([sys.executable, HERE / script, *arguments], check=True)


if __name__ == "__main__":
    main()
