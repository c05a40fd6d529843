# ruff: noqa: T201 - a script, whose output is its result
"""The whole run over the hostile files: `python -m tests.reliability.hostile_run`.

One ingest, in a process of its own, of all hostile files with good ones among them. Prints how many were taken in,
refused and skipped, the slowest file and the peak of memory, and whatever went wrong; exits 1 if anything did.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ekr.reading.files import printable
from tests.reliability.hostile_files import GOOD_FILES, Hostile, write_all

MOST_SECONDS = 30.0
MOST_BYTES = 2 << 30


@dataclass
class HostileResult:
    """What became of each file, by its name as it is shown: "in", or the reason why it is not."""

    fates: dict[str, list[str]]
    seconds: dict[str, float]
    peak_bytes: int
    total_seconds: float
    problems: list[str] = field(default_factory=list)


def ingest_hostile(base: Path, *, heavy: bool, extractor: str | None = None) -> HostileResult:
    """Make the files below `base`, ingest them in a process of its own, and judge what became of each."""
    # Not in `base` itself: one of the links leads to the folder above.
    folder = base / "outside" / "files"
    made = write_all(folder, heavy=heavy)
    arguments = [str(folder), str(base / "store"), extractor or ""]
    began = time.monotonic()
    process = subprocess.run(
        [sys.executable, "-m", "tests.reliability.hostile_run", "--child", *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        cwd=Path(__file__).parent.parent.parent,
        env={**os.environ, "EKR_STORE": str(base / "store")},
        check=False,
    )
    seconds = time.monotonic() - began
    if process.returncode:
        raise AssertionError(f"the ingest ended with {process.returncode}: {process.stderr[-3000:]}")
    told = json.loads(process.stdout.splitlines()[-1])
    result = HostileResult(_fates(told["report"], folder), told["seconds"], told["peak_bytes"], seconds)
    result.problems = [*_judge(made, result), *_traces(base)]
    return result


def _fates(report: dict[str, Any], folder: Path) -> dict[str, list[str]]:
    """Name of each file → what the report says of it and of its records."""
    fates: dict[str, list[str]] = defaultdict(list)
    prefix = printable(str(folder)) + "/"
    for document in report["documents"]["added"]:
        fates[document].append("in")
    for kind in ("failed", "skipped"):
        for problem in report[kind]:
            fates[problem["document"].removeprefix(prefix)].append(f"{kind}: {problem['reason']}")
    return fates


def _of(name: str, fates: dict[str, list[str]]) -> list[str]:
    shown = printable(name)
    ends = ("#", ":") if name.endswith(".jsonl") else ("/",)
    return [
        fate
        for key, of_key in fates.items()
        if key == shown or key.startswith(tuple(shown + end for end in ends))
        for fate in of_key
    ]


def _judge(made: list[Hostile], result: HostileResult) -> Iterator[str]:
    for number in range(GOOD_FILES):
        if result.fates.get(f"good{number:02}.txt") != ["in"]:
            yield f"a good file is not in: {result.fates.get(f'good{number:02}.txt')}"
    for hostile in made:
        fates = _of(hostile.name, result.fates)
        kinds = {fate.partition(":")[0] for fate in fates}
        allowed = {
            "in": {"in"},
            "refused": {"failed"},
            "skipped": {"skipped"},
            "named": {"failed", "skipped"},
            "either": {"in", "failed", "skipped"},
        }[hostile.fate]
        if not kinds and hostile.name not in {"link-to-folder.txt", "link-to-parent", "folder.pdf"}:
            yield f"{hostile.name!r} is not named at all"
        elif not kinds <= allowed:
            yield f"{hostile.name!r} should be {hostile.fate}: {fates[:3]}"
        for fate in fates:
            if len(fate) > 400 or not fate.isprintable() or fate.endswith(": "):
                yield f"{hostile.name!r} has a reason that is not one readable line: {fate[:200]!r}"
    for name, seconds in result.seconds.items():
        if seconds > MOST_SECONDS:
            yield f"{name} took {seconds:.0f} s"
    if result.peak_bytes > MOST_BYTES:
        yield f"memory reached {result.peak_bytes / 2**30:.2f} GB"


def _traces(base: Path) -> Iterator[str]:
    """What a file may have written where it must not."""
    for path in (Path("/tmp/ekr-escaped.txt"), Path("/tmp/ekr-owned"), *base.rglob("*escaped*")):
        if path.exists():
            yield f"{path} was written"


def _child(folder: str, store: str, extractor: str) -> None:
    """The ingest itself; prints its report, the seconds that each file took to read, and the peak of memory."""
    from ekr import Engine
    from ekr.ingestion import workers
    from ekr.ingestion.pipeline import IngestOptions
    from ekr.ingestion.prepare import FileTask, Prepared, prepare

    seconds: dict[str, float] = defaultdict(float)

    def timed(task: FileTask, *arguments: Any) -> Iterator[Prepared]:
        outcomes = prepare(task, *arguments)
        while True:
            began = time.monotonic()
            outcome = next(outcomes, None)
            seconds[task.display] += time.monotonic() - began
            if outcome is None:
                return
            yield outcome

    workers.prepare = timed  # type: ignore[assignment]
    with Engine.open(store) as engine:
        options = IngestOptions(extractor=extractor or None)  # type: ignore[arg-type]
        report = engine.ingest(folder, options=options).to_json()
    print(json.dumps({"report": report, "seconds": seconds, "peak_bytes": _peak_bytes()}))


def _peak_bytes() -> int:
    """The most memory that this process had; `ru_maxrss` would count what its parent had when it forked."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text(encoding="ascii"))
        if found is not None:
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--light", action="store_true", help="without the files of hundreds of megabytes")
    given = parser.parse_args()
    if given.child:
        _child(*given.child)
        return
    with tempfile.TemporaryDirectory(prefix="ekr-hostile-") as folder:
        result = ingest_hostile(Path(folder), heavy=not given.light)
        unreadable = Path(folder) / "outside" / "files" / "unreadable.txt"
        unreadable.chmod(0o600)
    counts = Counter(fate.partition(":")[0] for fates in result.fates.values() for fate in fates)
    slowest = sorted(result.seconds.items(), key=lambda item: -item[1])[:5]
    print(f"files: {len(result.fates)} named; documents in, refusals, skips: {dict(counts)}")
    print("slowest to read: " + ", ".join(f"{printable(name)} {seconds:.1f} s" for name, seconds in slowest))
    print(f"memory: {result.peak_bytes / 2**20:.0f} MB; the ingest took {result.total_seconds:.0f} s")
    for problem in result.problems:
        print(f"WRONG {problem}")
    sys.exit(1 if result.problems else 0)


if __name__ == "__main__":
    main()
