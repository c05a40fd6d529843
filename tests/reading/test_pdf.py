"""PDF: text, pages, headings, refusals."""

from __future__ import annotations

import re
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from ekr.errors import ReadError
from tests.reading.helpers import HEIGHT, PROSE, Pdf, one


def test_running_heads_and_page_numbers_are_stripped_and_the_rest_kept(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf", head="Annals of the Society")
    for number in range(5):
        pdf.page().paragraph([f"Report {number} was read on a Tuesday.", *PROSE])
    text = one(pdf.save()).text
    assert "Annals" not in text
    assert "Page" not in text
    assert all(f"Report {number} was read" in text for number in range(5))


def test_a_line_at_the_edge_of_two_of_five_pages_is_kept(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf")
    for number in range(5):
        page = pdf.page()
        page.y = HEIGHT - 40
        if number in {1, 3}:
            page.line("Approved by the Society", gap=0)
        page.paragraph(PROSE)
    assert one(pdf.save()).text.count("Approved by the Society") == 2


def test_the_heads_of_two_pages_are_stripped_where_there_are_but_two(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf", head="Annals of the Society")
    for _ in range(2):
        pdf.page().paragraph(PROSE)
    text = one(pdf.save()).text
    assert "Annals" not in text
    assert "Page 1" not in text


def test_numbered_annexes_at_the_top_of_their_pages_are_no_running_heads(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf", head="Official Journal")
    for number in ("I", "II", "III", "IV"):
        page = pdf.page()
        page.y = HEIGHT - 60
        page.line(f"ANNEX {number}", centred=True)
        page.line(f"List number {number}", font="Helvetica-Bold", gap=20, centred=True)
        page.paragraph(PROSE)
    document = one(pdf.save())
    assert [heading.text for heading in document.headings] == [
        f"ANNEX {number} List number {number}" for number in ("I", "II", "III", "IV")
    ]


def test_blank_pages_keep_page_numbers_exact(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf")
    pdf.page().paragraph(["First things are said here."])
    pdf.page()
    pdf.page()
    pdf.page().paragraph(["Fourth things are said here."])
    pdf.page()
    document = one(pdf.save())
    assert len(document.page_starts) == 5
    assert document.page_at(document.text.index("First")) == 1
    assert document.page_at(document.text.index("Fourth")) == 4
    assert document.page_at(len(document.text) - 1) == 4


def test_lines_join_into_paragraphs_and_words_cut_by_a_hyphen_join(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf")
    page = pdf.page()
    page.paragraph(
        [
            "The committee examined the mechanical drawings of the engine, and the well-known engi-",
            "neer who had built the first part of it explained what remained to be done, as a self-",
            "taught man would, without notes.",
        ]
    )
    page.paragraph(["The well-known engineer left in the evening."])
    text = one(pdf.save()).text
    assert "well-known engineer who had built" in text
    assert "self-taught man" in text
    assert text.count("\n\n") == 1


def test_a_paragraph_and_a_word_go_on_over_a_page_break(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf", head="Head")
    pdf.page().paragraph(["The sentence that begins on the first page of this small document is con-"])
    page = pdf.page()
    page.paragraph(["tinued on the second page and ends there."])
    document = one(pdf.save())
    assert "is continued on the second page" in document.text
    assert document.page_starts[1] == document.text.index("tinued")


def test_articles_sections_and_chapters_nest_by_their_kind(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "law.pdf")
    page = pdf.page()
    page.line("LOI SUR LES MACHINES", font="Helvetica-Bold", size=14, centred=True)
    page.line("CHAPITRE II", centred=True, gap=30)
    page.line("OBLIGATIONS", font="Helvetica-Bold", centred=True, gap=16)
    page.line("Article premier", font="Helvetica-Oblique", centred=True, gap=30)
    page.line("Objet de la loi et champ d'application des dispositions", font="Helvetica-Bold", centred=True, gap=16)
    page.line("particulières", font="Helvetica-Bold", centred=True, gap=12)
    page.paragraph(
        [
            "1. La présente loi fixe les règles applicables aux machines visées à l'annexe et à",
            "l'article 2, ainsi que les obligations des constructeurs au sens de la section II du",
            "Article 3 ne s'applique pas aux machines construites avant l'entrée en vigueur.",
        ]
    )
    page.line("Article 2", font="Helvetica-Oblique", centred=True, gap=30)
    page.line("Sanctions", font="Helvetica-Bold", centred=True, gap=16)
    page.paragraph(["Toute infraction est punie d'une amende."])
    headings = one(pdf.save()).headings
    assert [heading.text for heading in headings] == [
        "LOI SUR LES MACHINES",
        "CHAPITRE II OBLIGATIONS",
        "Article premier Objet de la loi et champ d'application des dispositions particulières",
        "Article 2 Sanctions",
    ]
    _, chapter, first, second = (heading.level for heading in headings)
    assert chapter < first == second


def test_a_manual_gets_its_headings_from_size_and_decimal_numbers(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "manual.pdf")
    page = pdf.page()
    page.line("Operating the Mill", font="Helvetica-Bold", size=22)
    for number in (1, 2):
        page.line(f"{number} Part number {number}", font="Helvetica-Bold", size=16, gap=40)
        page.paragraph(PROSE)
        page.line(f"{number}.1 Detail of {number}", font="Helvetica-Bold", size=12, gap=30)
        page.paragraph(PROSE)
    headings = one(pdf.save()).headings
    assert [(heading.level, heading.text) for heading in headings] == [
        (1, "Operating the Mill"),
        (2, "1 Part number 1"),
        (3, "1.1 Detail of 1"),
        (2, "2 Part number 2"),
        (3, "2.1 Detail of 2"),
    ]


def test_bold_words_captions_and_contents_lines_are_no_headings(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf")
    page = pdf.page()
    page.line("Article 5 ................................ 12", gap=24)
    page.line("Article 6 ................................ 14")
    page.paragraph(PROSE)
    page.line("Figure 3: the mill seen from above", font="Helvetica-Bold", gap=24)
    page.paragraph(PROSE)
    page.line("This whole sentence is set in bold type.", font="Helvetica-Bold", gap=24)
    page.paragraph(PROSE)
    assert one(pdf.save()).headings == ()


def test_a_note_stands_apart_and_does_not_cut_the_sentence_over_it(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf")
    page = pdf.page()
    page.paragraph(PROSE)
    page.paragraph(["The report of the year eighteen hundred and twenty-three names the sum that the"])
    page.y = 60
    page.line("(1) Proceedings of the Society, volume 2.", size=7, gap=0)
    page = pdf.page()
    page.y = HEIGHT - 60
    page.line("government paid, and the date of the payment.")
    document = one(pdf.save())
    assert "names the sum that the government paid" in document.text
    assert "\n\n\n(1) Proceedings of the Society, volume 2.\n\n\n" in document.text
    assert document.page_at(document.text.index("(1) Proc")) == 1


def test_metadata_and_title_come_from_the_file(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "a.pdf", title="On Engines")
    pdf.canvas.setAuthor("A. Person")
    pdf.page().paragraph(PROSE)
    document = one(pdf.save())
    assert document.title == "On Engines"
    assert document.metadata["author"] == "A. Person"
    assert document.language == "en"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"%PDF-1.7\nnothing that follows makes sense", "broken PDF"),
        (b"just words in a file", "not a PDF"),
    ],
)
def test_a_broken_pdf_is_named_with_its_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "bad.pdf"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=reason) as caught:
        one(path)
    assert caught.value.where == str(path)


def test_a_pdf_without_text_asks_for_ocr(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "scan.pdf"))
    canvas.rect(100, 100, 200, 200, fill=1)
    canvas.showPage()
    canvas.save()
    with pytest.raises(ReadError, match="no text layer; OCR it first"):
        one(tmp_path / "scan.pdf")


def test_a_password_protected_pdf_is_named(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "secret.pdf"), encrypt=StandardEncryption("user", "owner"))
    canvas.drawString(100, 100, "secret")
    canvas.save()
    with pytest.raises(ReadError, match="password"):
        one(tmp_path / "secret.pdf")


def test_a_pdf_that_claims_a_million_pages_is_refused_or_read_at_once(tmp_path: Path) -> None:
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>",
    ]
    content = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(content)
    content += b"xref\n0 4\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    content += b"trailer << /Size 4 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % table
    path = tmp_path / "million.pdf"
    path.write_bytes(content)
    with pytest.raises(ReadError, match="pages"):
        one(path)


VOCABULARY = ["engine", "store", "mill", "card", "number", "wheel", "axis", "print"]
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=3, max_size=60)


@settings(max_examples=25, deadline=None)
@given(pages=st.lists(st.one_of(st.just([]), WORDS), min_size=1, max_size=6).filter(any))
def test_every_word_is_on_the_page_that_the_page_map_says(
    tmp_path_factory: pytest.TempPathFactory, pages: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("pages") / "a.pdf"
    pdf = Pdf(path)
    for number, words in enumerate(pages, start=1):
        page = pdf.page()
        marked = [f"{word}{'x' * number}{index}q" for index, word in enumerate(words)]
        for start in range(0, len(marked), 6):
            page.line(" ".join(marked[start : start + 6]), gap=24 if start % 18 == 0 else 12)
    pdf.save()
    document = one(path)
    assert len(document.page_starts) == len(pages)
    for match in re.finditer(r"[a-z]+?(x+)\d+q", document.text):
        assert document.page_at(match.start()) == len(match[1].lstrip("x") or match[1])
    expected = sum(map(len, pages))
    assert len(re.findall(r"\d+q\b", document.text)) == expected
    raw = pypdfium2.PdfDocument(path)
    for index, start in enumerate(document.page_starts):
        end = document.page_starts[index + 1] if index + 1 < len(pages) else len(document.text)
        shown = raw[index].get_textpage().get_text_range()
        assert document.text[start:end].split() == shown.split()


CLAUSE = (
    "The parties agree that what they learn of each other under this contract stays secret and",
    "is not passed on to anyone else without leave in writing, except where",
    "Article 12 of the code or a decision of a court says otherwise.",
)


def test_plain_articles_on_the_left_are_told_from_references_to_them(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "code.pdf", head="Code")
    for first in (1, 3, 5):
        page = pdf.page()
        for number in (first, first + 1):
            page.line(f"Article {number}", gap=28)
            page.paragraph(CLAUSE, gap=18)
    assert [heading.text for heading in one(pdf.save()).headings] == [f"Article {number}" for number in range(1, 7)]


def test_a_contract_keeps_titles_on_the_line_of_their_number(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "contract.pdf")
    page = pdf.page()
    page.line("Article 1 – Object", font="Helvetica-Bold", gap=26)
    page.paragraph(CLAUSE, gap=14)
    page.line("§ 2 Secrecy", gap=26)
    page.paragraph(CLAUSE, gap=18)
    page.line("Section 3. Definitions", gap=26)
    page.paragraph(CLAUSE, gap=18)
    page.line("Section 3.1. Definitions shall apply to the whole of this contract.", gap=26)
    page.paragraph(CLAUSE, gap=18)
    assert [heading.text for heading in one(pdf.save()).headings] == [
        "Article 1 – Object",
        "§ 2 Secrecy",
        "Section 3. Definitions",
    ]


def test_numbered_titles_in_the_type_of_the_text_are_headings(tmp_path: Path) -> None:
    pdf = Pdf(tmp_path / "report.pdf")
    page = pdf.page()
    for number in (1, 2):
        page.line(f"{number} General matters", gap=26)
        page.paragraph(PROSE, gap=18)
        page.line(f"{number}.1 Detail", gap=26)
        page.paragraph(
            [*PROSE, f"{number}.2 of these are in the annex, which is not a heading but a line of text"], gap=18
        )
    assert [(heading.level, heading.text) for heading in one(pdf.save()).headings] == [
        (1, "1 General matters"),
        (2, "1.1 Detail"),
        (1, "2 General matters"),
        (2, "2.1 Detail"),
    ]
