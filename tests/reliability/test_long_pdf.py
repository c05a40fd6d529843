"""A PDF of thousands of pages is read to its end, and every page is found again."""

from __future__ import annotations

from pathlib import Path

from ekr.chunking import ChunkSettings
from ekr.config import Settings
from ekr.ingestion.prepare import FileTask, prepare
from ekr.models import load_tokenizer
from ekr.store.records import PreparedDocument
from tests.reliability.hostile_pdf import _pages

PAGES = 3154
_SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su")


def name_of(page: int) -> str:
    """A word of its own for each page: lines that differ in figures alone are running heads."""
    return "".join(_SYLLABLES[int(digit)] for digit in str(page)).capitalize()


def test_every_page_of_a_pdf_of_thousands_is_read_and_keeps_its_number(tmp_path: Path) -> None:
    file = tmp_path / "long.pdf"
    lines = (f"BT /F1 12 Tf 72 700 Td (Miller {name_of(page)} ground corn.) Tj ET" for page in range(1, PAGES + 1))
    _pages([line.encode() for line in lines], file)
    settings = Settings()
    tokenizer = load_tokenizer(settings.embedder, settings)
    (document,) = prepare(FileTask(file, file.name, {}, {}), tokenizer, ChunkSettings())
    assert isinstance(document, PreparedDocument)
    assert (document.record.pages, len(document.pages)) == (PAGES, PAGES)
    assert document.chunks[-1].page_end == PAGES
    for page in (1, 331, 2718, PAGES):
        assert name_of(page) in document.pages[page - 1]
        holding = [chunk for chunk in document.chunks if f"Miller {name_of(page)} ground" in chunk.text]
        assert holding
        assert all((chunk.page_start or 0) <= page <= (chunk.page_end or 0) for chunk in holding)
