"""What a PDF's streams unpack to is bounded before they are unpacked."""

from __future__ import annotations

import zlib

import pytest

from ekr.errors import ReadError
from ekr.reading.pdf_streams import check_streams

TEN_MB = b" " * 10_000_000


def _object(data: bytes, entries: bytes = b"/Filter /FlateDecode") -> bytes:
    return b"4 0 obj\n<< %s /Length %d >>\nstream\n%s\nendstream\nendobj\n" % (entries, len(data), data)


@pytest.mark.parametrize(
    "packed",
    [
        _object(zlib.compress(TEN_MB, 9)),
        _object(zlib.compress(zlib.compress(TEN_MB, 9), 9), b"/Filter [/FlateDecode /FlateDecode]"),
        _object(zlib.compress(TEN_MB, 9), b"/Filter/Fl"),
        _object(zlib.compress(b"x")) + _object(zlib.compress(TEN_MB, 9)),
        _object(zlib.compress(TEN_MB, 9))[:-40],
    ],
)
def test_a_stream_that_unpacks_to_more_than_the_limit_is_refused(packed: bytes) -> None:
    with pytest.raises(ReadError, match="unpacks to over 5 MB"):
        check_streams(b"%PDF-1.7\n" + packed, limit=5_000_000)


@pytest.mark.parametrize(
    "packed",
    [
        _object(zlib.compress(TEN_MB, 9), b"/Subtype /Image /Filter /FlateDecode"),
        _object(zlib.compress(b"x" * 4_000_000)) * 3,
        _object(b"not deflated at all" * 1000),
        _object(TEN_MB, b""),
        b"stream\n",
        b"",
    ],
)
def test_images_small_streams_and_broken_ones_pass(packed: bytes) -> None:
    check_streams(packed, limit=5_000_000)
