from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr.extraction.definitions import acronyms, defined_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("‘provider’ means a natural or legal person that develops a system;", ["provider"]),
        ("3) «fournisseur», une personne physique ou morale qui développe un système;", ["fournisseur"]),
        ("Aux fins du présent code, on entend par «déployeur»: une personne qui utilise;", ["déployeur"]),
        ("Le terme «destination» désigne l'utilisation prévue.", ["destination"]),
        ("On entend par risque, la combinaison de deux choses.", ["risque"]),
        ("A sandbox is defined as a controlled environment.", ["sandbox"]),
        ('He said "hello" and left.', []),
        ("This means that nothing works.", []),
        ("Chaque État membre désigne une autorité.", []),
    ],
)
def test_defined_terms_are_found(text: str, terms: list[str]) -> None:
    assert [term.term for term in defined_terms(text)] == terms


def test_a_definition_spans_its_sentence() -> None:
    text = "1. Scope. ‘Risk’ means a chance of harm. Other things follow."
    (term,) = defined_terms(text)
    begin, end = term.sentence
    assert text[begin:end] == "‘Risk’ means a chance of harm."
    assert text[term.start : term.end] == "Risk"


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("the Food and Drug Administration (FDA) is", [("FDA", "Food and Drug Administration")]),
        (
            "Treaty on the Functioning of the Union (TFU)",
            [("TFU", "Treaty on the Functioning of the Union")],
        ),
        ("les petites et moyennes entreprises (PME)", [("PME", "petites et moyennes entreprises")]),
        ("effective implementation of Regulation (EU) 2016/679", []),
        ("le règlement (CE) no 300/2008", []),
        ("economic operator under Regulation (EU) 2019/1020", []),
    ],
)
def test_acronyms_must_be_spelt_by_the_words_before_them(text: str, pairs: list[tuple[str, str]]) -> None:
    assert [(a.short, a.long) for a in acronyms(text)] == pairs


@given(st.text(alphabet="«»“”‘’'\"() ,:;.\nabAB1means désigne", max_size=120))
def test_any_text_is_read_without_error(text: str) -> None:
    assert all(text[t.start : t.end] for t in defined_terms(text))
    assert all(0 <= a.start < a.end <= len(text) for a in acronyms(text))
