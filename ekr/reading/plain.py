"""Plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ekr.errors import ReadError
from ekr.reading import language
from ekr.reading.builder import single_spaced
from ekr.reading.document import Document
from ekr.reading.encoding import read_text


def read_plain(path: Path, on_problem: Callable[[ReadError], None]) -> Iterator[Document]:
    """The one document of a text file; its title is the file's name. Raises ReadError when empty."""
    text, warnings = read_text(path)
    text = single_spaced(text)
    if not text.strip():
        raise ReadError("empty: no text")
    yield Document(title=path.stem, text=text, format="text", language=language.detect(text), warnings=tuple(warnings))
