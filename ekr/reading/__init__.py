"""Readers: one file in, documents out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from ekr.errors import EkrError, ReadError
from ekr.reading.document import Document

Reader = Callable[[Path, Callable[[ReadError], None]], Iterator[Document]]

_READERS = {
    ".pdf": ("ekr.reading.pdf", "read_pdf"),
    ".md": ("ekr.reading.markdown", "read_markdown"),
    ".markdown": ("ekr.reading.markdown", "read_markdown"),
    ".html": ("ekr.reading.html", "read_html"),
    ".htm": ("ekr.reading.html", "read_html"),
    ".xhtml": ("ekr.reading.html", "read_html"),
    ".docx": ("ekr.reading.docx", "read_docx"),
    ".txt": ("ekr.reading.plain", "read_plain"),
    ".text": ("ekr.reading.plain", "read_plain"),
    ".jsonl": ("ekr.reading.jsonl", "read_jsonl"),
    ".ndjson": ("ekr.reading.jsonl", "read_jsonl"),
}
_LONGEST_DETAIL = 200
SUPPORTED_SUFFIXES: frozenset[str] = frozenset(_READERS)

__all__ = ["SUPPORTED_SUFFIXES", "Document", "read"]


def read(path: Path, on_problem: Callable[[ReadError], None]) -> Iterator[Document]:
    """The documents of one file; a JSONL file yields one a record.

    A record that cannot be used goes to `on_problem` and the rest goes on. Raises ReadError, with the path
    as `where`, when nothing of the file can be read.
    """
    module, function = _READERS.get(path.suffix.lower(), ("", ""))
    if not module:
        known = ", ".join(sorted(SUPPORTED_SUFFIXES))
        raise ReadError(f"unsupported type {path.suffix or '(no suffix)'}; supported are {known}", str(path))
    reader: Reader = getattr(import_module(module), function)
    try:
        yield from reader(path, on_problem)
    except ReadError as error:
        raise error if error.where else ReadError(error.reason, str(path)) from error
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or error}", str(path)) from error
    except RecursionError as error:
        raise ReadError("nested too deeply; simplify it first", str(path)) from error
    except MemoryError as error:
        raise ReadError("needs more memory than there is; split it first", str(path)) from error
    except EkrError:
        raise
    except Exception as error:  # whatever a parser makes of a broken file, the others must go in
        detail = " ".join(str(error).split())[:_LONGEST_DETAIL]
        raise ReadError(f"broken: {type(error).__name__} {detail}".rstrip(), str(path)) from error
