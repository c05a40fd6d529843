"""What engines raise, as one-line errors."""

from __future__ import annotations

import os
import signal
import threading
import time

import duckdb
import pytest

from ekr.errors import StoreError
from ekr.store.faults import told_as


def test_a_query_that_the_user_stops_is_no_damage() -> None:
    # DuckDB looks for a Ctrl-C between pieces of its work, so of one long query the end may be far: many short ones.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    with duckdb.connect() as connection, pytest.raises(KeyboardInterrupt):
        timer.start()
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with told_as("the store cannot be read", "run: ekr doctor"):
                connection.execute("SELECT sum(range % 7) FROM range(3_000_000)").fetchall()
    signal.signal(signal.SIGINT, before)


def test_what_duckdb_says_of_a_ctrl_c_is_one() -> None:
    with pytest.raises(KeyboardInterrupt), told_as("the store cannot be read", "run: ekr doctor"):
        raise RuntimeError("Query interrupted")


def test_any_other_failure_of_an_engine_is_one_line_with_advice() -> None:
    for raised in (RuntimeError("first\nsecond"), duckdb.IOException("first\nsecond"), ValueError("first")):
        with pytest.raises(StoreError) as told, told_as("the store cannot be read", "run: ekr doctor"):
            raise raised
        assert str(told.value) == "the store cannot be read (first); run: ekr doctor"


def test_places_in_the_sources_of_an_engine_are_left_out() -> None:
    raised = OSError("LanceError(IO): not found: a.lance, /sources/lance-1.0/src/io.rs:59:17")
    with pytest.raises(StoreError) as told, told_as("the vectors cannot be read", "run: ekr doctor"):
        raise raised
    assert str(told.value) == "the vectors cannot be read (LanceError(IO): not found: a.lance); run: ekr doctor"
