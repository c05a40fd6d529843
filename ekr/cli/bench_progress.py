"""One line of progress on stderr: rewritten on a terminal, once a minute elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from ekr.cli import console

if TYPE_CHECKING:
    from rich.status import Status

    from ekr.bench.judge import Judgement
    from ekr.bench.runs import Progress

_EVERY_SECONDS = 60.0


class ProgressLine:
    """Shows how far a bench is and how long it still takes."""

    def __init__(self, verb: str, *, enabled: bool) -> None:
        self._verb = verb
        self._enabled = enabled
        self._status: Status | None = None
        self._begin = self._last_line = time.monotonic()
        self._missing = 0
        self.moved = False

    def __enter__(self) -> Self:
        if self._enabled and sys.stderr.isatty():
            self._status = console.err().status(console.plain(self._verb))
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def asked(self, progress: Progress) -> None:
        """After a result of a run."""
        self.moved = True
        failed = f", {progress.failed} failed" if progress.failed else ""
        left = "" if progress.seconds_left is None else f", {duration(progress.seconds_left)} left"
        self.say(f"{progress.done} of {progress.total} asked{failed}{left} ({progress.recipe})")

    def judged(self, done: int, total: int, judgement: Judgement) -> None:
        """After a judgement."""
        self._missing += judgement.missing is not None
        missing = f", {self._missing} missing" if self._missing else ""
        seconds = (time.monotonic() - self._begin) / done * (total - done)
        self.say(f"{done} of {total} judged{missing}, {duration(seconds)} left")

    def say(self, text: str) -> None:
        """Shows a text now on a terminal; elsewhere when the last line is old enough."""
        if self._status is not None:
            self._status.update(console.plain(text))
        elif self._enabled and time.monotonic() - self._last_line >= _EVERY_SECONDS:
            self._last_line = time.monotonic()
            console.talk(text)


def duration(seconds: float) -> str:
    """A length of time for people: `45 s`, `12 min`, `3 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
