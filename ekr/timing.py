"""Wall time by stage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

Timings = dict[str, float]


@contextmanager
def timed(timings: Timings, stage: str) -> Iterator[None]:
    """Adds the wall time of the block, in seconds, to `timings[stage]`, also when it fails."""
    started = time.perf_counter()
    try:
        yield
    finally:
        timings[stage] = timings.get(stage, 0.0) + time.perf_counter() - started
