"""Checksums in files: what an engine does not verify when it opens one."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_META = "meta.json"
_PARTS = ("idx", "term", "store", "fieldnorm", "fast", "pos")
_BLOCK = 1 << 20
_TAIL = struct.Struct("<II")  # length of the footer, magic number
_MAGIC = 1337
_LONGEST_FOOTER = 4096


def damaged_postings(directory: Path) -> list[str]:
    """Files of a `bm25/` directory that are missing or not what Tantivy wrote, as `index/file`, sorted.

    Every file of a segment ends in a footer with the CRC-32 of what is before it (Tantivy 0.27, directory/footer.rs):
    JSON, its length and a magic number, both as 32 bits little-endian.
    """
    found = []
    for index in sorted(entry for entry in directory.iterdir() if entry.is_dir()) if directory.is_dir() else ():
        present = {file.name for file in index.glob("[!.]*.*") if file.suffix != ".json"}
        try:
            expected = set(_files_of(json.loads((index / _META).read_text(encoding="utf-8"))))
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            found.append(f"{index.name}/{_META}")
            expected = set()
        wrong = (expected - present) | {name for name in present if not _is_whole(index / name)}
        found += [f"{index.name}/{name}" for name in sorted(wrong)]
    return found


def _files_of(meta: dict[str, Any]) -> Iterator[str]:
    """Names of the files of the segments that an index names."""
    for segment in meta["segments"]:
        name = segment["segment_id"].replace("-", "")
        yield from (f"{name}.{part}" for part in _PARTS)
        if deletes := segment.get("deletes"):
            yield f"{name}.{deletes['opstamp']}.del"


def _is_whole(file: Path) -> bool:
    size = file.stat().st_size
    with file.open("rb") as stream:
        stream.seek(max(0, size - _TAIL.size))
        tail = stream.read()
        if len(tail) != _TAIL.size:
            return False
        length, magic = _TAIL.unpack(tail)
        body = size - _TAIL.size - length
        if magic != _MAGIC or length > _LONGEST_FOOTER or body < 0:
            return False
        stream.seek(body)
        try:
            expected = json.loads(stream.read(length))["crc"]
        except (ValueError, KeyError, TypeError):
            return False
        stream.seek(0)
        checksum = 0
        while body > 0 and (block := stream.read(min(_BLOCK, body))):
            checksum = zlib.crc32(block, checksum)
            body -= len(block)
        return bool(checksum == expected)
