"""Words cut at line ends."""

from __future__ import annotations

import pytest

from ekr.reading.hyphenation import Hyphenation


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("the exam-", "ple of", "the example of"),
        ("c’est-à-", "dire que", "c’est-à-dire que"),
        ("peut-", "il venir", "peut-il venir"),
        ("Fifty-", "seven people", "Fifty-seven people"),
        ("the EU-", "Member States", "the EU-Member States"),
        ("1914-", "1918", "1914-1918"),
        ("one line", "and another", "one line and another"),
        ("https://example.org/", "path", "https://example.org/path"),
        ("東京は日本の", "首都です", "東京は日本の首都です"),
        ("exam\u00ad", "ple", "example"),
    ],
)
def test_two_lines_join_as_they_are_written_in_one(before: str, after: str, joined: str) -> None:
    assert Hyphenation([]).join(before, after) == joined


def test_the_document_itself_decides_about_a_doubtful_hyphen() -> None:
    assert Hyphenation(["une sous-section"]).join("la sous-", "section") == "la sous-section"
    assert Hyphenation(["un semiconducteur"]).join("le semi-", "conducteur") == "le semiconducteur"
