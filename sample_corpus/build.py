"""Make the PDF and DOCX files of the sample corpus from the Markdown in source/.

Run `python sample_corpus/build.py [FOLDER]`; FOLDER defaults to the folder of this script. The output is
the same byte for byte on every run: no clock, no random ids. The PDFs are not compressed, so that they do
not depend on the zlib at hand either. Needs reportlab, python-docx, markdown-it-py.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
import zipfile
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from markdown_it.token import Token
    from reportlab.pdfgen.canvas import Canvas

HERE = Path(__file__).resolve().parent
PDFS = ("babbage", "eniac", "von_neumann", "machines", "machines_a_calculer")
DOCX = ("difference_engine", "manchester_cambridge")
EPOCH = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
# Zip archives cannot hold a time before 1980; any fixed one will do.
ZIP_TIME = (2024, 1, 1, 0, 0, 0)

# Where long words may break, so that the PDFs hold words hyphenated at line ends as real ones do.
SYLLABLES = """
ac-cu-mu-la-tor ac-cu-mu-la-tors al-ge-bra An-a-lyt-i-cal arith-meti-cal as-tro-nom-i-cal as-tron-omer au-to-mat-ic
bi-cen-te-nary cal-cu-lat-ed cal-cu-lat-ing cal-cu-la-tion cal-cu-la-tions cal-cu-la-tor cal-cu-la-tors com-put-er
com-put-ers con-struc-tion con-di-tion-al cor-po-ra-tion Dif-fer-ence dif-fer-ence dif-fer-ences dis-cus-sions
draughts-man econ-o-mist elec-tric-al elec-tro-me-chan-i-cal elec-tron-ic en-gi-neer en-gi-neer-ing en-gi-neers
equip-ment es-tab-lished ex-per-i-ments ex-plained gen-er-al-pur-pose gov-ern-ment im-por-tant in-de-pen-dent
in-stru-ment in-struc-tion in-struc-tions in-vi-ta-tion Lab-o-ra-to-ry lab-o-ra-to-ry ma-chine ma-chines
Man-u-fac-tures math-e-ma-ti-cian math-e-ma-ti-cians math-e-mat-i-cal math-e-mat-ics mul-ti-pli-ca-tion no-ta-tion
op-er-a-tion op-er-a-tions per-formed pro-fes-sor Pro-fes-sor pro-gram-ma-ble pro-gram-mers pub-lished re-con-struc-tion
sci-en-tists sim-u-la-tion tech-nol-o-gy tra-jec-to-ry trans-lat-ed Uni-ver-si-ty uni-ver-si-ty un-der-stood work-shop
work-shops ad-di-tion-ner ad-di-tions ad-mi-nis-tra-tions al-gé-bri-ques ana-ly-tique arith-mo-mètre au-to-ma-ti-que-ment
cal-cu-la-teur cal-cu-la-teurs com-man-der com-pa-gnies cons-trui-te con-sa-crées con-ser-vées di-zai-nes dif-fé-ren-ces
élec-tro-nique exem-plai-res fa-bri-quer fon-da-tion gé-né-ral in-for-ma-ti-que ingé-nieur in-ven-teur in-ven-tions
lo-ga-rithmes ma-chi-nes ma-nu-fac-ture ma-nus-crits ma-thé-ma-ti-ciens mé-ca-nis-me mi-cro-pro-ces-seur
mul-ti-plier na-vet-te or-di-na-teur per-fo-rées per-fo-rée pra-tique pré-sen-tée pri-vi-lège pro-vin-ce ré-sul-tats
sous-trac-tions soixan-te tri-go-no-mé-tri-ques uni-ver-selle
"""
BREAKS = {word.replace("-", ""): word.replace("-", "\u00ad") for word in SYLLABLES.split()}


@dataclass
class Block:
    """One block of a source file: `kind` is heading, paragraph or table; `runs` are (text, italic, bold)."""

    kind: str
    level: int = 0
    runs: list[tuple[str, bool, bool]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


@dataclass
class Source:
    """A parsed source file: front matter and blocks."""

    meta: dict[str, str]
    blocks: list[Block]


def parse(path: Path) -> Source:
    """Read front matter and Markdown; raise ValueError for a construct that the writers do not know."""
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    meta = dict(line.split(": ", 1) for line in front.strip().splitlines())
    french = meta["language"] == "fr"
    markdown = MarkdownIt("commonmark", {"typographer": True}).enable("table")
    if not french:
        markdown.enable(["smartquotes", "replacements"])
    tokens = markdown.parse(french_spaces(body) if french else body)
    blocks: list[Block] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.type in {"heading_open", "paragraph_open"}:
            kind = token.type.removesuffix("_open")
            blocks.append(Block(kind, int(token.tag[1]) if kind == "heading" else 0, runs(tokens[index + 1])))
            index += 3
        elif token.type == "table_open":
            end = next(i for i in range(index, len(tokens)) if tokens[i].type == "table_close")
            blocks.append(Block("table", rows=table_rows(tokens[index:end])))
            index = end + 1
        else:
            raise ValueError(f"{path.name}: no writer for {token.type}")
    return Source(meta, blocks)


def french_spaces(text: str) -> str:
    """No-break spaces where French typography asks for them."""
    text = re.sub(r" ([;:!?»])", "\u00a0\\1", text)
    text = re.sub(r"« ", "«\u00a0", text)
    return re.sub(r"(?<=\d) (?=\d{3}\b)", "\u00a0", text)


def runs(inline: Token) -> list[tuple[str, bool, bool]]:
    italic = bold = False
    found: list[tuple[str, bool, bool]] = []
    for child in inline.children or []:
        if child.type in {"em_open", "em_close"}:
            italic = child.type == "em_open"
        elif child.type in {"strong_open", "strong_close"}:
            bold = child.type == "strong_open"
        elif child.type == "softbreak":
            found.append((" ", italic, bold))
        elif child.type == "text":
            found.append((child.content, italic, bold))
        else:
            raise ValueError(f"no writer for inline {child.type}")
    return found


def table_rows(tokens: list[Token]) -> list[list[str]]:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append("".join(text for text, _, _ in runs(token)))
    return rows


def hyphenated(text: str) -> str:
    return re.sub(r"[^\W\d_]+", lambda match: BREAKS.get(match[0], match[0]), text)


def markup(block: Block) -> str:
    """The runs of a block in reportlab's inline markup."""
    out = []
    for text, italic, bold in block.runs:
        piece = escape(hyphenated(text) if block.kind == "paragraph" else text, quote=False)
        piece = f"<i>{piece}</i>" if italic else piece
        out.append(f"<b>{piece}</b>" if bold else piece)
    return "".join(out)


