"""Real files, made on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from ekr.errors import ReadError
from ekr.reading import Document, read

WIDTH, HEIGHT = A4


def one(path: Path) -> Document:
    """The only document of a file that must have no problems."""
    problems: list[ReadError] = []
    (document,) = read(path, problems.append)
    assert problems == []
    return document


class Page:
    """Writes lines down a page; `gap` is the room above a line in points."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.y = HEIGHT - 90

    def line(
        self, text: str, *, size: float = 10, font: str = "Helvetica", gap: float = 12, centred: bool = False
    ) -> None:
        self.y -= gap
        self.canvas.setFont(font, size)
        if centred:
            self.canvas.drawCentredString(WIDTH / 2, self.y, text)
        else:
            self.canvas.drawString(72, self.y, text)

    def paragraph(self, lines: Sequence[str], *, gap: float = 24) -> None:
        for index, text in enumerate(lines):
            self.line(text, gap=gap if index == 0 else 12)


class Pdf:
    """A PDF with the same head and foot on every page."""

    def __init__(self, path: Path, head: str = "", title: str = "") -> None:
        self.path = path
        self.canvas = Canvas(str(path), pagesize=A4)
        self.canvas.setTitle(title)
        self.head = head
        self.number = 0

    def page(self) -> Page:
        if self.number:
            self.canvas.showPage()
        self.number += 1
        if self.head:
            self.canvas.setFont("Helvetica", 8)
            self.canvas.drawString(72, HEIGHT - 40, self.head)
            self.canvas.drawString(WIDTH - 100, 30, f"Page {self.number}")
        return Page(self.canvas)

    def save(self) -> Path:
        self.canvas.showPage()
        self.canvas.save()
        return self.path


PROSE = (
    "The engine works on numbers of fifty digits and keeps a thousand of them in",
    "its store. The mill takes two of them at a time and gives back their sum, their",
    "difference or their product, which goes to the store or is printed at once.",
)
