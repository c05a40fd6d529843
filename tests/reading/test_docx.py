"""DOCX: order, headings, tables, hostile archives."""

from __future__ import annotations

import zipfile
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml

from ekr.errors import ReadError
from ekr.reading import Document
from tests.reading.helpers import one

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def test_paragraphs_headings_and_tables_come_in_document_order(tmp_path: Path) -> None:
    file = docx.Document()
    file.core_properties.title = "Engines"
    file.core_properties.author = "A. Person"
    file.add_heading("The Engines", 0)
    file.add_paragraph("Before the table.")
    table = file.add_table(rows=2, cols=2)
    for row, values in zip(table.rows, (("Name", "Year"), ("Z3", "1941")), strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    file.add_heading("Mill", 2)
    file.add_paragraph("one", style="List Bullet")
    file.add_paragraph("two", style="List Bullet")
    file.add_paragraph("After the table.")
    file.save(str(tmp_path / "a.docx"))
    document = one(tmp_path / "a.docx")
    assert document.text == (
        "The Engines\n\nBefore the table.\n\nName | Year\nZ3 | 1941\n\nMill\n- one\n- two\n\nAfter the table."
    )
    assert [(heading.level, heading.text) for heading in document.headings] == [(1, "The Engines"), (2, "Mill")]
    assert document.tables[0].header == "Name | Year"
    assert document.title == "Engines"
    assert document.metadata["author"] == "A. Person"


def test_merged_cells_and_nested_tables_show_once(tmp_path: Path) -> None:
    file = docx.Document()
    table = file.add_table(rows=2, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Wide"
    table.cell(1, 0).text = "left"
    table.cell(1, 1).add_table(rows=1, cols=1).cell(0, 0).text = "inner"
    file.save(str(tmp_path / "a.docx"))
    text = one(tmp_path / "a.docx").text
    assert text.count("Wide") == text.count("inner") == 1


def test_a_text_box_that_word_writes_twice_is_read_once(tmp_path: Path) -> None:
    file = docx.Document()
    paragraph = file.add_paragraph("Around ")
    box = f"<w:txbxContent {W}><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    paragraph._p.append(
        parse_xml(
            f'<w:r {W} {mc}><mc:AlternateContent><mc:Choice Requires="wps">{box}</mc:Choice>'
            f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
        )
    )
    file.save(str(tmp_path / "a.docx"))
    assert one(tmp_path / "a.docx").text.count("boxed") == 1


def test_an_outline_level_makes_a_heading(tmp_path: Path) -> None:
    file = docx.Document()
    file.add_paragraph("Own style")._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {W} w:val="2"/>'))
    file.add_paragraph("Body.")
    file.save(str(tmp_path / "a.docx"))
    assert [(heading.level, heading.text) for heading in one(tmp_path / "a.docx").headings] == [(3, "Own style")]


def test_an_empty_document_is_named(tmp_path: Path) -> None:
    docx.Document().save(str(tmp_path / "a.docx"))
    with pytest.raises(ReadError, match="empty"):
        one(tmp_path / "a.docx")


def test_a_zip_bomb_is_refused_before_it_unpacks(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    docx.Document().save(str(path))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("word/media/x.xml", "w") as part:
        for _ in range(64):
            part.write(b"\0" * 1024 * 1024)
    with pytest.raises(ReadError, match="zip bomb"):
        one(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"plain words", "not a zip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "password-protected"),
    ],
)
def test_what_is_no_docx_is_named_with_its_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=reason):
        one(path)


def test_a_zip_of_something_else_and_broken_xml_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.txt", "hello")
    with pytest.raises(ReadError, match="not a DOCX"):
        one(path)
    good = tmp_path / "b.docx"
    docx.Document().save(str(good))
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, b"<broken" if name == "word/document.xml" else source.read(name))
    with pytest.raises(ReadError, match="broken DOCX"):
        one(path)


def test_the_type_of_a_document_is_docx(tmp_path: Path) -> None:
    file = docx.Document()
    file.add_paragraph("Words.")
    file.save(str(tmp_path / "a.docx"))
    document = one(tmp_path / "a.docx")
    assert isinstance(document, Document)
    assert (document.format, document.title, document.page_starts) == ("docx", "a", ())
