"""Markdown: words without markup, headings, tables, front matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from ekr.errors import ReadError
from ekr.reading import Document
from tests.reading.helpers import one


def load(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "note.md"
    path.write_text(text, "utf-8")
    return one(path)


def test_headings_keep_their_level_and_their_span(tmp_path: Path) -> None:
    document = load(tmp_path, "# The *Engine*\n\nIntro.\n\nMill\n----\n\n### `store` and [cards](x.html)\n\nText.\n")
    assert [(heading.level, heading.text) for heading in document.headings] == [
        (1, "The Engine"),
        (2, "Mill"),
        (3, "store and cards"),
    ]
    for heading in document.headings:
        assert document.text[heading.start : heading.end] == heading.text
    assert document.title == "The Engine"


def test_markup_goes_and_words_code_and_lists_stay(tmp_path: Path) -> None:
    document = load(
        tmp_path,
        "A **bold** [link](http://x.example) and ![a drum](d.png).\nSame paragraph.\n\n"
        "3. third\n4. fourth\n   - inner\n\n```python\nx = 1\n# no heading\n```\n\n> quoted\n\n<b>raw</b> &amp; more\n",
    )
    assert "A bold link and a drum. Same paragraph." in document.text
    assert "3. third\n4. fourth\n  - inner" in document.text
    assert "x = 1\n# no heading" in document.text
    assert "quoted" in document.text
    assert "raw & more" in document.text
    assert document.headings == ()


def test_scripts_and_comments_in_html_blocks_go(tmp_path: Path) -> None:
    document = load(tmp_path, "<!-- secret -->\n\n<div>\nshown <script>evil()</script>\n</div>\n\nText.\n")
    assert document.text == "shown\n\nText."


def test_a_table_is_rows_with_its_header(tmp_path: Path) -> None:
    document = load(tmp_path, "| Name | Year |\n|---|---|\n| Z3 | 1941 |\n| ENIAC | 1945 |\n\nAfter.\n")
    (table,) = document.tables
    assert document.text[table.start : table.end] == "Name | Year\nZ3 | 1941\nENIAC | 1945"
    assert table.header == "Name | Year"


def test_front_matter_is_metadata(tmp_path: Path) -> None:
    document = load(
        tmp_path, "---\ntitle: Mill\nyear: 1834\ndate: 2024-01-02\ntags: [a, b]\nempty:\n---\n# Other\n\nBody.\n"
    )
    assert document.title == "Mill"
    assert document.metadata == {"year": 1834, "date": "2024-01-02", "tags": "a, b"}
    assert "1834" not in document.text


def test_toml_front_matter_is_metadata(tmp_path: Path) -> None:
    assert load(tmp_path, '+++\nowner = "x"\n+++\nBody.\n').metadata == {"owner": "x"}


@pytest.mark.parametrize(
    "block",
    [
        "a: !!python/object/apply:os.system ['touch pwned']",
        "a: [unclosed",
        "a: &x [1, 2]\nb: [*x, *x]",
    ],
)
def test_front_matter_that_is_unsafe_or_broken_stays_text_with_a_warning(tmp_path: Path, block: str) -> None:
    document = load(tmp_path, f"---\n{block}\n---\n\nBody.\n")
    assert document.metadata == {}
    assert any("front matter" in warning for warning in document.warnings)
    assert "Body." in document.text
    assert not (tmp_path / "pwned").exists()


def test_a_rule_at_the_top_is_no_front_matter(tmp_path: Path) -> None:
    document = load(tmp_path, "---\nJust a sentence.\n---\n\nBody.\n")
    assert "Just a sentence." in document.text
    assert document.warnings == ()


def test_an_empty_note_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="empty"):
        load(tmp_path, "\n\n<!-- nothing -->\n")


@pytest.mark.parametrize(
    "marks", [">" * 5_000, "> " * 5_000, "- " * 300, "> " + "- " * 300, "* > " * 200, "> > * " * 200]
)
def test_text_that_is_nested_too_deep_is_read_with_a_warning(tmp_path: Path, marks: str) -> None:
    document = load(tmp_path, f"# Top\n\n{marks} inside\n\n> quoted\n\n- end")
    assert document.text == "Top\n\ninside\n\n> quoted\n\n- end"
    assert document.warnings == ("nested more than 200 levels deep: read without its quotations and lists",)


def test_no_line_of_a_list_that_is_nested_too_deep_is_lost(tmp_path: Path) -> None:
    lines = [f"{'  ' * depth}- item{depth}" for depth in range(300)]
    document = load(tmp_path, "\n".join([*lines, "", "After."]))
    assert {f"item{depth}" for depth in range(300)} <= set(document.text.split())
    assert "After." in document.text
    assert len(document.warnings) == 1


@pytest.mark.parametrize(("mark", "levels"), [(">", 199), ("- ", 99)])
def test_text_is_read_as_it_is_down_to_the_last_level(tmp_path: Path, mark: str, levels: int) -> None:
    document = load(tmp_path, f"{mark * levels} inside")
    assert document.text.strip(" -") == "inside"
    assert document.warnings == ()
