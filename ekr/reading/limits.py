"""Bounds on one file, so that a hostile or broken one cannot take the run down with it."""

from __future__ import annotations

from pathlib import Path

from ekr.errors import ReadError

MAX_FILE_BYTES = 512 * 1024 * 1024
MAX_TEXT_CHARACTERS = 50_000_000
MAX_PDF_PAGES = 20_000
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
MAX_DEPTH = 200


def check_size(path: Path) -> None:
    """Raises ReadError for an empty file, one above the size limit, and one that cannot be looked at."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or error}") from error
    if size == 0:
        raise ReadError("empty: 0 bytes")
    if size > MAX_FILE_BYTES:
        raise ReadError(f"{size:,} bytes, more than the limit of {MAX_FILE_BYTES:,}; split it first")


def check_text_bytes(path: Path) -> None:
    """As `check_size`, for a file that is all text: raises ReadError before it is read, when it must be too long."""
    check_size(path)
    # No encoding takes more than four bytes a character.
    if path.stat().st_size > 4 * MAX_TEXT_CHARACTERS:
        raise ReadError(f"more than {MAX_TEXT_CHARACTERS:,} characters of text; split it first")


def check_text_size(characters: int) -> None:
    """Raises ReadError above the limit on a document's text."""
    if characters > MAX_TEXT_CHARACTERS:
        raise ReadError(f"more than {MAX_TEXT_CHARACTERS:,} characters of text; split it first")