def write_pdf(source: Source, target: Path) -> None:
    """A small book page: running head, justified text, page number and total in the foot."""
    from reportlab.lib import colors
    from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
    from reportlab.lib.pagesizes import A5
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.platypus import CondPageBreak, HRFlowable, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle
    from reportlab.platypus.flowables import Flowable

    ink = colors.HexColor("#1b2a41")
    body = ParagraphStyle(
        "body", fontName="Times-Roman", fontSize=10.5, leading=14.2, alignment=TA_JUSTIFY, spaceAfter=5.5,
        embeddedHyphenation=1, allowWidows=0, allowOrphans=0,
    )  # fmt: skip
    headings = {
        1: ParagraphStyle("h1", fontName="Times-Bold", fontSize=20, leading=24, textColor=ink, alignment=TA_CENTER),
        2: ParagraphStyle("h2", fontName="Times-Bold", fontSize=13, leading=16, textColor=ink, spaceBefore=9,
                          spaceAfter=4),
        3: ParagraphStyle("h3", fontName="Times-BoldItalic", fontSize=11, leading=14, spaceBefore=6, spaceAfter=3),
    }  # fmt: skip
    subtitle = ParagraphStyle("subtitle", fontName="Times-Italic", fontSize=11, leading=14, alignment=TA_CENTER)
    cell = ParagraphStyle("cell", fontName="Times-Roman", fontSize=7.8, leading=10)
    cell_head = ParagraphStyle("cell_head", parent=cell, fontName="Times-Bold", textColor=colors.white)
    meta = source.meta
    french = meta["language"] == "fr"
    # A frame pads its content by 6 points on each side.
    width = A5[0] - 30 * mm - 12

    def flow() -> list[Flowable]:
        story: list[Flowable] = []
        for block in source.blocks:
            if block.kind == "heading" and block.level == 1:
                story += [
                    Paragraph(markup(block), headings[1]), Spacer(1, 3), Paragraph(escape(meta["subject"]), subtitle),
                    Spacer(1, 6), HRFlowable(width="35%", thickness=0.8, color=ink, spaceAfter=10),
                ]  # fmt: skip
            elif block.kind == "heading":
                # Unlike keepWithNext this lets the paragraph below run over the page end.
                story += [CondPageBreak(62), Paragraph(markup(block), headings[block.level])]
            elif block.kind == "paragraph":
                story.append(Paragraph(markup(block), body))
            else:
                cells = [[Paragraph(escape(text), cell_head if i == 0 else cell) for text in row]
                         for i, row in enumerate(block.rows)]  # fmt: skip
                shares = (0.065, 0.265, 0.155, 0.35, 0.165)
                table = Table(cells, colWidths=[(width + 12) * share for share in shares], repeatRows=1, spaceBefore=4,
                              spaceAfter=8)  # fmt: skip
                table.setStyle(TableStyle([
                    ("BACKGROUND", (0, 0), (-1, 0), ink),
                    ("ROWBACKGROUNDS", (0, 1), (-1, -1), (colors.white, colors.HexColor("#eef1f6"))),
                    ("LINEBELOW", (0, 0), (-1, -1), 0.25, colors.grey),
                    ("VALIGN", (0, 0), (-1, -1), "TOP"),
                    ("LEFTPADDING", (0, 0), (-1, -1), 2), ("RIGHTPADDING", (0, 0), (-1, -1), 2),
                    ("TOPPADDING", (0, 0), (-1, -1), 2.5), ("BOTTOMPADDING", (0, 0), (-1, -1), 3.5),
                ]))  # fmt: skip
                story.append(table)
        return story

    def build(total: int) -> tuple[bytes, int]:
        def decorate(canvas: Canvas, document: Any) -> None:
            canvas.saveState()
            canvas.setFont("Times-Italic", 8.5)
            canvas.setFillColor(ink)
            canvas.drawString(15 * mm, A5[1] - 12 * mm, meta["author"])
            canvas.drawRightString(A5[0] - 15 * mm, A5[1] - 12 * mm, meta["title"])
            canvas.setLineWidth(0.4)
            canvas.line(15 * mm, A5[1] - 13.5 * mm, A5[0] - 15 * mm, A5[1] - 13.5 * mm)
            of = "sur" if french else "of"
            canvas.drawCentredString(A5[0] / 2, 10 * mm, f"Page {document.page} {of} {total}")
            canvas.restoreState()

        out = BytesIO()
        template = SimpleDocTemplate(
            out, pagesize=A5, leftMargin=15 * mm, rightMargin=15 * mm, topMargin=19 * mm, bottomMargin=17 * mm,
            title=meta["title"], author=meta["author"], subject=meta["subject"], keywords=meta["keywords"],
            lang="fr-FR" if french else "en-GB", invariant=1, pageCompression=0,
        )  # fmt: skip
        template.build(flow(), onFirstPage=decorate, onLaterPages=decorate)
        return out.getvalue(), template.page

    # The foot names the number of pages, which is known only after a first pass.
    _, pages = build(0)
    target.write_bytes(build(pages)[0])


