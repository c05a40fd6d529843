"""Memory that is free in this process, given back to the system."""

from __future__ import annotations

import ctypes
import gc


def give_back() -> None:
    """Collect garbage, and return what the C library keeps of freed memory where it can (glibc).

    Python's own arenas cannot use it again: without this, what comes next lies on top of what has been let go.
    """
    gc.collect()
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return
    trim(0)
