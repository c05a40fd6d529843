"""Each column of the table: its definition for one question, and its figure over many.

A metric of a question is None where the question lacks the field it needs; None is left out of the mean and
never counts as 0. A question that failed has 0 for every metric its fields and the run allow, because whoever
asked got nothing; it has no latency and no judgement.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ekr.bench.errors import BenchError
from ekr.bench.matching import matches
from ekr.bench.normalise import normalise, normalise_answer, without_citations
from ekr.bench.questions import Question

PAGE_TOLERANCE = 2
RECALL_CUTS = (2, 5, 10, 20)

Unit = Literal["share", "score", "seconds", "number", "ratio"]
Group = Literal["main", "answers", "ranking"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One column. `over` names its denominator; `two_sided` metrics are yes or no for one question."""

    key: str
    title: str
    unit: Unit
    over: str
    group: Group
    higher_is_better: bool = True
    yes_or_no: bool = False


METRICS: tuple[Metric, ...] = (
    Metric("correctness", "Correctness /5", "score", "questions judged", "main"),
    Metric("hallucinated", "Hallucinated answers", "share", "questions judged", "main", False, True),
    Metric("traps_handled", "Traps handled", "share", "trap questions", "main", True, True),
    Metric("evidence_top_5", "Evidence in top 5", "share", "questions with evidence", "main", True, True),
    Metric("facts_in_context", "Reference facts in context", "share", "questions with facts", "main"),
    Metric("page_cited", "Correct page cited", "share", "questions with pages", "main", True, True),
    Metric("latency_p50", "Latency p50", "seconds", "successes", "main", False),
    Metric("latency_p95", "Latency p95", "seconds", "successes", "main", False),
    Metric("page_exact", "Exact page cited", "share", "questions with pages", "answers", True, True),
    Metric("facts_in_answer", "Facts in answer", "share", "questions with facts", "answers"),
    Metric("exact_match", "EM", "share", "questions with answers", "answers", True, True),
    Metric("f1", "F1", "share", "questions with answers", "answers"),
    Metric(
        "facts_in_context_no_traps",
        "Facts in context, traps apart",
        "share",
        "questions with facts that are no traps",
        "answers",
    ),
    Metric("passages_sent", "Passages sent", "number", "successes", "answers", False),
    *(Metric(f"recall_at_{k}", f"recall@{k}", "share", "questions with gold passages", "ranking") for k in RECALL_CUTS),
    Metric("mrr", "MRR", "ratio", "questions with gold passages", "ranking"),
    Metric("ndcg_at_10", "nDCG@10", "ratio", "questions with gold passages", "ranking"),
)
BY_KEY: Mapping[str, Metric] = {metric.key: metric for metric in METRICS}
OF_ANSWERS = (
    "correctness", "hallucinated", "traps_handled", "page_cited", "page_exact", "facts_in_answer", "exact_match", "f1",
)  # fmt: skip
PERCENTILES: Mapping[str, float] = {"latency_p50": 0.5, "latency_p95": 0.95}


# Rankings


def recall_at(gold: Sequence[str], ranked: Sequence[str], k: int) -> float:
    """Share of the gold documents among the first `k` of a ranking without duplicates."""
    return len(set(gold) & set(ranked[:k])) / len(set(gold))


def reciprocal_rank(gold: Sequence[str], ranked: Sequence[str]) -> float:
    """1 / rank of the first gold document, ranks from 1; 0 when there is none. Its mean is the MRR."""
    wanted = set(gold)
    return next((1 / rank for rank, one in enumerate(ranked, start=1) if one in wanted), 0.0)


def ndcg_at(gold: Sequence[str], ranked: Sequence[str], k: int) -> float:
    """Normalised discounted cumulative gain with gain 1 a gold document and discount log2(rank + 1).

    Järvelin and Kekäläinen 2002; the ideal ranking has min(k, gold documents) of them in front.
    """
    wanted = set(gold)
    found = sum(1 / math.log2(rank + 1) for rank, one in enumerate(ranked[:k], start=1) if one in wanted)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))
    return found / ideal


