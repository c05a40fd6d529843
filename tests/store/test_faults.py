"""What engines raise, as one-line errors."""

from __future__ import annotations

import os
import signal
import threading

import duckdb
import pytest

from ekr.errors import StoreError
from ekr.store.faults import told_as


def test_a_query_that_the_user_stops_is_no_damage() -> None:
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    with duckdb.connect() as connection, pytest.raises(KeyboardInterrupt):
        timer.start()
        with told_as("the store cannot be read", "run: ekr doctor"):
            connection.execute(
                "SELECT count(*) FROM range(1_000_000) a, range(1_000_000) b WHERE (a.range + b.range) % 7 = 1"
            )
    timer.join()


def test_any_other_failure_of_an_engine_is_one_line_with_advice() -> None:
    for raised in (RuntimeError("first\nsecond"), duckdb.IOException("first\nsecond"), ValueError("first")):
        with pytest.raises(StoreError) as told, told_as("the store cannot be read", "run: ekr doctor"):
            raise raised
        assert str(told.value) == "the store cannot be read (first); run: ekr doctor"
