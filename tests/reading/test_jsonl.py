"""JSONL: records, ids, problems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ekr.errors import ReadError
from ekr.reading import Document, read
from ekr.reading.jsonl import is_question_file


def load(path: Path, *records: object) -> tuple[list[Document], list[ReadError]]:
    path.write_text("\n".join(item if isinstance(item, str) else json.dumps(item) for item in records), "utf-8")
    problems: list[ReadError] = []
    return list(read(path, problems.append)), problems


def test_each_record_is_a_document_with_its_title_as_heading(tmp_path: Path) -> None:
    documents, problems = load(
        tmp_path / "a.jsonl",
        {"id": 7, "title": "Mill", "text": "The mill computes.", "year": 1834, "tags": ["a", "b"], "note": None},
        {"id": "x", "text": "No title here."},
    )
    assert problems == []
    first, second = documents
    assert (first.record_id, first.title, first.text) == ("7", "Mill", "Mill\n\nThe mill computes.")
    assert [(heading.text, heading.start, heading.end) for heading in first.headings] == [("Mill", 0, 4)]
    assert first.metadata == {"year": 1834, "tags": '["a", "b"]'}
    assert (second.record_id, second.title, second.headings) == ("x", "x", ())


def test_a_bad_record_is_named_with_its_line_and_the_rest_goes_in(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    documents, problems = load(
        path,
        {"id": 1, "text": "Good."},
        "{not json",
        "[1, 2]",
        {"id": 1, "text": "Again."},
        {"id": 2},
        {"id": 3, "text": "  "},
        {"id": 4, "text": "Good too."},
        "",
        {"text": "No id."},
    )
    assert [document.record_id for document in documents] == ["1", "4", "9"]
    assert [error.where for error in problems] == [f"{path}:{line}" for line in (2, 3, 4, 5, 6)]
    assert "duplicate id '1', already on line 1" in problems[2].reason


def test_ids_that_differ_only_in_type_are_the_same(tmp_path: Path) -> None:
    _, problems = load(tmp_path / "a.jsonl", {"id": 1, "text": "a b"}, {"id": "1", "text": "c d"})
    assert "duplicate id" in problems[0].reason


def test_questions_are_no_documents(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    with pytest.raises(ReadError, match="question file"):
        load(path, {"id": 1, "question": "Who?"})
    assert is_question_file(path)
    load(path, {"id": 1, "question": "Who?", "text": "A document about a question."})
    assert not is_question_file(path)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"nothing\n", b"\xff\xfe\x00"])
def test_a_file_without_a_usable_record_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(ReadError):
        list(read(path, lambda _: None))


def test_surrogates_nul_and_nfd_are_cleaned(tmp_path: Path) -> None:
    documents, _ = load(tmp_path / "a.jsonl", '{"id": 1, "text": "re\\u0301sum\\ud800 \\ud83d\\ude00 a\\u0000b"}')
    text = documents[0].text
    assert text == "résum\ufffd 😀 a\ufffdb"
    text.encode("utf-8")


def test_a_byte_order_mark_and_utf16_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = '{"id": 1, "text": "élan vital"}\n{"id": 2, "text": "deux"}\n'
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_bytes(line.encode(encoding))
        assert [document.text for document in read(path, lambda _: None)] == ["élan vital", "deux"]


def test_short_records_take_the_dominant_language(tmp_path: Path) -> None:
    long = "La machine analytique fut décrite par Charles Babbage dans ses carnets en 1837."
    documents, _ = load(tmp_path / "a.jsonl", {"id": 1, "text": long}, {"id": 2, "text": "Zuse Z3"})
    assert [document.language for document in documents] == ["fr", "fr"]


def test_numbers_that_json_does_not_have_are_kept_as_text(tmp_path: Path) -> None:
    documents, _ = load(tmp_path / "a.jsonl", '{"id": 1, "text": "a b", "score": NaN, "top": Infinity}')
    assert documents[0].metadata == {"score": "NaN", "top": "Infinity"}