def ranked_documents(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """The document ids of a result's items as texts, in their order, each once; items without one apart."""
    return list(dict.fromkeys(str(i["document_id"]) for i in items if i.get("document_id") is not None))


def gold_ids(gold: Sequence[str], items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Gold documents by id also where the question names one as it is shown: `FILE#id` for a record."""
    ids = {str(i["document_id"]) for i in items if i.get("document_id") is not None}
    of_name = {i.get("document"): str(i["document_id"]) for i in items if i.get("document_id") is not None}
    return [name if name in ids else of_name.get(name, name) for name in gold]


# Texts


def share_matched(patterns: Sequence[str], text: str) -> float:
    """Share of the regexes that match somewhere in a normalised text."""
    return sum(matches(pattern, text) for pattern in patterns) / len(patterns)


def evidence_rank(question: Question, items: Sequence[Mapping[str, Any]]) -> int | None:
    """Rank of the first chunk whose last heading and text any `evidence` regex matches; None when none does."""
    for item in items:
        if item.get("type") != "chunk":
            continue
        text = normalise(f"{last_heading(item.get('heading'))} {item.get('text') or ''}")
        if any(matches(pattern, text) for pattern in question.evidence):
            return int(item["rank"])
    return None


def last_heading(heading: str | None) -> str:
    """The innermost heading of a breadcrumb joined by ` > `; empty without one."""
    return (heading or "").rsplit(" > ", 1)[-1]


def trap_handled(question: Question, answer: str) -> bool:
    """Every `facts` regex matches the answer and no `forbidden` one does."""
    text = normalise(without_citations(answer))
    return all(matches(p, text) for p in question.facts) and not any(matches(p, text) for p in question.forbidden)


def cites_page(question: Question, references: Sequence[Mapping[str, Any]], tolerance: int) -> bool:
    """Whether the page range of a cited reference comes within `tolerance` pages of a gold page."""
    for reference in references:
        if not reference.get("cited") or reference.get("page_start") is None:
            continue
        first = int(reference["page_start"])
        last = int(reference.get("page_end") or first)
        if any(first - tolerance <= page <= last + tolerance for page in question.pages):
            return True
    return False


def exact_match(accepted: Sequence[str], answer: str) -> float:
    """1 when the normalised answer equals a normalised accepted one, else 0."""
    given = normalise_answer(without_citations(answer))
    return float(any(normalise_answer(one) == given for one in accepted))


def token_f1(accepted: Sequence[str], answer: str) -> float:
    """Best F1 over the accepted answers, on bags of normalised words (the SQuAD evaluation)."""
    return max(_f1(normalise_answer(one), normalise_answer(without_citations(answer))) for one in accepted)


def _f1(expected: str, given: str) -> float:
    if not expected or not given:
        return float(expected == given)
    common = sum((Counter(expected.split()) & Counter(given.split())).values())
    return 2 * common / (len(expected.split()) + len(given.split()))


# One question


def context_sent(result: Mapping[str, Any]) -> str:
    """The text that went to the model. Raises BenchError when a result with items does not say."""
    context = (result.get("trace") or {}).get("context")
    if context is None and result.get("items"):
        raise BenchError("the result has items but its trace has no `context`; facts in context need it")
    return str(context or "")


def score(question: Question, result: Mapping[str, Any] | None, *, retrieval_only: bool) -> dict[str, float | None]:
    """Every metric of one question that needs neither clock nor judge; None where it does not apply.

    `result` is the JSON object of a query, or None when the query failed.
    """
    values: dict[str, float | None] = dict.fromkeys(BY_KEY)
    failed = result is None
    result = result or {}
    items = result.get("items") or []
    if question.evidence:
        rank = evidence_rank(question, items)
        values["evidence_top_5"] = float(rank is not None and rank <= 5)
    if question.facts:
        # Angle brackets of documents are escaped in a context; a fact that has one is there all the same.
        context = context_sent(result).replace("&lt;", "<").replace("&gt;", ">")
        share = share_matched(question.facts, normalise(context))
        values["facts_in_context"] = share
        values["facts_in_context_no_traps"] = None if question.trap else share
    if question.gold_passages:
        gold, ranked = gold_ids(question.gold_passages, items), ranked_documents(items)
        for k in RECALL_CUTS:
            values[f"recall_at_{k}"] = recall_at(gold, ranked, k)
        values["mrr"] = reciprocal_rank(gold, ranked)
        values["ndcg_at_10"] = ndcg_at(gold, ranked, 10)
    if not failed:
        values["passages_sent"] = float(len(result.get("references") or []))
    if not retrieval_only:
        values |= _score_answer(question, result, failed=failed)
    return values


def _score_answer(question: Question, result: Mapping[str, Any], *, failed: bool) -> dict[str, float | None]:
    answer = result.get("answer") or ""
    references = result.get("references") or []
    values: dict[str, float | None] = {}
    if question.trap and (question.facts or question.forbidden):
        values["traps_handled"] = float(not failed and trap_handled(question, answer))
    if question.facts:
        values["facts_in_answer"] = share_matched(question.facts, normalise(without_citations(answer)))
    if question.pages:
        values["page_cited"] = float(cites_page(question, references, PAGE_TOLERANCE))
        values["page_exact"] = float(cites_page(question, references, 0))
    if question.answers:
        # Normalised, an accepted answer such as "A" is empty, too.
        silent = failed or not answer.strip()
        values["exact_match"] = 0.0 if silent else exact_match(question.answers, answer)
        values["f1"] = 0.0 if silent else token_f1(question.answers, answer)
    return values


# Many questions


def percentile(values: Sequence[float], q: float) -> float:
    """sorted[round(q · (n − 1))], halves to even. Raises ValueError without values."""
    if not values:
        raise ValueError("no value, no percentile")
    return sorted(values)[round(q * (len(values) - 1))]


def aggregate(key: str, values: Sequence[float]) -> float | None:
    """The figure of a column over the questions that have one: a percentile of latency, else the mean."""
    if not values:
        return None
    q = PERCENTILES.get(key)
    return percentile(values, q) if q is not None else math.fsum(values) / len(values)
