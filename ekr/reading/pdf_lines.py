"""The lines of a PDF page with their place and type style, read through pdfium."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

_BREAKS = re.compile("[\r\n]+|(?<=.)(?=\ufffe)|(?<=\ufffe)")
_SAMPLES = 5
_BOLD_NAME = re.compile(r"bold|black|heavy|semibold|demi(?!um)|-bd", re.IGNORECASE)
_ITALIC_NAME = re.compile(r"ital|obli", re.IGNORECASE)
_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
)


@dataclass(frozen=True, slots=True)
class Line:
    """One visual line. Distances in points, y upwards; `size` is the font size as drawn.

    `hyphen` says that pdfium saw a word go on in the next line. `note` marks the lines of footnotes, once
    they have been found.
    """

    page: int
    text: str
    left: float
    right: float
    baseline: float
    size: float
    bold: bool
    italic: bool
    hyphen: bool = False
    note: bool = False

    @property
    def centre(self) -> float:
        """The middle of the line on the x axis."""
        return (self.left + self.right) / 2


def page_lines(textpage: Any, page: int) -> list[Line]:
    """The lines of one page in the order of its content; `page` counts from 1."""
    text = _characters(textpage)
    lines: list[Line] = []
    position = 0
    for piece in _BREAKS.split(text):
        start = text.find(piece, position) if piece else position
        position = start + len(piece)
        if piece == "\ufffe":
            if lines:
                lines[-1] = replace(lines[-1], text=lines[-1].text + "-", hyphen=True)
            continue
        if not piece.strip():
            continue
        first = start + len(piece) - len(piece.lstrip())
        last = start + len(piece.rstrip()) - 1
        shown = piece.strip().translate(_LIGATURES)
        line = _line(textpage.raw, page, shown, first, last)
        if lines and _continues(lines[-1], line):
            lines[-1] = _merge(lines[-1], line)
        else:
            lines.append(line)
    return lines


def _characters(textpage: Any) -> str:
    """The page's characters such that index i is pdfium's character i."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(textpage.raw)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(textpage.raw, 0, count, buffer)
    text = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "surrogatepass")
    if len(text) == count and written - 1 == count:
        return text.replace("\x02", "\ufffe")
    # Characters that pdfium leaves out of its text, or non-BMP ones, would shift every later index.
    units = [pdfium.FPDFText_GetUnicode(textpage.raw, index) for index in range(count)]
    return "".join(chr(unit) if unit else " " for unit in units).replace("\x02", "\ufffe")


def _line(raw: Any, page: int, text: str, first: int, last: int) -> Line:
    import pypdfium2.raw as pdfium

    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(raw, first, x, y)
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    pdfium.FPDFText_GetCharBox(raw, last, left, right, bottom, top)
    step = max(1, (last - first) // (_SAMPLES - 1))
    sampled = [_style(raw, index) for index in {*range(first, last + 1, step), last}]
    # Spaces and generated characters carry no font of their own.
    styles = [style for style in sampled if style is not None] or [(1.0, False, False)]
    return Line(
        page=page,
        text=text,
        left=x.value,
        right=right.value,
        baseline=y.value,
        size=sorted(size for size, _, _ in styles)[len(styles) // 2],
        bold=all(bold for _, bold, _ in styles),
        italic=all(italic for _, _, italic in styles),
    )


def _style(raw: Any, index: int) -> tuple[float, bool, bool] | None:
    import pypdfium2.raw as pdfium

    code = pdfium.FPDFText_GetUnicode(raw, index)
    if code <= 0x20 or code == 0xA0 or pdfium.FPDFText_IsGenerated(raw, index):
        return None
    matrix = pdfium.FS_MATRIX()
    scale = 1.0
    if pdfium.FPDFText_GetMatrix(raw, index, matrix):
        scale = (matrix.c**2 + matrix.d**2) ** 0.5 or 1.0
    size = pdfium.FPDFText_GetFontSize(raw, index) * scale
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(raw, index, name, 128, flags)
    bold, italic = _name_style(name.value)
    return round(size, 1), bold or pdfium.FPDFText_GetFontWeight(raw, index) >= 600, italic


@lru_cache(maxsize=256)
def _name_style(name: bytes) -> tuple[bool, bool]:
    text = name.decode("utf-8", "replace")
    return bool(_BOLD_NAME.search(text)), bool(_ITALIC_NAME.search(text))


def _continues(previous: Line, line: Line) -> bool:
    """True where pdfium broke a visual line at a superscript or a change of font."""
    if previous.hyphen:
        return False
    size = max(previous.size, line.size)
    gap = line.left - previous.right
    return -0.3 * size <= gap <= 0.9 * size and abs(line.baseline - previous.baseline) < 0.55 * size


def _merge(previous: Line, line: Line) -> Line:
    larger = previous if previous.size >= line.size else line
    space = " " if line.left - previous.right > 0.16 * larger.size else ""
    longer = previous if len(previous.text) >= len(line.text) else line
    return Line(
        page=previous.page,
        text=previous.text + space + line.text,
        left=previous.left,
        right=max(previous.right, line.right),
        baseline=longer.baseline,
        size=longer.size,
        bold=previous.bold and line.bold,
        italic=previous.italic and line.italic,
        hyphen=line.hyphen,
    )
