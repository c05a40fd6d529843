"""Memory of a long run: few heaps, and what is free goes back to the system (with glibc; elsewhere no effect)."""

from __future__ import annotations

import ctypes
import gc

# Parameters of mallopt(3), by their numbers in malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_LARGE = 1 << 20


def keep_heaps_small() -> None:
    """Two heaps for all threads, and blocks of 1 MB and more mapped by themselves, so that they go back when freed.

    By default each of the engines' threads may have a heap of its own, and the size of what is mapped grows to
    32 MB: of an ingest of 20,000 passages 550 MB lay free between what was in use, and the ingest peaked at
    2.0 GB. Holds for the process.
    """
    if (set_option := _c_function("mallopt")) is not None:
        set_option(_ARENA_MAX, 2)
        set_option(_MMAP_THRESHOLD, _LARGE)
        set_option(_TRIM_THRESHOLD, 16 * _LARGE)


def give_back() -> None:
    """Collect garbage, and return what the C library keeps of freed memory.

    Python's own arenas cannot use it again: without this, what comes next lies on top of what has been let go.
    """
    gc.collect()
    if (trim := _c_function("malloc_trim")) is not None:
        trim(0)


def _c_function(name: str) -> ctypes._NamedFuncPointer | None:
    try:
        return ctypes.CDLL(None)[name]
    except (AttributeError, OSError, TypeError):
        return None
