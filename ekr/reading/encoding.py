"""Bytes to text: Unicode where they are Unicode, else the likeliest legacy encoding, said as a warning."""

from __future__ import annotations

import codecs
from pathlib import Path

from ekr.errors import ReadError
from ekr.reading.limits import check_text_bytes, check_text_size
from ekr.text import REPLACEMENT, clean

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 64 * 1024
# Where the guess is a tie these are right far more often than their rare relatives.
_PREFERRED = ("cp1252", "latin_1", "iso8859_15", "mac_roman")


def read_text(path: Path) -> tuple[str, list[str]]:
    """The cleaned text of a file and warnings on how it was decoded. Raises ReadError."""
    check_text_bytes(path)
    text, warnings = decode(path.read_bytes())
    check_text_size(len(text))
    return clean(text), warnings


def decode(data: bytes) -> tuple[str, list[str]]:
    """Text and warnings; never fails on bytes, but raises ReadError where they are no text at all."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _lossy(data[len(mark) :], encoding)
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError as error:
        if data.count(0) > len(data) // 5 or _is_binary(data):
            return _decode_binary(data)
        return _decode_legacy(data, error)


def _lossy(data: bytes, encoding: str) -> tuple[str, list[str]]:
    text = data.decode(encoding, "replace")
    lost = text.count(REPLACEMENT)
    return text, [f"{lost} undecodable characters in {encoding}"] if lost else []


def _is_binary(data: bytes) -> bool:
    sample = data[:_SAMPLE]
    control = sum(1 for byte in sample if byte < 32 and byte not in b"\t\n\r\x0b\x0c\x1b")
    return control > len(sample) // 10


def _decode_binary(data: bytes) -> tuple[str, list[str]]:
    for encoding in ("utf-16-le", "utf-16-be"):
        zeros = data[1 if encoding.endswith("le") else 0 : _SAMPLE : 2].count(0)
        if zeros > min(len(data), _SAMPLE) // 4:
            text, warnings = _lossy(data, encoding)
            return text, [f"encoding guessed as {encoding}", *warnings]
    raise ReadError("binary data, not text; convert it first")


def _decode_legacy(data: bytes, error: UnicodeDecodeError) -> tuple[str, list[str]]:
    # A single bad byte in an otherwise UTF-8 file is damage, not another encoding.
    text = data.decode("utf-8", "replace")
    lost = text.count(REPLACEMENT)
    good = sum(1 for character in text if ord(character) > 127) - lost
    if good > 4 * lost:
        return text, [f"{lost} undecodable bytes, the first at {error.start}"]
    from charset_normalizer import from_bytes

    sample = data[max(0, error.start - _SAMPLE // 2) :][:_SAMPLE]
    matches = list(from_bytes(sample))
    if not matches:
        return data.decode("cp1252", "replace"), ["encoding guessed as cp1252"]
    chaos = matches[0].chaos
    tied = [match.encoding for match in matches if match.chaos <= chaos + 0.02]
    encoding = next((name for name in _PREFERRED if name in tied), matches[0].encoding)
    return data.decode(encoding, "replace"), [f"encoding guessed as {encoding}"]
