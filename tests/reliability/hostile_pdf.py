"""Hostile PDFs."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

Entry = tuple[Any, ...]


def entries() -> Iterator[Entry]:
    """(name, how it is made, fate, heavy) of each."""
    yield "pdf-empty.pdf", partial(_write, b"")
    yield "pdf-head-only.pdf", partial(_write, b"%PDF-1.7\n")
    yield "pdf-garbage.pdf", partial(_write, b"%PDF-1.7\n" + random.Random(1).randbytes(5000))
    yield "pdf-random.pdf", partial(_write, random.Random(2).randbytes(5000))
    yield "pdf-is-html.pdf", partial(_write, b"<html><body>This is a page.</body></html>")
    yield "pdf-is-zip.pdf", partial(_write, b"PK\x03\x04" + bytes(200))
    yield "pdf-is-png.pdf", partial(_write, b"\x89PNG\r\n\x1a\n" + bytes(300))
    yield "pdf-is-nul.pdf", partial(_write, bytes(10_000))
    for share in (5, 20, 50, 80, 95):
        yield f"pdf-cut-at-{share}.pdf", partial(_cut, share), "either"
    yield "pdf-password.pdf", _encrypted
    yield "pdf-owner-password.pdf", partial(_encrypted, user=""), "either"
    yield "pdf-no-text.pdf", partial(_pages, [b""])
    yield "pdf-ten-blank-pages.pdf", partial(_pages, [b""] * 10)
    yield "pdf-only-spaces.pdf", partial(_pages, [b"BT /F1 12 Tf 72 700 Td (     ) Tj ET"])
    yield "pdf-page-tree-of-itself.pdf", partial(_tree, b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>")
    yield "pdf-page-tree-cycle.pdf", partial(_tree, b"<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 2 >>"), "either"
    yield "pdf-claims-a-million-pages.pdf", partial(_tree, b"<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>"), "either"
    yield "pdf-claims-2-31-pages.pdf", partial(_tree, b"<< /Type /Pages /Kids [3 0 R] /Count 2147483647 >>"), "either"
    yield "pdf-claims-minus-pages.pdf", partial(_tree, b"<< /Type /Pages /Kids [3 0 R] /Count -5 >>"), "either"
    yield "pdf-no-pages.pdf", partial(_tree, b"<< /Type /Pages /Kids [] /Count 0 >>")
    yield "pdf-kids-missing.pdf", partial(_tree, b"<< /Type /Pages /Kids [77 0 R 78 0 R] /Count 2 >>")
    yield "pdf-deep-array.pdf", partial(_tree, b"<< /Type /Pages /Kids " + b"[" * 50_000 + b"] /Count 1 >>"), "either"
    yield "pdf-deep-dictionary.pdf", partial(_tree, b"<< /A " * 20_000 + b">>" * 20_000), "either"
    yield "pdf-catalog-loop.pdf", partial(_objects, {1: b"1 0 R", 2: b"<< >>"})
    yield "pdf-prev-of-itself.pdf", partial(_tail, b"trailer << /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF"), "either"
    yield "pdf-xref-far-away.pdf", partial(_tail, b"startxref\n999999999999\n%%EOF"), "either"
    yield "pdf-xref-negative.pdf", partial(_tail, b"startxref\n-5\n%%EOF"), "either"
    yield "pdf-unknown-filter.pdf", partial(_stream, b"BT ET", b"/Filter /NoSuchDecode"), "either"
    yield "pdf-filter-chain.pdf", partial(_stream, b"x", b"/Filter [" + b"/FlateDecode " * 5000 + b"]"), "either"
    yield "pdf-length-lies.pdf", partial(_stream, b"BT ET", b"/Length 99999999"), "either"
    yield "pdf-length-of-itself.pdf", partial(_stream, b"BT ET", b"/Length 4 0 R"), "either"
    yield "pdf-flate-broken.pdf", partial(_stream, b"\x78\x9cnot deflated", b"/Filter /FlateDecode"), "either"
    yield "pdf-flate-bomb.pdf", partial(_flate_bomb, 100), "either"
    yield "pdf-flate-bomb-big.pdf", partial(_flate_bomb, 600), "either", True
    yield "pdf-form-of-itself.pdf", _form_of_itself, "either"
    yield "pdf-huge-page.pdf", partial(_box, b"[0 0 1e30 1e30]"), "either"
    yield "pdf-nan-page.pdf", partial(_box, b"[nan inf -inf 0]"), "either"
    yield "pdf-upside-down-page.pdf", partial(_box, b"[612 792 0 0]"), "either"
    yield "pdf-zero-page.pdf", partial(_box, b"[0 0 0 0]"), "either"
    yield "pdf-deep-q.pdf", partial(_pages, [b"q " * 200_000 + b"BT /F1 9 Tf (deep) Tj ET"]), "either"
    yield "pdf-far-text.pdf", partial(_pages, [b"BT /F1 9 Tf 1e20 1e20 Td (Far away stands a word.) Tj ET"]), "either"
    yield "pdf-huge-font.pdf", partial(_pages, [b"BT /F1 1e12 Tf 72 700 Td (Large) Tj ET"]), "either"
    yield "pdf-zero-font.pdf", partial(_pages, [b"BT /F1 0 Tf 72 700 Td (Nothing to see) Tj ET"]), "either"
    yield (
        "pdf-escapes.pdf",
        partial(_pages, [rb"BT /F1 9 Tf 72 700 Td (\033]0;owned\007\033[31mRed \000 text.) Tj ET"]),
        "either",
    )
    yield (
        "pdf-same-place.pdf",
        partial(_pages, [b"BT /F1 9 Tf 72 700 Td " + b"(Over) Tj 0 0 Td " * 3000 + b"ET"]),
        "either",
    )
    yield (
        "pdf-many-pages.pdf",
        partial(_pages, [b"BT /F1 9 Tf 72 700 Td (One more page.) Tj ET"] * 2000),
        "either",
        True,
    )
    for seed in range(14):
        yield f"pdf-bits-{seed:02}.pdf", partial(_flipped, seed), "either"


def build(objects: dict[int, bytes], tail: bytes | None = None) -> bytes:
    """A PDF file of these objects, with the cross-reference table that belongs to it, or another end."""
    out = b"%PDF-1.7\n"
    places = {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    if tail is not None:
        return out + tail
    start, size = len(out), max(objects) + 1
    rows = b"".join(b"%010d 00000 %s \n" % (places.get(n, 0), b"n" if n in places else b"f") for n in range(size))
    return out + b"xref\n0 %d\n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, rows, size, start)


def _stream_of(data: bytes, extra: bytes = b"") -> bytes:
    length = b"" if b"/Length" in extra else b"/Length %d " % len(data)
    return b"<< " + length + extra + b" >>\nstream\n" + data + b"\nendstream"


_CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
_TREE = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
)
_WORDS = b"BT /F1 12 Tf 72 700 Td (A page with words that can be read.) Tj ET"
_PLAIN = {1: _CATALOG, 2: _TREE, 3: _PAGE, 4: _stream_of(_WORDS), 5: _FONT}


@cache
def sound_pdf() -> bytes:
    return build(_PLAIN)


def _write(data: bytes, path: Path) -> None:
    path.write_bytes(data)


def _objects(objects: dict[int, bytes], path: Path) -> None:
    path.write_bytes(build(objects))


def _tree(tree: bytes, path: Path) -> None:
    path.write_bytes(build(_PLAIN | {2: tree}))


def _tail(tail: bytes, path: Path) -> None:
    path.write_bytes(build(_PLAIN, tail))


def _stream(data: bytes, extra: bytes, path: Path) -> None:
    path.write_bytes(build(_PLAIN | {4: _stream_of(data, extra)}))


def _box(box: bytes, path: Path) -> None:
    path.write_bytes(build(_PLAIN | {3: _PAGE.replace(b"[0 0 612 792]", box)}))


def _flate_bomb(megabytes: int, path: Path) -> None:
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(b" " * 1_000_000) for _ in range(megabytes)) + packer.flush()
    path.write_bytes(build(_PLAIN | {4: _stream_of(data, b"/Filter /FlateDecode")}))


def _form_of_itself(path: Path) -> None:
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>"
    page = _PAGE.replace(b"/Font", b"/XObject << /X 6 0 R >> /Font")
    path.write_bytes(build(_PLAIN | {3: page, 4: _stream_of(b"/X Do"), 6: _stream_of(b"/X Do", form)}))


def _pages(contents: list[bytes], path: Path) -> None:
    objects = {1: _CATALOG, 5: _FONT}
    first = 10
    for number, content in enumerate(contents):
        page, stream = first + 2 * number, first + 2 * number + 1
        objects[page] = _PAGE.replace(b"4 0 R", b"%d 0 R" % stream)
        objects[stream] = _stream_of(content)
    kids = b" ".join(b"%d 0 R" % (first + 2 * number) for number in range(len(contents)))
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(contents))
    path.write_bytes(build(objects))


def _cut(share: int, path: Path) -> None:
    path.write_bytes(sound_pdf()[: len(sound_pdf()) * share // 100])


def _encrypted(path: Path, user: str = "secret") -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen import canvas

    canvas_ = canvas.Canvas(str(path), encrypt=StandardEncryption(user, ownerPassword="owner", canCopy=0))
    canvas_.drawString(72, 700, "Nobody may read this sentence.")
    canvas_.save()


def _flipped(seed: int, path: Path) -> None:
    draw = random.Random(seed)
    data = bytearray(sound_pdf())
    for _ in range(1 + seed):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(bytes(data))
