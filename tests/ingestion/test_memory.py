"""Memory of a long run, seen through the C library's own account."""

import ctypes
import subprocess
import sys

import pytest

_GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallinfo2")

_ACCOUNT = """
import ctypes
from ekr.ingestion import memory

class Account(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

c = ctypes.CDLL(None)
c.mallinfo2.restype, c.malloc.restype = Account, ctypes.c_void_p
c.malloc.argtypes, c.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
{prepare}
c.free(c.malloc(24 << 20))  # by default blocks of up to this size stay in the heap from now on
before = c.mallinfo2().hblkhd
block = c.malloc(4 << 20)
held = c.mallinfo2().hblkhd
c.free(block)
print(held - before, c.mallinfo2().hblkhd - before)
"""


def _mapped(prepare: str) -> tuple[int, int]:
    """Bytes mapped for a block of 4 MB while it is held, and after it is freed."""
    command = [sys.executable, "-c", _ACCOUNT.format(prepare=prepare)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return int(told[0]), int(told[1])


@pytest.mark.skipif(not _GLIBC, reason="the C library is not glibc 2.33 or newer")
def test_a_large_block_goes_back_to_the_system_also_after_a_larger_one_was_freed() -> None:
    by_default, _ = _mapped("")
    held, after = _mapped("memory.keep_heaps_small()")

    assert by_default == 0
    assert held >= 4 << 20
    assert after == 0


def test_without_the_options_of_glibc_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    from ekr.ingestion import memory

    def refuse(name: str | None) -> ctypes.CDLL:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", refuse)

    memory.keep_heaps_small()
    memory.give_back()
