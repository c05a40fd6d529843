"""A bound on what the streams of a PDF unpack to, checked before anything unpacks them whole."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from mmap import mmap

from ekr.errors import ReadError

MAX_STREAM_BYTES = 200_000_000
_STEP = 1 << 20
_STREAM = re.compile(rb"stream\r?\n")
# The dictionary before a stream; a longer one than this is no dictionary that a producer writes.
_DICTIONARY_BYTES = 2_000


def check_streams(data: bytes | mmap, limit: int = MAX_STREAM_BYTES) -> None:
    """Raises ReadError where a deflated stream that is no image (images are never read) unpacks to more than `limit`.

    Streams stand in the file itself and not in other streams, so every one is seen; an encrypted one unpacks to
    nothing here.
    """
    for found in _STREAM.finditer(data):
        head = data[max(0, found.start() - _DICTIONARY_BYTES) : found.start()]
        dictionary = head[max(head.rfind(b"endobj"), head.rfind(b"endstream"), 0) :]
        layers = dictionary.count(b"FlateDecode") + len(re.findall(rb"/Fl\b", dictionary))
        if layers and not re.search(rb"/Subtype\s*/Image\b", dictionary):
            end = data.find(b"endstream", found.end())
            size = 0
            for piece in _unpacked(_pieces(data, found.end(), end if end >= 0 else len(data)), layers):
                size += len(piece)
                if size > limit:
                    raise ReadError(
                        f"a stream of the PDF unpacks to over {limit // 1_000_000} MB; print it to a new PDF"
                    )


def _pieces(data: bytes | mmap, start: int, end: int) -> Iterator[bytes]:
    for at in range(start, end, _STEP):
        yield data[at : min(at + _STEP, end)]


def _unpacked(pieces: Iterator[bytes], layers: int) -> Iterator[bytes]:
    for _ in range(layers):
        pieces = _inflated(pieces)
    return pieces


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """At most a step at a time; ends where the data is not deflated, as a reader of the stream would."""
    inflate = zlib.decompressobj()
    try:
        for piece in pieces:
            rest = piece
            while rest and not inflate.eof:
                yield inflate.decompress(rest, _STEP)
                rest = inflate.unconsumed_tail
    except zlib.error:
        return
