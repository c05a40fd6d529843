"""Markdown (CommonMark with tables): plain text without its markup, headings, tables, front matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ekr.errors import ReadError
from ekr.reading.builder import TextBuilder
from ekr.reading.document import Document
from ekr.reading.encoding import read_text
from ekr.reading.front_matter import split_front_matter
from ekr.reading.limits import MAX_DEPTH

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DROPPED = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_INDENT = "  "
_DEEP_MARKS = re.compile(r"^(?:[ \t]*(?:>|[-+*](?=[ \t]))){50,}[ \t]*", re.MULTILINE)
# Opening marks for each of which the parser looks for its end in the whole block.
_SLOW_MARKS = ("[", "<", "*", "_", "`", "~")
_MOST_SLOW_MARKS = 4_000


def read_markdown(path: Path, on_problem: Callable[[ReadError], None]) -> Iterator[Document]:
    """The one document of a Markdown file. Raises ReadError when it holds no text.

    Where more than `MAX_DEPTH` quotations and lists lie inside one another, it is read as if it had none.
    """
    from markdown_it import MarkdownIt

    text, warnings = read_text(path)
    metadata, body, problems = split_front_matter(text)
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_DEPTH}).enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", _parse_inline)
    builder = TextBuilder()
    tokens = parser.parse(body)
    if _is_cut_off(tokens):
        tokens = parser.disable(["blockquote", "list"]).parse(_DEEP_MARKS.sub("", body))
        problems = [*problems, f"nested more than {MAX_DEPTH} levels deep: read without its quotations and lists"]
    _Renderer(builder).render(tokens)
    title = metadata.pop("title", "")
    declared = str(metadata.get("lang", metadata.get("language", "")))[:2].lower()
    yield builder.document(
        title=str(title) or _first_title(builder) or path.stem,
        format="markdown",
        metadata=metadata,
        warnings=[*warnings, *problems],
        declared_language=declared if declared.isalpha() and len(declared) == 2 else "und",
    )


def _is_cut_off(tokens: Sequence[Token]) -> bool:
    """Whether the parser met its limit: it passes over the text in a block of the last level, and more."""
    return any(
        opening.level >= MAX_DEPTH - 1 and opening.nesting > 0 and closing.nesting < 0
        for opening, closing in pairwise(tokens)
    )


def _parse_inline(state: StateCore) -> None:
    """The parser's own rule, but for blocks with so many marks that it would take minutes: those stay as they are."""
    from markdown_it.token import Token

    for token in state.tokens:
        if token.type != "inline":
            continue
        if sum(map(token.content.count, _SLOW_MARKS)) > _MOST_SLOW_MARKS:
            token.children = [Token("text", "", 0, content=token.content)]
        else:
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _first_title(builder: TextBuilder) -> str:
    top = [heading for heading in builder.headings if heading.level == 1]
    return top[0].text if top else ""


class _Renderer:
    """Walks the flat list of block tokens; state is the list nesting and the table being read."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._counters: list[int | None] = []
        self._marker = ""
        self._heading = 0
        self._rows: list[list[str]] = []
        self._in_table = False

    def render(self, tokens: Sequence[Token]) -> None:
        """Adds every block to the builder."""
        for token in tokens:
            self._block(token)

    def _block(self, token: Token) -> None:
        kind = token.type
        if kind in {"fence", "code_block"}:
            self._text(token.content.rstrip("\n"))
        elif kind == "html_block":
            self._text(_without_tags(token.content))
        elif kind == "inline":
            self._text(inline_text(token.children or []))
        elif kind in {"heading_open", "heading_close"}:
            self._heading = int(token.tag[1:]) if token.nesting > 0 else 0
        elif kind.startswith(("table_", "tr_")):
            self._table(token)
        else:
            self._list(token)

    def _list(self, token: Token) -> None:
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            ordered = token.type == "ordered_list_open"
            self._counters.append(int(token.attrs.get("start", 1)) - 1 if ordered else None)
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            self._counters.pop()
        elif token.type == "list_item_open":
            self._marker = self._next_marker(token.markup)

    def _table(self, token: Token) -> None:
        if token.type == "table_open":
            self._in_table, self._rows = True, []
        elif token.type == "table_close":
            self._in_table = False
            self._builder.table(self._rows, header=True)
        elif token.type == "tr_open":
            self._rows.append([])

    def _next_marker(self, markup: str) -> str:
        counter = self._counters[-1]
        if counter is None:
            return "- "
        self._counters[-1] = counter + 1
        return f"{counter + 1}{markup[-1] if markup[-1:] in {'.', ')'} else '.'} "

    def _text(self, text: str) -> None:
        if self._in_table:
            self._rows[-1].append(text)
        elif self._heading:
            self._builder.heading(self._heading, text)
        elif self._counters:
            indent = _INDENT * (len(self._counters) - 1)
            lead = indent + (self._marker or _INDENT)
            self._builder.item(lead + text.replace("\n", "\n" + indent + _INDENT))
            self._marker = ""
        else:
            self._builder.paragraph(text)


def inline_text(tokens: Sequence[Token]) -> str:
    """The words of inline tokens: link and emphasis marks go, code and image descriptions stay."""
    parts: list[str] = []
    for token in tokens:
        if token.type in {"text", "code_inline"}:
            parts.append(token.content)
        elif token.type == "softbreak":
            parts.append(" ")
        elif token.type == "hardbreak":
            parts.append("\n")
        elif token.type == "image":
            parts.append(inline_text(token.children or []) or token.content)
        elif token.type == "html_inline" and token.content.lower().startswith("<br"):
            parts.append("\n")
    return "".join(parts)


def _without_tags(html: str) -> str:
    from html import unescape

    return unescape(_TAG.sub("", _DROPPED.sub("", _COMMENT.sub("", html)))).strip()
