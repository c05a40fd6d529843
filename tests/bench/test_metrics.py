"""Each metric against figures worked out by hand, and the rankings against trec_eval."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from ekr.bench import metrics
from ekr.bench.errors import BenchError
from ekr.bench.metrics import (
    METRICS,
    aggregate,
    cites_page,
    evidence_rank,
    exact_match,
    ndcg_at,
    percentile,
    ranked_documents,
    recall_at,
    reciprocal_rank,
    score,
    token_f1,
    trap_handled,
)
from ekr.bench.questions import Question

RANKED = ["a", "x", "b", "y", "z", "c"]


def question(**fields: Any) -> Question:
    return Question.model_validate({"id": "q", "question": "?", **fields})


def chunk(rank: int, text: str, heading: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "chunk", "rank": rank, "text": text, "heading": heading, "document_id": f"d{rank}", **more}


def result(**fields: Any) -> dict[str, Any]:
    return {"answer": "", "items": [], "references": [], "trace": {"context": ""}, **fields}


# Rankings, by hand: gold a, b, c at ranks 1, 3, 6


@pytest.mark.parametrize(("k", "expected"), [(2, 1 / 3), (5, 2 / 3), (10, 1.0), (20, 1.0)])
def test_recall_is_the_share_of_gold_within_the_cut(k: int, expected: float) -> None:
    assert recall_at(["a", "b", "c"], RANKED, k) == pytest.approx(expected)


def test_reciprocal_rank_is_of_the_first_gold_document() -> None:
    assert reciprocal_rank(["c", "b"], RANKED) == pytest.approx(1 / 3)
    assert reciprocal_rank(["nowhere"], RANKED) == 0.0


def test_ndcg_discounts_by_the_logarithm_of_rank_plus_one() -> None:
    gained = 1 / math.log2(2) + 1 / math.log2(4) + 1 / math.log2(7)  # 1 + 0.5 + 0.356207
    ideal = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)  # 1 + 0.630930 + 0.5
    assert gained / ideal == pytest.approx(0.871079, abs=1e-6)
    assert ndcg_at(["a", "b", "c"], RANKED, 10) == pytest.approx(0.871079, abs=1e-6)
    assert ndcg_at(["a", "b", "c"], RANKED, 5) == pytest.approx(1.5 / ideal)
    assert ndcg_at(["a"], RANKED, 10) == 1.0


def test_ndcg_with_more_gold_than_the_cut_can_be_perfect() -> None:
    assert ndcg_at(["a", "b", "c"], ["b", "a"], 2) == pytest.approx(1.0)


def test_documents_are_ranked_once_at_their_best_place() -> None:
    items = [{"document_id": d} for d in ("b", "a", "b", 7, None, "7")] + [{"type": "value"}]
    assert ranked_documents(items) == ["b", "a", "7"]


def test_rankings_agree_with_trec_eval_on_random_runs() -> None:
    ir_measures = pytest.importorskip("ir_measures", reason="the ranking library is a development dependency")
    r, rr, ndcg = ir_measures.R, ir_measures.RR, ir_measures.nDCG
    cuts = (2, 5, 10, 20)
    dice = random.Random(20240712)
    runs = []
    for number in range(300):
        pool = [f"d{i}" for i in range(dice.randint(1, 60))]
        ranked = dice.sample(pool, dice.randint(1, len(pool)))
        runs.append((str(number), dice.sample(pool, dice.randint(1, min(8, len(pool)))), ranked))
    qrels = {name: dict.fromkeys(gold, 1) for name, gold, _ in runs}
    scores = {name: {d: 1 / rank for rank, d in enumerate(ranked, 1)} for name, _, ranked in runs}
    theirs = {
        (one.query_id, str(one.measure)): one.value
        for one in ir_measures.iter_calc([*(r @ k for k in cuts), rr, ndcg @ 10], qrels, scores)
    }
    assert len(theirs) == 300 * 6
    for name, gold, ranked in runs:
        for k in cuts:
            assert recall_at(gold, ranked, k) == pytest.approx(theirs[name, f"R@{k}"])
        assert reciprocal_rank(gold, ranked) == pytest.approx(theirs[name, "RR"])
        assert ndcg_at(gold, ranked, 10) == pytest.approx(theirs[name, "nDCG@10"])


# Evidence and facts


def test_evidence_ranks_the_first_chunk_that_any_pattern_matches() -> None:
    asked = question(evidence=["quinze jours", "fifteen days"])
    items = [
        {"type": "entity", "rank": 1, "text": "fifteen days", "heading": None},
        chunk(2, "nothing here"),
        chunk(3, "within fifteen\u00a0days"),
        chunk(4, "quinze jours"),
    ]
    assert evidence_rank(asked, items) == 3


def test_evidence_may_begin_in_the_last_heading_but_not_in_the_others() -> None:
    items = [chunk(1, "Le présent règlement", "Chapitre I > Article premier")]
    assert evidence_rank(question(evidence=["premier Le présent"]), items) == 1
    assert evidence_rank(question(evidence=["Chapitre I"]), items) is None


@pytest.mark.parametrize(("rank", "expected"), [(1, 1.0), (5, 1.0), (6, 0.0)])
def test_evidence_counts_down_to_rank_five(rank: int, expected: float) -> None:
    given = result(items=[chunk(rank, "the evidence")])
    assert score(question(evidence=["evidence"]), given, retrieval_only=True)["evidence_top_5"] == expected


def test_facts_in_context_look_at_the_context_and_nothing_else() -> None:
    asked = question(facts=["alpha", "beta", "gamma", "l'IA"])
    given = result(answer="gamma", items=[chunk(1, "gamma")], trace={"context": "ALPHA … l\u2019IA\nbeta"})
    values = score(asked, given, retrieval_only=False)
    assert values["facts_in_context"] == 0.75
    assert values["facts_in_answer"] == 0.25


def test_a_result_with_items_must_say_what_was_sent() -> None:
    with pytest.raises(BenchError, match="no `context`"):
        score(question(facts=["x"]), {"items": [chunk(1, "x")], "trace": {}}, retrieval_only=True)


def test_facts_of_traps_are_kept_apart_in_a_column_of_their_own() -> None:
    given = result(trace={"context": "x"})
    trap = score(question(facts=["x", "y"], trap=True), given, retrieval_only=True)
    assert (trap["facts_in_context"], trap["facts_in_context_no_traps"]) == (0.5, None)
    assert score(question(facts=["x"]), given, retrieval_only=True)["facts_in_context_no_traps"] == 1.0


def test_facts_with_angle_brackets_are_found_though_the_context_escapes_them() -> None:
    given = result(trace={"context": "<chunk>x &lt; 5 &gt; y</chunk>"})
    assert score(question(facts=["x < 5 > y"]), given, retrieval_only=True)["facts_in_context"] == 1.0


# Traps


@pytest.mark.parametrize(
    ("answer", "handled"),
    [
        ("Not 72 hours: 15 days, or 2 days.", True),
        ("15 days.", False),
        ("15 days or 2 days, within 72 h.", False),
        ("15 days [72], or 2 days [3].", True),
    ],
)
def test_a_trap_needs_every_fact_and_nothing_forbidden(answer: str, handled: bool) -> None:
    asked = question(trap=True, facts=["15 days", r"\b2 days"], forbidden=[r"72(?! hours)"])
    assert trap_handled(asked, answer) is handled


def test_a_trap_with_nothing_to_match_is_not_scored() -> None:
    assert score(question(trap=True), result(answer="x"), retrieval_only=False)["traps_handled"] is None


def test_questions_that_are_no_traps_are_not_in_that_column() -> None:
    values = score(question(facts=["x"], forbidden=["y"]), result(answer="y"), retrieval_only=False)
    assert values["traps_handled"] is None


# Pages


@pytest.mark.parametrize(
    ("first", "last", "near", "exact"),
    [
        (46, 46, 1.0, 1.0),
        (48, 48, 1.0, 0.0),
        (44, 44, 1.0, 0.0),
        (49, 49, 0.0, 0.0),
        (40, 50, 1.0, 1.0),
        (47, None, 1.0, 0.0),
        (None, None, 0.0, 0.0),
    ],
)
def test_a_cited_page_counts_within_two_of_a_gold_page(
    first: int | None, last: int | None, near: float, exact: float
) -> None:
    given = result(references=[{"cited": True, "page_start": first, "page_end": last}])
    values = score(question(pages=[46, 120]), given, retrieval_only=False)
    assert (values["page_cited"], values["page_exact"]) == (near, exact)


def test_a_reference_that_is_not_cited_is_no_citation() -> None:
    references = [{"cited": False, "page_start": 46, "page_end": 46}, {"cited": True, "page_start": 9}]
    assert not cites_page(question(pages=[46]), references, 2)
    assert score(question(pages=[46]), result(), retrieval_only=False)["page_cited"] == 0.0


# Short answers


def test_exact_match_and_f1_by_hand() -> None:
    assert exact_match(["G. Stanley Hall", "Stanley Hall"], "The Stanley Hall. [1]") == 1.0
    assert exact_match(["35"], "There are 35") == 0.0
    # 2 common words of 3 given and 3 expected: precision 2/3, recall 2/3
    assert token_f1(["Granville Stanley Hall"], "Stanley Hall himself") == pytest.approx(2 / 3)
    # precision 1/4, recall 1: 2 · 0.25 · 1 / 1.25
    assert token_f1(["35", "thirty five stores"], "There are 35 shops") == pytest.approx(0.4)
    # A repeated word is common only as often as both have it: 1 of 3 and 1 of 2
    assert token_f1(["very good"], "very very very") == pytest.approx(2 * 1 / 5)
    assert token_f1(["yes"], "") == 0.0


# Denominators


def test_what_the_question_lacks_is_none_and_never_zero() -> None:
    values = score(question(), result(answer="anything"), retrieval_only=False)
    assert {key for key, value in values.items() if value is not None} == {"passages_sent"}


def test_retrieval_alone_measures_nothing_of_the_answer() -> None:
    full = question(trap=True, facts=["x"], pages=[1], answers=["x"], evidence=["x"], gold_passages=["d1"])
    values = score(full, result(answer=None), retrieval_only=True)
    of_answers = ("traps_handled", "facts_in_answer", "page_cited", "page_exact", "exact_match", "f1")
    assert [values[key] for key in of_answers] == [None] * 6
    assert values["evidence_top_5"] == values["facts_in_context"] == values["recall_at_5"] == 0.0


def test_no_answer_equals_no_accepted_one() -> None:
    values = score(question(answers=["A"]), {"answer": " ", "items": []}, retrieval_only=False)
    assert (values["exact_match"], values["f1"]) == (0.0, 0.0)


def test_a_failed_query_counts_as_nothing_found_and_nothing_answered() -> None:
    full = question(
        trap=True, forbidden=["x"], facts=["x"], pages=[1], answers=["x"], evidence=["x"], gold_passages=["d"]
    )
    values = score(full, None, retrieval_only=False)
    absent = {"correctness", "hallucinated", "latency_p50", "latency_p95", "passages_sent", "facts_in_context_no_traps"}
    assert {key for key, value in values.items() if value is None} == absent
    assert {value for key, value in values.items() if key not in absent} == {0.0}


def test_passages_sent_counts_the_references() -> None:
    given = result(items=[chunk(n, "x") for n in range(1, 9)], references=[{"cited": False}] * 3)
    assert score(question(), given, retrieval_only=True)["passages_sent"] == 3.0


# Aggregates


@pytest.mark.parametrize(
    ("q", "count", "index"),
    [(0.5, 1, 0), (0.5, 2, 0), (0.5, 4, 2), (0.5, 5, 2), (0.95, 10, 9), (0.95, 26, 24), (0.95, 51, 48), (1.0, 3, 2)],
)
def test_a_percentile_is_the_value_at_the_rounded_index(q: float, count: int, index: int) -> None:
    values = [float(10 * n) for n in range(count)]
    random.Random(1).shuffle(values)
    assert percentile(values, q) == 10 * index


def test_a_column_is_a_mean_but_latency_is_a_percentile() -> None:
    assert aggregate("f1", [0.0, 0.5, 1.0, 1.0]) == 0.625
    assert aggregate("latency_p50", [9.0, 1.0, 2.0]) == 2.0
    assert aggregate("latency_p95", [9.0, 1.0, 2.0]) == 9.0
    assert aggregate("f1", []) is None


def test_every_metric_of_the_table_is_known_once() -> None:
    keys = [metric.key for metric in METRICS]
    assert len(keys) == len(set(keys)) == 20
    assert set(score(question(), None, retrieval_only=False)) == set(keys) == set(metrics.BY_KEY)


@pytest.mark.parametrize("gold", ["etna", "eruptions.jsonl#etna"])
def test_a_gold_document_is_named_by_id_or_as_it_is_shown(gold: str) -> None:
    items = [
        {"type": "chunk", "document_id": "pinatubo", "document": "eruptions.jsonl#pinatubo"},
        {"type": "chunk", "document_id": "etna", "document": "eruptions.jsonl#etna"},
    ]
    values = score(question(gold_passages=[gold]), {"items": items}, retrieval_only=True)
    assert (values["recall_at_2"], values["mrr"]) == (1.0, 0.5)
    values = score(question(gold_passages=["etna.jsonl#etna"]), {"items": items}, retrieval_only=True)
    assert (values["recall_at_2"], values["mrr"]) == (0.0, 0.0)
