"""From stored results to scored rows, with a judge or without; nothing is asked of the engine again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ekr.bench.directory import Appender, Key, RunDirectory, StoredResult
from ekr.bench.errors import BenchError
from ekr.bench.judge import Judge, Judgement, input_hash, judge_messages
from ekr.bench.metrics import context_sent, evidence_rank, score
from ekr.bench.questions import Question


@dataclass(frozen=True, slots=True)
class Row:
    """One query, scored. `values` has every metric by key, None where it does not apply.

    Latency stands under both of its percentile keys, in seconds. `evidence_rank` is the rank of the first
    chunk with evidence. `degraded` names the parts that failed while the query went on, such as `method bm25`.
    `judgement_missing` says why a judged run has no verdict here.
    """

    recipe: str
    repeat: int
    id: str
    category: str | None
    values: Mapping[str, float | None]
    evidence_rank: int | None = None
    error: str | None = None
    degraded: tuple[str, ...] = ()
    judgement_missing: str | None = None


def rows(directory: RunDirectory, questions: Sequence[Question] | None = None, judge: str | None = None) -> list[Row]:
    """Every stored query scored, ordered by recipe, repeat and question as the run names them.

    `questions` replaces the run's own, to grade with corrected fields; it may hold fewer. Judgements are
    those of `judge`, else of the judge in run.json, where they are of exactly this answer and reference. Raises
    BenchError.
    """
    info = directory.info()
    judge = judge or info.judge
    asked = list(questions) if questions is not None else directory.questions()
    by_id = {question.id: question for question in asked}
    judgements = _judgements(directory, judge) if judge else {}
    scored: dict[Key, Row] = {}
    for stored in directory.results():
        if stored.id in by_id:
            row = _row(by_id[stored.id], stored, retrieval_only=info.retrieval_only)
            if judge and not info.retrieval_only:
                row = _with_judgement(row, by_id[stored.id], stored, judgements)
            scored[stored.key] = row
    order = [(recipe, n, q.id) for recipe in info.recipes for n in range(info.repeat) for q in asked]
    return [scored[key] for key in order if key in scored]


def _row(question: Question, stored: StoredResult, *, retrieval_only: bool) -> Row:
    values = score(question, stored.result, retrieval_only=retrieval_only)
    values["latency_p50"] = values["latency_p95"] = stored.seconds
    result = stored.result or {}
    items = result.get("items") or []
    error = f"{stored.error['type']}: {stored.error['message']}" if stored.error else None
    rank = evidence_rank(question, items) if question.evidence else None
    failed_parts = dict.fromkeys(f"{one['stage']} {one['name']}" for one in result.get("degraded") or ())
    return Row(stored.recipe, stored.repeat, stored.id, question.category, values, rank, error, tuple(failed_parts))


def _judgements(directory: RunDirectory, judge: str) -> dict[tuple[Key, str], dict[str, Any]]:
    found: dict[tuple[Key, str], dict[str, Any]] = {}
    for line in directory.judgements():
        if line["judge"] == judge:
            found[(line["recipe"], line["repeat"], line["id"]), line["input_hash"]] = line
    return found


def _with_judgement(
    row: Row, question: Question, stored: StoredResult, judgements: Mapping[tuple[Key, str], Mapping[str, Any]]
) -> Row:
    if stored.result is None:
        return replace(row, judgement_missing="the query failed")
    judgement = judgements.get((stored.key, _input_hash(question, stored.result)))
    if judgement is None:
        return replace(row, judgement_missing="not judged yet")
    if judgement["missing"]:
        return replace(row, judgement_missing=judgement["missing"])
    values = dict(row.values)
    values["correctness"] = None if judgement["correctness"] is None else float(judgement["correctness"])
    values["hallucinated"] = float(judgement["hallucinated"])
    return replace(row, values=values)


def _input_hash(question: Question, result: Mapping[str, Any]) -> str:
    return input_hash(judge_messages(question, context_sent(result), result.get("answer") or ""))


def judge_run(
    directory: RunDirectory,
    judge: Judge,
    *,
    note: str | None = None,
    questions: Sequence[Question] | None = None,
    on_progress: Callable[[int, int, Judgement], None] | None = None,
) -> int:
    """Judges every stored answer that this judge has no verdict on.

    It becomes the judge of the run, unless it judges other `questions`; in the place of another one it does with
    its first verdict. A missing judgement is tried again by the next call. `note` is shown with the table. Returns
    how many judgements are missing. Raises BenchError for a run without answers, ModelMissing; an interrupt keeps
    what is judged.
    """
    with directory.locked():
        info = directory.info()
        if info.retrieval_only:
            raise BenchError(f"{directory.path} has no answers to judge; run the bench without --retrieval-only")
        by_id = {q.id: q for q in (questions if questions is not None else directory.questions())}
        latest = {s.key: s for s in directory.results() if s.result is not None and s.id in by_id}
        known = _judgements(directory, judge.spec)
        todo = [
            stored
            for stored in latest.values()
            if (found := known.get((stored.key, _input_hash(by_id[stored.id], stored.result or {})))) is None
            or found["missing"]
        ]
        missing = 0
        mine = questions is None and replace(info, judge=judge.spec, judge_note=note)
        if mine and (info.judge is None or not todo):
            directory.save_info(mine)
            mine = False
        with Appender(directory.judgements_file) as appender:
            for number, stored in enumerate(todo, start=1):
                judgement = judge.grade(by_id[stored.id], stored.result or {})
                recipe, repeat, question_id = stored.key
                place = {"recipe": recipe, "repeat": repeat, "id": question_id, "judge": judge.spec}
                appender.add(place | asdict(judgement))
                missing += judgement.missing is not None
                if mine and judgement.missing is None:
                    directory.save_info(mine)
                    mine = False
                if on_progress is not None:
                    on_progress(number, len(todo), judgement)
    return missing


def rows_as_jsonl(scored: Sequence[Row]) -> str:
    """One line a row: its place, its figures (null where a metric does not apply), its error."""
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in scored)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean of at least one value, free of the order of addition."""
    return math.fsum(values) / len(values)
