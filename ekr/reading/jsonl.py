"""JSONL: one document a line, `{"id", "title", "text", ...}`; other fields are metadata."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from ekr.errors import ReadError
from ekr.reading.builder import single_spaced
from ekr.reading.document import Document, Heading, MetadataValue
from ekr.reading.encoding import decode, read_text
from ekr.reading.language import DominantLanguage
from ekr.reading.limits import check_size, check_text_size
from ekr.text import clean, collapse

_MAX_LINE_BYTES = 64 * 1024 * 1024
_MAX_FIELD_CHARACTERS = 2_000


def read_jsonl(path: Path, on_problem: Callable[[ReadError], None]) -> Iterator[Document]:
    """One document a record, read line by line. The title, where there is one, heads the text.

    To `on_problem` go, with their line, records that are no JSON object, have no text, or repeat an id; the
    first record with an id counts. A record without an id takes its line number. Raises ReadError when the
    file holds no record that can be used, or questions instead of documents.
    """
    check_size(path)
    languages = DominantLanguage()
    lines_of: dict[str, int] = {}
    documents = questions = problems = 0
    for number, line in _lines(path):
        try:
            record, warnings = _record(line)
            if "text" not in record and "question" in record:
                questions += 1
                continue
            record_id = _record_id(record, number)
            if record_id in lines_of:
                raise ReadError(f"duplicate id {record_id!r}, already on line {lines_of[record_id]}; make ids unique")
            document = _document(record, record_id, languages, warnings)
            lines_of[record_id] = number
        except ReadError as error:
            problems += 1
            on_problem(ReadError(error.reason, f"{path}:{number}"))
            continue
        documents += 1
        yield document
    if not documents:
        if questions:
            raise ReadError("a question file, not documents")
        raise ReadError("no usable record" if problems else "empty: no record")
    if questions:
        on_problem(ReadError(f"{questions} records are questions, not documents; leave them out", str(path)))


def is_question_file(path: Path) -> bool:
    """True where the first record has a `question` and no `text`; False where that cannot be told."""
    try:
        for _, line in _lines(path):
            record, _ = _record(line)
            return "question" in record and "text" not in record
    except (OSError, ReadError):
        pass
    return False


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Line numbers from 1 and the lines that are not blank; a line above the limit is cut, so not JSON."""
    with path.open("rb") as file:
        if file.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
            # Line ends of UTF-16 cannot be seen in its bytes.
            text, _ = read_text(path)
            for number, shown in enumerate(text.split("\n"), start=1):
                if shown.strip():
                    yield number, shown.encode()
            return
        file.seek(0)
        number = 0
        while line := file.readline(_MAX_LINE_BYTES):
            number += 1
            if not line.endswith(b"\n"):
                while (rest := file.readline(_MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                    continue
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.strip():
                yield number, line


def _record(line: bytes) -> tuple[dict[str, Any], list[str]]:
    text, warnings = decode(line)
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        detail = getattr(error, "msg", "") or type(error).__name__
        raise ReadError(f"not JSON ({detail}); write one object a line") from error
    if not isinstance(record, dict):
        raise ReadError("not a JSON object; write one object a line")
    return record, warnings


def _record_id(record: Mapping[str, Any], number: int) -> str:
    value = record.get("id", record.get("_id"))
    if value is None:
        return str(number)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ReadError("id is neither a string nor a number")
    record_id = collapse(clean(str(value)))
    if not record_id:
        raise ReadError("id is empty")
    return record_id


def _document(record: Mapping[str, Any], record_id: str, languages: DominantLanguage, warnings: list[str]) -> Document:
    body = record.get("text")
    if not isinstance(body, str):
        raise ReadError("no text; each record needs a string field `text`")
    body = single_spaced(clean(body)).strip()
    raw_title = record.get("title")
    title = collapse(clean(raw_title)) if isinstance(raw_title, str) else ""
    if not body:
        raise ReadError("empty text")
    check_text_size(len(body))
    text = f"{title}\n\n{body}" if title else body
    return Document(
        title=title or record_id,
        text=text,
        format="jsonl",
        language=languages.detect(body),
        headings=(Heading(1, title, 0, len(title)),) if title else (),
        metadata=_metadata(record),
        record_id=record_id,
        warnings=tuple(warnings),
    )


def _metadata(record: Mapping[str, Any]) -> dict[str, MetadataValue]:
    return {
        collapse(clean(str(name))): _value(value)
        for name, value in record.items()
        if name not in {"id", "_id", "title", "text"} and value is not None
    }


def _value(value: Any) -> MetadataValue:
    if isinstance(value, str):
        return clean(value)[:_MAX_FIELD_CHARACTERS]
    # Lists, objects, and NaN and infinity, which JSON itself does not have, are kept as their JSON text.
    if isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    return clean(json.dumps(value, ensure_ascii=False))[:_MAX_FIELD_CHARACTERS]
