"""Hostile DOCX files."""

from __future__ import annotations

import io
import random
import struct
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

Entry = tuple[Any, ...]

_HEAD = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_TYPES = (
    _HEAD + b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    b'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    b'<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
    b'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    _HEAD
    + b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
    b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    b'Target="word/document.xml"/></Relationships>'
)
_W = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def document(body: bytes, doctype: bytes = b"") -> bytes:
    """The main part of a DOCX."""
    return _HEAD + doctype + b"<w:document " + _W + b"><w:body>" + body + b"</w:body></w:document>"


def paragraph(text: bytes) -> bytes:
    """A paragraph of one run."""
    return b"<w:p><w:r><w:t>" + text + b"</w:t></w:r></w:p>"


_BODY = paragraph(b"A letter with a sentence that can be read.")


def parts(**changed: bytes) -> dict[str, bytes]:
    """The parts of a small sound DOCX; `document`, `types` and `relations` may be changed."""
    return {
        "[Content_Types].xml": changed.get("types", _TYPES),
        "_rels/.rels": changed.get("relations", _RELATIONS),
        "word/document.xml": changed.get("document", document(_BODY)),
    }


def packed(files: Mapping[str, bytes]) -> bytes:
    """The zip archive of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def entries() -> Iterator[Entry]:
    """(name, how it is made, fate, heavy) of each."""
    yield "docx-empty.docx", partial(_write, b"")
    yield "docx-random.docx", partial(_write, random.Random(3).randbytes(3000))
    yield "docx-is-pdf.docx", partial(_write, b"%PDF-1.7\n" + bytes(300))
    yield "docx-is-text.docx", partial(_write, b"Only words.\n")
    yield "docx-old-doc.docx", partial(_write, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    yield "docx-zip-of-nothing.docx", partial(_packed, {})
    yield "docx-zip-of-text.docx", partial(_packed, {"a.txt": b"words"})
    yield "docx-no-types.docx", partial(_without, "[Content_Types].xml")
    yield "docx-no-relations.docx", partial(_without, "_rels/.rels")
    yield "docx-no-document.docx", partial(_without, "word/document.xml")
    yield "docx-no-words.docx", partial(_document, document(b""))
    yield "docx-only-spaces.docx", partial(_document, document(paragraph(b"   ")))
    yield "docx-not-xml.docx", partial(_document, b"this is no XML")
    yield "docx-xml-cut.docx", partial(_document, document(_BODY)[:200])
    yield "docx-other-root.docx", partial(_document, _HEAD + b"<html>words</html>"), "either"
    yield "docx-bomb.docx", partial(_packed, parts() | {"word/media/a.bin": bytes(60_000_000)})
    yield "docx-bomb-document.docx", partial(_document, document(paragraph(b" " * 60_000_000)))
    yield (
        "docx-bomb-600-mb.docx",
        partial(_packed, parts() | {f"word/{n}": bytes(100_000_000) for n in range(6)}),
        "refused",
        True,
    )
    yield "docx-lying-sizes.docx", _lying_sizes
    yield "docx-entity-bomb.docx", partial(_document, document(paragraph(b"&i;"), _laughs())), "either"
    yield "docx-entity-quadratic.docx", partial(_document, _quadratic()), "either"
    yield "docx-external-entity.docx", partial(_document, _external(b"file:///etc/passwd")), "either"
    yield (
        "docx-external-dtd.docx",
        partial(_document, document(_BODY, b'<!DOCTYPE d SYSTEM "http://127.0.0.1:9/x.dtd">')),
        "either",
    )
    yield (
        "docx-parameter-entity.docx",
        partial(_document, document(_BODY, b'<!DOCTYPE d [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>')),
        "either",
    )
    for number, name in enumerate(
        ("../../escaped.txt", "/tmp/ekr-escaped.txt", "..\\..\\escaped.txt", "word/../../escaped.xml")
    ):
        yield f"docx-traversal-{number}.docx", partial(_packed, parts() | {name: b"escaped"}), "either"
    yield "docx-relation-out.docx", partial(_related, b"../../../../etc/passwd"), "either"
    yield "docx-relation-http.docx", partial(_related, b"http://127.0.0.1:9/document.xml"), "either"
    yield "docx-relation-file.docx", partial(_related, b"file:///etc/passwd"), "either"
    yield "docx-relation-of-itself.docx", partial(_related, b"_rels/.rels"), "either"
    yield "docx-deep-tables.docx", partial(_document, document(_nested_tables(400))), "either"
    yield "docx-deeper-tables.docx", partial(_document, document(_nested_tables(5000))), "either"
    yield "docx-deep-xml.docx", partial(_document, document(b"<w:a>" * 100_000 + b"</w:a>" * 100_000)), "either"
    yield "docx-many-parts.docx", partial(_packed, parts() | {f"x/{n}.bin": b"" for n in range(20_001)}), "either"
    yield (
        "docx-many-runs.docx",
        partial(_document, document(b"<w:p>" + b"<w:r><w:t>a </w:t></w:r>" * 4000 + b"</w:p>")),
        "either",
    )
    yield "docx-wide-table.docx", partial(_document, document(_wide_table(2000))), "either"
    yield "docx-twice-the-same-part.docx", _twice, "either"
    yield "docx-wrong-crc.docx", _wrong_crc, "either"
    yield "docx-encrypted-zip.docx", _encrypted_flag
    yield "docx-unknown-compression.docx", _unknown_compression
    yield "docx-latin-1.docx", partial(_document, document(paragraph("été".encode("latin-1")))), "either"
    yield (
        "docx-escapes.docx",
        partial(_document, document(paragraph("\u202eReversed [red]text[/] &lt;b&gt;".encode()))),
        "either",
    )
    yield "docx-surrogates.docx", partial(_document, document(paragraph(b"&#xD800; half a character"))), "either"
    for share in (10, 50, 90):
        yield f"docx-cut-at-{share}.docx", partial(_cut, share)
    for seed in range(12):
        yield f"docx-bits-{seed:02}.docx", partial(_flipped, seed), "either"


@cache
def _sound() -> bytes:
    return packed(parts())


def _write(data: bytes, path: Path) -> None:
    path.write_bytes(data)


def _packed(files: Mapping[str, bytes], path: Path) -> None:
    path.write_bytes(packed(files))


def _document(main: bytes, path: Path) -> None:
    path.write_bytes(packed(parts(document=main)))


def _without(part: str, path: Path) -> None:
    path.write_bytes(packed({name: data for name, data in parts().items() if name != part}))


def _related(target: bytes, path: Path) -> None:
    mode = b'" TargetMode="External"' if b":" in target else b'"'
    path.write_bytes(packed(parts(relations=_RELATIONS.replace(b'word/document.xml"', target + mode))))


def _laughs() -> bytes:
    names = "abcdefghi"
    lines = [f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise(names)]
    return ('<!DOCTYPE d [<!ENTITY a "ha">' + "".join(lines) + "]>").encode()


def _quadratic() -> bytes:
    return document(paragraph(b"&a;" * 30_000), b'<!DOCTYPE d [<!ENTITY a "' + b"x" * 50_000 + b'">]>')


def _external(target: bytes) -> bytes:
    return document(paragraph(b"Before &x; after"), b'<!DOCTYPE d [<!ENTITY x SYSTEM "' + target + b'">]>')


def _nested_tables(depth: int) -> bytes:
    return b"<w:tbl><w:tr><w:tc>" * depth + paragraph(b"Deep inside.") + b"</w:tc></w:tr></w:tbl>" * depth


def _wide_table(columns: int) -> bytes:
    return b"<w:tbl><w:tr>" + (b"<w:tc>" + paragraph(b"cell") + b"</w:tc>") * columns + b"</w:tr></w:tbl>"


def _twice(path: Path) -> None:
    out = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(out, "w") as archive:
        for name, data in (*parts().items(), ("word/document.xml", document(paragraph(b"Another text.")))):
            archive.writestr(name, data)
    path.write_bytes(out.getvalue())


def _central(data: bytes, part: bytes) -> int:
    """Where the directory's entry of a part begins."""
    return data.rindex(b"PK\x01\x02", 0, data.rindex(part))


def _changed(offset: int, value: bytes, path: Path) -> None:
    data = bytearray(_sound())
    place = _central(_sound(), b"word/document.xml") + offset
    data[place : place + len(value)] = value
    path.write_bytes(bytes(data))


def _lying_sizes(path: Path) -> None:
    _changed(24, struct.pack("<I", 3_000_000_000), path)


def _wrong_crc(path: Path) -> None:
    _changed(16, b"\0\0\0\0", path)


def _encrypted_flag(path: Path) -> None:
    _changed(8, b"\x01\0", path)


def _unknown_compression(path: Path) -> None:
    _changed(10, struct.pack("<H", 77), path)


def _cut(share: int, path: Path) -> None:
    path.write_bytes(_sound()[: len(_sound()) * share // 100])


def _flipped(seed: int, path: Path) -> None:
    draw = random.Random(seed)
    data = bytearray(_sound())
    for _ in range(1 + seed):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(bytes(data))
