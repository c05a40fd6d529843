from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ekr.extraction import Definition, RawEntity, RawExtraction, RawRelation
from ekr.extraction.serialise import dump_definitions, dump_extraction, load_definitions, load_extraction

_TEXT = st.text(max_size=20)
_SPAN = st.tuples(st.integers(0, 99), st.integers(0, 99))
_KIND = st.sampled_from(["name", "term", "phrase"])
_ENTITY = st.builds(
    RawEntity, _TEXT, _TEXT, _KIND, st.lists(_SPAN, max_size=3).map(tuple), _SPAN, st.integers(0, 3), _TEXT,
    st.lists(_TEXT, max_size=2).map(tuple),
)  # fmt: skip
_RELATION = st.builds(RawRelation, _TEXT, _TEXT, _TEXT, _SPAN, _TEXT, st.sampled_from([0.5, 1.0]))


@given(
    st.builds(
        RawExtraction,
        _TEXT,
        _TEXT,
        _TEXT,
        st.lists(_ENTITY, max_size=3).map(tuple),
        st.lists(_RELATION, max_size=3).map(tuple),
    )
)
def test_an_extraction_comes_back_as_it_was(raw: RawExtraction) -> None:
    assert load_extraction(dump_extraction(raw)) == raw


def test_definitions_come_back_as_they_were() -> None:
    found = [
        Definition(("Article 6", "article 6"), "Law", "number", "d", "p", None, scoped=True, description="Règles"),
        Definition(("fournisseur",), "Concept", "term", "d", "p", "c", description="«fournisseur», …"),
    ]
    assert load_definitions(dump_definitions(found)) == found
