"""Filters: nothing that they exclude comes back, and one that can't apply is a mistake of the request."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ekr import Engine, Filters, Recipe
from ekr.errors import UsageError
from ekr.retrieval.filters import _check_properties, check

METHODS = ("chunk", "bm25", "entity", "local", "global", "community")
DOCUMENTS = ("lovelace.md", "babbage.md", "engine.md", "loom.md", "roses.md")
QUESTIONS = (
    "Who worked with Charles Babbage on the Analytical Engine?",
    "David Austin and his roses",
    "What was built in Lyon in 1804?",
    "machines, numbers and cards",
)

recipes = st.builds(
    lambda methods, beside, steps, walk, rerank, counts: Recipe(
        name="r",
        methods=methods,
        beside=methods[1:] if beside else (),
        steps=steps,
        walk=walk,
        rerank=rerank,
        limit_counts=counts,
        limit=50,
    ),
    st.lists(st.sampled_from(METHODS), min_size=1, max_size=4, unique=True).map(tuple),
    st.booleans(),
    st.lists(st.sampled_from(["neighbours", "communities"]), unique=True).map(tuple),
    st.lists(st.sampled_from(["breadth_first", "pagerank", "links"]), unique=True).map(tuple),
    st.sampled_from(["none", "graph_distance"]),
    st.sampled_from(["items", "chunks"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recipes, st.sampled_from(QUESTIONS), st.sets(st.sampled_from(DOCUMENTS), min_size=1, max_size=2))
def test_no_item_of_any_method_or_step_comes_from_a_document_that_is_filtered_out(
    library: Engine, recipe: Recipe, question: str, wanted: set[str]
) -> None:
    result = library.retrieve(question, recipe, filters=Filters(documents=tuple(sorted(wanted))))
    assert result.degraded == []
    snapshot = library.snapshot()
    allowed = {d.id for d in snapshot.documents() if d.display in wanted}
    for item in result.items:
        if item.type == "chunk":
            assert item.document in wanted
        else:
            held = snapshot.graph.evidence_documents(item.type, [item.id])[item.id]  # type: ignore[arg-type]
            assert held & allowed
            assert all(place.document in wanted for place in item.evidence or ())
    assert all(reference.document in wanted for reference in result.references)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recipes, st.sampled_from(QUESTIONS), st.sampled_from(["victorian", "NAPOLEONIC"]))
def test_a_property_filter_holds_for_passages_everywhere(
    library: Engine, recipe: Recipe, question: str, period: str
) -> None:
    result = library.retrieve(question, recipe, filters=Filters(where={"period": period}))
    wanted = {"victorian": {"lovelace.md", "babbage.md"}, "napoleonic": {"loom.md"}}[period.casefold()]
    assert {item.document for item in result.items if item.type == "chunk"} <= wanted


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("recipe", ["ENTITY", "HYBRID"])
def test_only_entities_with_the_label_come_back(library: Engine, question: str, recipe: str) -> None:
    result = library.retrieve(question, recipe, filters=Filters(labels=("person",)))
    entities = [item for item in result.items if item.type == "entity"]
    assert entities
    assert all("Person" in (item.labels or ()) for item in entities)


def test_a_walk_follows_only_relations_of_the_type(library: Engine) -> None:
    walked = library.retrieve("Ada Lovelace", "GRAPH_EXPAND", filters=Filters(relations=("work_with",)))
    types = {item.relation_type for item in walked.items if item.type == "relation"}
    assert types == {"WORK_WITH"}


@pytest.mark.parametrize(
    ("recipe", "filters", "message"),
    [
        ("naive", Filters(labels=("Person",)), "can't use --label"),
        ("hybrid_mix", Filters(labels=("Person",)), "can't use --label"),
        ("HYBRID", Filters(relations=("WORK_WITH",)), "can't use --relation"),
        ("multihop", Filters(relations=("WORK_WITH",)), "can't use --relation"),
        ("bypass", Filters(documents=("a",)), "can't be filtered"),
        ("ENTITY", Filters(labels=("Persn",)), "unknown label 'Persn'; did you mean 'Person'?"),
        (
            "GRAPH_EXPAND",
            Filters(relations=("WORK_WIHT",)),
            "unknown relation type 'WORK_WIHT'; did you mean 'WORK_WITH'?",
        ),
        ("GRAPH_EXPAND", Filters(relations=("zzz",)), "`ekr graph` lists them"),
    ],
)
def test_a_filter_that_the_recipe_cannot_use_or_that_does_not_exist_is_a_usage_error(
    library: Engine, recipe: str, filters: Filters, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        library.retrieve("x", recipe, filters=filters)
    assert message in str(caught.value)


@given(recipes, st.booleans(), st.booleans())
def test_a_filter_is_refused_exactly_when_nothing_in_the_recipe_can_use_it(
    recipe: Recipe, label: bool, relation: bool
) -> None:
    filters = Filters(labels=("Person",) if label else (), relations=("KNOWS",) if relation else ())
    usable = (not label or "entity" in recipe.methods) and (not relation or "breadth_first" in recipe.walk)
    try:
        check(filters, recipe)
    except UsageError:
        assert not usable
    else:
        assert usable


def test_a_label_that_no_entity_has_gives_an_honest_empty_result(library: Engine) -> None:
    result = library.retrieve("Ada Lovelace", "ENTITY", filters=Filters(labels=("Law",)))
    assert result.items == ()
    assert any("Law" in note for note in result.trace.notes)


def test_an_unknown_property_is_answered_with_the_nearest_first(library: Engine) -> None:
    with pytest.raises(UsageError, match="no document has a property 'periods'; there are: period, "):
        library.retrieve(QUESTIONS[0], "naive", filters=Filters(where={"periods": "victorian"}))


def test_many_properties_are_not_all_named() -> None:
    with pytest.raises(UsageError) as error:
        _check_properties(["author"], {f"field{n}" for n in range(50)} | {"authors"})
    assert "there are: authors, " in str(error.value)
    assert "and 43 more" in str(error.value)


def test_a_known_property_without_that_value_is_an_empty_result_with_a_note(library: Engine) -> None:
    result = library.retrieve(QUESTIONS[0], "naive", filters=Filters(where={"period": "bronze age"}))
    assert result.items == ()
    assert result.trace.notes == ["nothing matches the filter: period = bronze age"]


def test_format_and_language_are_properties_of_every_document(library: Engine) -> None:
    assert library.retrieve(QUESTIONS[0], "naive", filters=Filters(where={"format": "Markdown"})).items
    assert library.retrieve(QUESTIONS[0], "naive", filters=Filters(where={"format": "pdf"})).items == ()
