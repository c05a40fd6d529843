"""Labels of laws, contracts and manuals."""

from __future__ import annotations

import pytest

from ekr.reading.legal_numbering import decimal_depth, is_contents_line, legal_label


@pytest.mark.parametrize(
    ("text", "kind", "label", "title"),
    [
        ("Article 26", "article", "Article 26", ""),
        ("Article premier", "article", "Article premier", ""),
        ("Article L. 121-1", "article", "Article L. 121-1", ""),
        ("Article 5 bis", "article", "Article 5 bis", ""),
        ("Art. 12 – Champ d'application", "article", "Art. 12", "Champ d'application"),
        ("§ 12 Scope", "article", "§ 12", "Scope"),
        ("CHAPITRE III", "chapter", "CHAPITRE III", ""),
        ("Chapter 4: Functions", "chapter", "Chapter 4", "Functions"),
        ("SECTION 2", "section", "SECTION 2", ""),
        ("Section B. List of other acts", "section", "Section B", "List of other acts"),
        ("ANNEXE XIII", "annex", "ANNEXE XIII", ""),
        ("Annex", "annex", "Annex", ""),
        ("Appendix A Copying", "annex", "Appendix A", "Copying"),
        ("TITRE IV", "title", "TITRE IV", ""),
        ("Part One", "part", "Part One", ""),
    ],
)
def test_a_label_is_split_from_its_title(text: str, kind: str, label: str, title: str) -> None:
    found = legal_label(text)
    assert found is not None
    assert (found.kind, found.label, found.title) == (kind, label, title)


@pytest.mark.parametrize(
    "text", ["Articles of faith", "Sections are cut", "Particulars", "Annexed hereto", "Title page"]
)
def test_words_that_only_begin_like_a_label_are_none(text: str) -> None:
    assert legal_label(text) is None


def test_decimal_numbers_count_their_depth() -> None:
    assert [decimal_depth(text) for text in ("1 Scope", "2.3 Use", "4.1.2. Detail", "12.5", "Scope")] == [1, 2, 3, 0, 0]


def test_lines_with_leaders_belong_to_a_table_of_contents() -> None:
    assert is_contents_line("1.2 Use . . . . . . . . 14")
    assert not is_contents_line("and so on ... 14")
