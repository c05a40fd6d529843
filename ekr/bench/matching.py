"""The regexes of a questions file on a text: case-insensitive, after the normalisation, within a time limit."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import FrameType

from ekr.bench.errors import BenchUsageError
from ekr.bench.normalise import normalise_pattern

SECONDS = 5.0  # of processor time, for one pattern on one text
_REPEATS = frozenset("*+?{")


class _TooSlow(Exception):
    pass


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of a questions file, case-insensitive, ready for a normalised text. Raises re.error."""
    return re.compile(normalise_pattern(pattern), re.IGNORECASE)


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern matches somewhere in a normalised text.

    A repeat inside a repeat can take time exponential in the length of the text; the search is then given up
    and BenchUsageError raised. Without POSIX timers (Windows), and outside the main thread, there is no limit.
    """
    if _REPEATS.isdisjoint(pattern):
        return compiled(pattern).search(text) is not None
    try:
        with _limited():
            return compiled(pattern).search(text) is not None
    except _TooSlow:
        raise BenchUsageError(
            f"the regex {pattern!r} takes over {SECONDS:.0f} s on one text; write it without a repeat in a repeat"
        ) from None


@contextmanager
def _limited() -> Iterator[None]:
    # The regex engine of Python looks for signals while it searches, which makes a timer the one way to end it.
    # Processor time, so that a busy machine gives up no sooner.
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise _TooSlow
