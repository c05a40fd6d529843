from __future__ import annotations

from dataclasses import replace

from ekr.bench.directory import RunInfo
from ekr.bench.grading import Row
from ekr.bench.likeness import differences, question_differences, recipe_differences, shortfalls
from ekr.bench.metrics import BY_KEY
from tests.bench.library import questions

A = RunInfo(
    ("mix",),
    1,
    False,
    "sha",
    6,
    generator="small",
    engine={"store": "/a", "generation": 3, "reranker": "auto", "seed": 0},
    recipe_values={"mix": {"limit": 10, "rerank": "none"}},
    machine={"cores": 2},
)


def test_like_runs_differ_in_nothing() -> None:
    assert differences(A, replace(A, recipes=("other",), created="later")) == []
    assert question_differences(questions(), questions()) == []
    assert recipe_differences(A, A, "mix", "mix") == []


def test_each_difference_of_store_and_models_has_a_note_of_its_own() -> None:
    b = replace(A, generator="large", engine={**A.engine, "store": "/b", "reranker": "none", "seed": 1}, repeat=2)
    assert differences(A, replace(b, jobs=2, machine={"cores": 8})) == [
        "another generator: small in A, large in B",
        "another store: /a in A, /b in B",
        "another re-ranker: auto in A, none in B",
        "another seed: 0 in A, 1 in B",
        "another --repeat: 1 in A, 2 in B",
        "another --jobs: 1 in A, 2 in B",
        "another cores: 2 in A, 8 in B",
    ]


def test_retrieval_alone_against_answers_is_said_once() -> None:
    b = replace(A, retrieval_only=True, generator=None)
    for pair, only in (((A, b), "B"), ((b, A), "A")):
        (note,) = differences(*pair)
        assert note.startswith(f"{only} measured retrieval alone")


def test_questions_that_are_scored_by_other_fields_are_named() -> None:
    other = [q.model_copy(update={"facts": ["1899"]}) if q.id in ("q1", "q2") else q for q in questions()]
    other[2] = other[2].model_copy(update={"question": "Who?"})
    assert question_differences(questions(), other[:5]) == [
        "left out, the same id but another question: q3",
        "only in A, left out: q6",
        "the same question with another 'facts' in each run: q1, q2",
    ]


def test_a_recipe_that_was_edited_between_the_runs_is_named_and_another_recipe_is_not() -> None:
    b = replace(A, recipe_values={"mix": {"limit": 20, "rerank": "none"}, "other": {"limit": 5}})
    assert recipe_differences(A, b, "mix", "mix") == ["recipe mix has another limit: 10 in A, 20 in B"]
    assert recipe_differences(A, b, "mix", "other") == []


def test_failed_and_degraded_queries_of_a_side_are_counted() -> None:
    plain = Row("r", 0, "q", None, dict.fromkeys(BY_KEY))
    scored = [plain, replace(plain, degraded=("method bm25",)), replace(plain, error="E: no")]
    assert shortfalls("B", scored) == ["B: failed queries: 1 of 3", "B: degraded queries: 1 of 3"]
    assert shortfalls("B", [plain]) == []
