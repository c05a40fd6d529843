"""The edge filter of `local`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ekr.retrieval.methods.local import edge_filter
from ekr.store.graph_records import RelationRecord


def _relation(id_: str, source: str, target: str, weight: float = 1.0) -> RelationRecord:
    return RelationRecord(id_, source, target, source, target, "KNOWS", "", weight)


def test_relations_between_two_entities_of_the_question_come_first() -> None:
    relations = [
        *(_relation(f"hub{n}", "ada", f"x{n}", 9.0) for n in range(3)),
        _relation("both", "ada", "charles", 1.0),
    ]
    assert edge_filter(relations, {"ada", "charles"})[0][0] == "both"


def test_then_relations_whose_lesser_end_matters_more() -> None:
    relations = [
        _relation("to the well linked", "ada", "engine"),
        _relation("to the leaf", "ada", "leaf"),
        _relation("elsewhere", "engine", "mill"),
        _relation("and back", "mill", "ada"),
    ]
    order = [id_ for id_, _ in edge_filter(relations, {"ada"})]
    assert order.index("to the well linked") < order.index("to the leaf")


@given(
    st.lists(
        st.builds(
            _relation,
            st.text("abcdef", min_size=4, max_size=4),
            st.sampled_from("pqrstu"),
            st.sampled_from("pqrstu"),
            st.floats(0.1, 5),
        ),
        max_size=15,
        unique_by=lambda r: r.id,
    ),
    st.sets(st.sampled_from("pqrstu")),
    st.randoms(),
)
def test_the_order_of_relations_does_not_matter_and_none_is_lost(
    relations: list[RelationRecord],
    anchors: set[str],
    shuffler: object,
) -> None:
    shuffled = sorted(relations, key=lambda r: hash((r.id, id(shuffler))))
    assert edge_filter(relations, anchors) == edge_filter(shuffled, anchors)
    assert {id_ for id_, _ in edge_filter(relations, anchors)} == {r.id for r in relations}
