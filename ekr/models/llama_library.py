"""Load llama.cpp so that it behaves: its log off stdout and stderr, its threads off a busy processor."""

from __future__ import annotations

import logging
import os
from functools import cache
from typing import Any

_logger = logging.getLogger("ekr.llama")
_ERROR_LEVEL = 4
_callbacks: list[Any] = []


@cache
def load_llama() -> Any:
    """The module `llama_cpp`, with its log sent to `logging` (errors as warnings, the rest as debug).

    A callback is used, not a redirected file descriptor: descriptors belong to every thread of the process.
    """
    # Its threads wait for each other by spinning; on a machine that is busy with other work they then spin through
    # the very time slice the other one needs (0.3 tokens/s instead of 4). A short spin costs an idle machine nothing.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    import llama_cpp

    def receive(level: int, text: bytes, _data: object) -> None:
        severity = logging.WARNING if level == _ERROR_LEVEL else logging.DEBUG
        if _logger.isEnabledFor(severity):
            _logger.log(severity, "%s", text.decode("utf-8", "replace").rstrip())

    callback = llama_cpp.llama_log_callback(receive)
    _callbacks.append(callback)  # llama.cpp keeps the pointer: the object must outlive it
    llama_cpp.llama_log_set(callback, None)
    llama_cpp.llama_backend_init()
    return llama_cpp
