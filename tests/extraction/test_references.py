from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.extraction.references import numbered_heading, references


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("visé à l’article 6, paragraphe 1, du présent règlement", [("article", "6", 1)]),
        ("l'article 6(1):", [("article", "6", 1)]),
        ("under Article 6(1)", [("article", "6", 1)]),
        ("Articles 8 to 10", [("article", n, None) for n in ("10", "8", "9")]),
        ("articles 8 à 10 et 12", [("article", n, None) for n in ("10", "12", "8", "9")]),
        ("l’article 99 et l’article 101", [("article", "99", None), ("article", "101", None)]),
        ("annexe III, points 2 à 8", [("annex", "iii", 2)]),
        ("annexes I et III", [("annex", "i", None), ("annex", "iii", None)]),
        ("annexes I à III", [("annex", n, None) for n in ("i", "ii", "iii")]),
        ("chapitre III, section 2", [("chapter", "iii section 2", None)]),
        ("see § 12.3", [("section", "12.3", None)]),
        ("see section 4.2 of the manual", [("section", "4.2", None)]),
        ("article premier", [("article", "1", None)]),
        ("article 6, paragraphe 1, du règlement (UE) 2016/679", []),
        ("Article 2(1), point (c), of Regulation (EU) No 1025/2012", []),
        ("l’article 16 du traité sur le fonctionnement", []),
        ("a particle 6 of sand", []),
    ],
)
def test_references_are_read(text: str, expected: list[tuple[str, str, int | None]]) -> None:
    assert [(r.kind, r.number, r.paragraph) for r in references(text)] == expected


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Article 6 – Classification rules", ("article", "6", "Classification rules")),
        ("ANNEXE III Systèmes à haut risque", ("annex", "iii", "Systèmes à haut risque")),
        ("Article premier Objet", ("article", "1", "Objet")),
        ("Section 2 Requirements", ("section", "2", "Requirements")),
        ("Articles of faith", None),
        ("Annexes", None),
    ],
)
def test_numbered_headings_are_read(heading: str, expected: tuple[str, str, str] | None) -> None:
    assert numbered_heading(heading) == expected


@given(st.text(alphabet="article Article §()0123456789,à-IVXpoint ", max_size=80))
def test_any_text_is_read_without_error(text: str) -> None:
    assert all(text[r.start : r.end] and r.number for r in references(text))
