from __future__ import annotations

import signal
import threading
import time

import pytest

from ekr.bench import matching
from ekr.bench.errors import BenchUsageError
from ekr.bench.matching import compiled, matches

SLOW = r"(\w+\s?)+#"
PROSE = "The engine had a mill and a store of a thousand numbers in brass."


def test_patterns_ignore_case_and_the_kind_of_apostrophe() -> None:
    assert compiled("l\u2019IA").search("selon L'ia")
    assert matches("l\u2019IA", "selon L'ia")
    assert matches(r"mill\b.*store", PROSE.upper())
    assert not matches(r"steam\w*", PROSE)


def test_a_search_without_end_is_given_up_and_the_regex_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "SECONDS", 0.2)
    begin = time.process_time()
    with pytest.raises(BenchUsageError) as caught:
        matches(SLOW, PROSE)
    assert time.process_time() - begin < 2
    assert repr(SLOW) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_search_leaves_no_timer_and_no_handler_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    assert matches(r"st\w+", PROSE)
    monkeypatch.setattr(matching, "SECONDS", 0.1)
    with pytest.raises(BenchUsageError):
        matches(SLOW, PROSE)
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_other_threads_search_too() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(matches(r"st\w+", PROSE)))
    thread.start()
    thread.join()
    assert found == [True]