def write_docx(source: Source, target: Path) -> None:
    """A Word file with real heading styles; the archive is repacked with fixed times."""
    import docx
    from docx.shared import Pt

    document = docx.Document()
    properties = document.core_properties
    properties.title, properties.author = source.meta["title"], source.meta["author"]
    properties.subject, properties.keywords = source.meta["subject"], source.meta["keywords"]
    properties.category, properties.language = source.meta["topic"], source.meta["language"]
    properties.comments = ""
    properties.last_modified_by = source.meta["author"]
    properties.created = properties.modified = EPOCH.replace(tzinfo=None)
    properties.revision = 1
    style = document.styles["Normal"]
    style.font.name, style.font.size = "Georgia", Pt(10.5)
    document.sections[0].header.paragraphs[0].text = source.meta["author"]
    for block in source.blocks:
        if block.kind == "table":
            table = document.add_table(rows=0, cols=len(block.rows[0]), style="Light Grid Accent 1")
            for row in block.rows:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
            continue
        paragraph = document.add_heading(level=block.level) if block.kind == "heading" else document.add_paragraph()
        for text, italic, bold in block.runs:
            run = paragraph.add_run(text)
            run.italic, run.bold = italic or None, bold or None
    raw = BytesIO()
    document.save(raw)
    with zipfile.ZipFile(raw) as old, zipfile.ZipFile(target, "w") as new:
        for name in sorted(old.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            entry = zipfile.ZipInfo(name, ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            # Fixed so that the archive does not tell on which system it was made.
            entry.create_system = 3
            new.writestr(entry, old.read(name))


def build_all(folder: Path) -> list[Path]:
    """Write every PDF and DOCX of the corpus into `folder`; return the files written."""
    written = []
    for name in PDFS:
        written.append(folder / f"{name}.pdf")
        write_pdf(parse(HERE / "source" / f"{name}.md"), written[-1])
    for name in DOCX:
        written.append(folder / f"{name}.docx")
        write_docx(parse(HERE / "source" / f"{name}.md"), written[-1])
    return written


if __name__ == "__main__":
    for path in build_all(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE):
        print(path)
