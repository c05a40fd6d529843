"""Runs the small collection slowly in a process of its own, for tests that kill it: slow_run DIR [--resume]."""

from __future__ import annotations

import sys
from pathlib import Path

from ekr.bench.directory import RunDirectory
from ekr.bench.runs import RunOptions, run
from tests.bench.library import Library, engine, questions

RECIPES = ("bm25", "bm25:limit=2", "bypass")


def main() -> None:
    """Asks everything; 30 ms a query."""
    options = RunOptions(RECIPES, repeat=2, generator="quoting")
    directory = RunDirectory(Path(sys.argv[1]))
    run(directory, questions(), Library(seconds=0.03), options, engine=engine(), resume="--resume" in sys.argv)


if __name__ == "__main__":
    main()
