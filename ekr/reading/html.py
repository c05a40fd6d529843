"""HTML: visible text, headings, tables; scripts, styles and menus dropped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ekr.errors import ReadError
from ekr.reading.builder import TextBuilder
from ekr.reading.document import Document, MetadataValue
from ekr.reading.encoding import decode
from ekr.reading.limits import MAX_DEPTH, check_text_bytes, check_text_size
from ekr.text import clean, collapse, words

_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
# The tree of a page takes some 150 bytes a tag.
_MOST_TAGS = 2_000_000
_HIDDEN = words("script style template noscript head svg math iframe object canvas")
_BLOCKS = words(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure "
    "footer form header hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead "
    "tr ul caption option select"
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_META = {"author": "author", "description": "description", "keywords": "keywords", "date": "date"}


def read_html(path: Path, on_problem: Callable[[ReadError], None]) -> Iterator[Document]:
    """The one document of an HTML page. Raises ReadError: no text, nested too deeply."""
    from lxml import etree, html

    check_text_bytes(path)
    text, warnings = _decode(path.read_bytes())
    check_text_size(len(text))
    if text.count("<") > _MOST_TAGS:
        raise ReadError(f"more than {_MOST_TAGS:,} tags; split it first")
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = html.document_fromstring(clean(text).encode(), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise ReadError("empty: no HTML in it") from error
    try:
        document = _document(root, path, warnings, navigation=False)
    except ReadError:
        # A page of links and nothing else is worth as much as its links.
        document = _document(root, path, warnings, navigation=True)
    yield document


def _document(root: Any, path: Path, warnings: list[str], *, navigation: bool) -> Document:
    builder = TextBuilder()
    _Renderer(builder, navigation=navigation).render(root)
    title = root.findtext(".//title") or ""
    language = (root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or "")[:2].lower()
    return builder.document(
        title=collapse(title) or (builder.headings[0].text if builder.headings else path.stem),
        format="html",
        metadata=_metadata(root),
        warnings=warnings,
        declared_language=language if len(language) == 2 and language.isalpha() else "und",
    )


def _decode(data: bytes) -> tuple[str, list[str]]:
    """Unicode where it is valid, else the page's own declaration, else a guess."""
    declared = _META_CHARSET.search(data[:4096])
    if declared is not None and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            try:
                return data.decode(declared[1].decode("ascii")), []
            except (LookupError, UnicodeDecodeError):
                pass
    return decode(data)


def _metadata(root: Any) -> dict[str, MetadataValue]:
    metadata: dict[str, MetadataValue] = {}
    for meta in root.iterfind(".//meta"):
        name = _META.get((meta.get("name") or "").lower())
        content = collapse(clean(meta.get("content") or ""))
        if name and content:
            metadata.setdefault(name, content[:2_000])
    return metadata


class _Renderer:
    """Walks the tree without recursion; text between two block borders is one paragraph."""

    def __init__(self, builder: TextBuilder, *, navigation: bool) -> None:
        self._builder = builder
        self._navigation = navigation
        self._inline: list[str] = []
        self._preformatted = 0
        self._items: list[int | None] = []
        self._marker = ""
        self._heading = 0

    def render(self, root: Any) -> None:
        """Adds the visible text below `root`. Raises ReadError above the depth limit."""
        stack: list[tuple[Any, bool]] = [(root, False)]
        depth = 0
        while stack:
            element, leaving = stack.pop()
            if leaving:
                depth -= 1
                self._leave(element)
                self._add(element.tail)
                continue
            tag = element.tag if isinstance(element.tag, str) else ""
            if not tag or tag in _HIDDEN:
                self._add(element.tail)
                continue
            if not self._navigation and (tag == "nav" or _role(element) == "navigation"):
                self._flush()
                self._add(element.tail)
                continue
            if tag == "table" and _is_data_table(element):
                self._flush()
                self._table(element)
                self._add(element.tail)
                continue
            depth += 1
            if depth > MAX_DEPTH:
                raise ReadError(f"nested more than {MAX_DEPTH} levels deep; simplify it first")
            self._enter(element, tag)
            self._add(element.text)
            stack.append((element, True))
            stack.extend((child, False) for child in reversed(element))
        self._flush()

    def _enter(self, element: Any, tag: str) -> None:
        if tag in _BLOCKS or tag in _HEADINGS:
            self._flush()
        if tag in _HEADINGS:
            self._heading = _HEADINGS[tag]
        elif tag == "pre":
            self._preformatted += 1
        elif tag in {"ul", "ol", "menu"}:
            self._items.append(_start(element) if tag == "ol" else None)
        elif tag == "li":
            self._marker = self._next_marker()
        elif tag == "br":
            self._inline.append("\n")
        elif tag == "img":
            self._add(element.get("alt"))

    def _leave(self, element: Any) -> None:
        tag = element.tag
        if tag in _BLOCKS or tag in _HEADINGS:
            self._flush()
        if tag in _HEADINGS:
            self._heading = 0
        elif tag == "pre":
            self._preformatted -= 1
        elif tag in {"ul", "ol", "menu"}:
            self._items.pop()

    def _next_marker(self) -> str:
        if not self._items or self._items[-1] is None:
            return "- "
        number = self._items[-1]
        self._items[-1] = number + 1
        return f"{number}. "

    def _add(self, text: str | None) -> None:
        if text:
            self._inline.append(text if self._preformatted else re.sub(r"[ \t\n\r\f]+", " ", text))

    def _flush(self) -> None:
        joined = "".join(self._inline)
        self._inline = []
        if not joined.strip():
            return
        text = (
            joined if self._preformatted else "\n".join(re.sub(r" +", " ", line).strip() for line in joined.split("\n"))
        )
        if self._heading:
            self._builder.heading(self._heading, text)
        elif self._items:
            indent = "  " * (len(self._items) - 1)
            self._builder.item(indent + (self._marker or "  ") + text.strip())
            self._marker = ""
        else:
            self._builder.paragraph(text)

    def _table(self, table: Any) -> None:
        caption = table.find("caption")
        if caption is not None:
            self._builder.paragraph(_cell_text(caption))
        rows = [[cell for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr")]
        rows = [row for row in rows if row]
        header = bool(rows) and (all(cell.tag == "th" for cell in rows[0]) or table.find("thead") is not None)
        self._builder.table([[_cell_text(cell) for cell in row] for row in rows], header=header)


def _role(element: Any) -> str:
    return (element.get("role") or "").strip().lower()


def _start(element: Any) -> int:
    value = element.get("start") or "1"
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 1


def _is_data_table(table: Any) -> bool:
    """False for tables that only lay out a page: they hold other tables, headings or no second cell."""
    if next(table.iterdescendants("table", *_HEADINGS), None) is not None:
        return False
    return any(sum(1 for cell in row if cell.tag in {"td", "th"}) > 1 for row in table.iter("tr"))


def _cell_text(cell: Any) -> str:
    from lxml import etree

    parts: list[str] = []
    skipping = 0
    for event, element in etree.iterwalk(cell, events=("start", "end")):
        hidden = not isinstance(element.tag, str) or element.tag in _HIDDEN
        spaced = " " if element.tag in _BLOCKS or element.tag == "br" else ""
        if event == "start":
            skipping += hidden
            if not skipping:
                parts += [spaced, element.text or "", element.get("alt") or ""]
        else:
            skipping -= hidden
            if not skipping and element is not cell:
                parts += [spaced, element.tail or ""]
    return collapse("".join(parts))
