"""Plain text in any encoding."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.errors import ReadError
from ekr.reading.encoding import decode
from ekr.text import clean, collapse, comparable
from tests.reading.helpers import one

FRENCH = "L’été dernier, l’œuvre de Jacquard fut présentée à l’Académie : « déjà vue », dit-on, près de Lyon. " * 4


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_in_any_form_is_read_exactly(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(FRENCH.encode(encoding))
    assert one(path).text.strip() == FRENCH.strip()


def test_a_legacy_encoding_is_read_and_the_guess_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(FRENCH.encode("cp1252"))
    document = one(path)
    assert document.text.strip() == FRENCH.strip()
    assert any("encoding guessed" in warning for warning in document.warnings)
    assert document.language == "fr"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Разностная машина Бэббиджа была первой попыткой построить вычислитель. " * 5),
        ("shift_jis", "階差機関はチャールズ・バベッジが設計した機械式計算機である。" * 5),
    ],
)
def test_other_legacy_encodings_are_guessed(encoding: str, text: str) -> None:
    decoded, warnings = decode(text.encode(encoding))
    assert decoded == text
    assert warnings


def test_one_bad_byte_does_not_change_the_encoding_of_the_rest() -> None:
    decoded, warnings = decode("déjà vu à l’été".encode() + b"\xff" + " après".encode())
    assert decoded == "déjà vu à l’été\ufffd après"
    assert "1 undecodable" in warnings[0]


def test_binary_data_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(bytes(range(256)) * 20)
    with pytest.raises(ReadError, match="binary"):
        one(path)


@pytest.mark.parametrize("content", [b"", b"  \n\t\n", b"\xef\xbb\xbf"])
def test_a_file_without_text_is_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(ReadError, match="empty"):
        one(path)


def test_line_ends_nfd_and_invisible_characters_are_cleaned() -> None:
    assert clean("e\u0301te\u0301\r\nb\rc\u2028d\x0ce\u00adf\ufeff\x00") == "été\nb\nc\nd\nef\ufffd"


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_cleaned_text_can_always_be_stored_and_stays_as_it_is(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert "\r" not in cleaned
    assert clean(cleaned) == cleaned


def test_comparable_text_ignores_apostrophes_and_spacing() -> None:
    assert comparable("l’IA\u00a0 à  haut") == comparable("l'IA a\u0300 haut")
    assert collapse(" a \n b ") == "a b"


@given(st.binary(max_size=300))
def test_no_bytes_crash_the_decoder(data: bytes) -> None:
    try:
        text, _ = decode(data)
    except ReadError:
        return
    clean(text).encode("utf-8")
