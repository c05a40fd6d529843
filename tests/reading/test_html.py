"""HTML: visible words, structure, hostile input."""

from __future__ import annotations

from pathlib import Path

import pytest

from ekr.errors import ReadError
from ekr.reading import Document
from tests.reading.helpers import one


def load(tmp_path: Path, html: str | bytes) -> Document:
    path = tmp_path / "page.html"
    path.write_bytes(html.encode() if isinstance(html, str) else html)
    return one(path)


def test_visible_text_headings_and_metadata(tmp_path: Path) -> None:
    document = load(
        tmp_path,
        """<html lang="en"><head><title>The Colossus</title><meta name="author" content="A. Person">
        <style>p{color:red}</style></head><body><h1>Colossus</h1><p>Built by <b>Flowers</b>
        in   1943.<br>At Dollis Hill.</p><script>alert(1)</script><h2>Use</h2><ul><li>one<li>two</ul>
        <pre>a  b
  c</pre><div>Loose <span>text</span></div></body></html>""",
    )
    assert document.title == "The Colossus"
    assert document.metadata == {"author": "A. Person"}
    assert [(heading.level, heading.text) for heading in document.headings] == [(1, "Colossus"), (2, "Use")]
    assert document.text == (
        "Colossus\n\nBuilt by Flowers in 1943.\nAt Dollis Hill.\n\nUse\n- one\n- two\n\na  b\n  c\n\nLoose text"
    )


def test_a_data_table_is_rows_and_a_layout_table_is_text(tmp_path: Path) -> None:
    document = load(
        tmp_path,
        """<table><tr><td><h2>Left</h2><p>Prose.</p></td></tr></table>
        <table><caption>Speeds</caption><thead><tr><th>Name<th>Hz</tr></thead>
        <tr><td>Z3</td><td><p>5</p></td></tr><tr><td>ENIAC<script>x</script></td><td>100<br>000</td></tr></table>""",
    )
    (table,) = document.tables
    assert document.text[table.start : table.end] == "Name | Hz\nZ3 | 5\nENIAC | 100 000"
    assert table.header == "Name | Hz"
    assert [heading.text for heading in document.headings] == ["Left"]
    assert "Prose." in document.text
    assert "Speeds" in document.text


def test_the_declared_encoding_is_used(tmp_path: Path) -> None:
    page = '<html><head><meta charset="windows-1252"></head><body><p>été à Évian — œuvre</p></body></html>'
    document = load(tmp_path, page.encode("cp1252"))
    assert document.text == "été à Évian — œuvre"
    assert document.warnings == ()


def test_nesting_without_end_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="nested"):
        load(tmp_path, "<div>" * 100_000 + "deep" + "</div>" * 100_000)


@pytest.mark.parametrize("html", ["<html><body><script>x</script></body></html>", "   ", "<!-- only -->"])
def test_a_page_without_text_is_empty(tmp_path: Path, html: str) -> None:
    with pytest.raises(ReadError, match="empty"):
        load(tmp_path, html)


def test_entities_do_not_reach_files(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    page = f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]><p>a &x; b &amp; c</p>'
    assert "SECRET" not in load(tmp_path, page).text


def test_menus_are_no_text_but_what_follows_them_is(tmp_path: Path) -> None:
    document = load(
        tmp_path,
        """<p>Before.<nav><h2>Menu</h2><ul><li><a href="/">Home</a></ul></nav>Between.
        <div role="Navigation"><a href="/b">Back</a></div><ul><li>one<nav>Next</nav></ul><p>After.""",
    )
    assert document.text == "Before.\n\nBetween.\n- one\n\nAfter."
    assert document.headings == ()


def test_a_page_that_is_nothing_but_a_menu_is_read(tmp_path: Path) -> None:
    document = load(tmp_path, "<nav><h1>Contents</h1><ul><li>The Mill<li>The Store</ul></nav>")
    assert document.text == "Contents\n- The Mill\n- The Store"
