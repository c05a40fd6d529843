"""The table of a run as data: figures, ranges and denominators for each recipe, and what a reader must know."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ekr.bench.directory import RunDirectory, RunInfo
from ekr.bench.errors import BenchUsageError
from ekr.bench.grading import Row, mean, rows, rows_as_jsonl
from ekr.bench.metrics import METRICS, PERCENTILES, aggregate
from ekr.bench.questions import Question, fingerprint


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Figure(_Part):
    """One cell. Shares are from 0 to 1, latencies in seconds. All is null where nothing was measured."""

    value: float | None = Field(description="Mean over the repeats")
    low: float | None = Field(description="Lowest of the repeats")
    high: float | None = Field(description="Highest of the repeats")
    repeats: list[float | None] = Field(description="The figure of each repeat")
    over: int = Field(ge=0, description="Questions that count, in the repeat with most of them")
    overs: list[int] = Field(description="Questions that count, in each repeat")


class RecipeReport(_Part):
    """One row of the table, as a whole and by category of question."""

    recipe: str
    queries: int = Field(ge=0, description="Queries stored, over all repeats")
    failed: int = Field(ge=0, description="Queries that raised; they count as 0 where an answer would count")
    degraded: int = Field(ge=0, description="Queries that went on without a part that failed; they count as they are")
    judgements_missing: int = Field(ge=0)
    metrics: dict[str, Figure]
    categories: dict[str, dict[str, Figure]]


class MetricReport(_Part):
    """What a column is."""

    key: str
    title: str
    unit: str = Field(description="share, score (1 to 5), ratio (0 to 1), seconds or number")
    over: str = Field(description="The denominator in words")
    higher_is_better: bool


class RunReport(_Part):
    """Which run it is."""

    questions: int
    questions_file: str
    questions_sha256: str
    only: list[str]
    repeat: int
    jobs: int
    retrieval_only: bool
    generator: str | None
    judge: str | None
    created: str
    complete: bool
    engine: dict[str, Any]
    machine: dict[str, Any]


class Report(_Part):
    """What `ekr bench --format json` prints."""

    version: int = Field(1, ge=1, description="Version of this format")
    run: RunReport
    columns: list[MetricReport]
    recipes: list[RecipeReport]
    notes: list[str]


COLUMNS = [
    MetricReport(key=m.key, title=m.title, unit=m.unit, over=m.over, higher_is_better=m.higher_is_better)
    for m in METRICS
]


def figures(scored: Sequence[Row], repeat: int) -> dict[str, Figure]:
    """Every metric over the rows of one recipe, repeats apart and then summed up."""
    by_repeat: list[list[Row]] = [[] for _ in range(repeat)]
    for row in scored:
        by_repeat[row.repeat].append(row)
    return {metric.key: _figure(metric.key, by_repeat) for metric in METRICS}


def _figure(key: str, by_repeat: Sequence[Sequence[Row]]) -> Figure:
    present = [[v for row in part if (v := row.values.get(key)) is not None] for part in by_repeat]
    per_repeat = [aggregate(key, values) for values in present]
    known = [value for value in per_repeat if value is not None]
    return Figure(
        value=mean(known) if known else None,
        low=min(known, default=None),
        high=max(known, default=None),
        repeats=per_repeat,
        over=max(len(values) for values in present),
        overs=[len(values) for values in present],
    )


def counts_text(figures: Iterable[Figure]) -> str:
    """Over how many questions figures are: `12`, or `3 – 12` where recipes or their repeats differ.

    Repeats without a question are left out where the figure has another.
    """
    counts = [count for figure in figures for count in ([c for c in figure.overs if c] or [0])]
    low, high = min(counts), max(counts)
    return f"{low} – {high}" if low != high else str(high)


def build(info: RunInfo, scored: Sequence[Row], questions: int) -> Report:
    """The report of scored rows; `questions` is how many were asked of each recipe in each repeat."""
    recipes = [_recipe(spec, [r for r in scored if r.recipe == spec], info.repeat) for spec in info.recipes]
    expected = questions * info.repeat * len(info.recipes)
    run = RunReport(
        questions=questions,
        questions_file=info.questions_file,
        questions_sha256=info.questions_sha256,
        only=list(info.only),
        repeat=info.repeat,
        jobs=info.jobs,
        retrieval_only=info.retrieval_only,
        generator=info.generator,
        judge=info.judge,
        created=info.created,
        complete=len(scored) == expected,
        engine=dict(info.engine),
        machine=dict(info.machine),
    )
    return Report(version=1, run=run, columns=COLUMNS, recipes=recipes, notes=_notes(info, recipes, scored, expected))


def _recipe(spec: str, scored: Sequence[Row], repeat: int) -> RecipeReport:
    by_category: dict[str, list[Row]] = {}
    for row in scored:
        if row.category is not None:
            by_category.setdefault(row.category, []).append(row)
    return RecipeReport(
        recipe=spec,
        queries=len(scored),
        failed=sum(row.error is not None for row in scored),
        degraded=sum(bool(row.degraded) for row in scored),
        judgements_missing=sum(row.judgement_missing is not None for row in scored),
        metrics=figures(scored, repeat),
        categories={name: figures(part, repeat) for name, part in by_category.items()},
    )


def _notes(info: RunInfo, recipes: Sequence[RecipeReport], scored: Sequence[Row], expected: int) -> list[str]:
    notes = [_denominators(recipes)] if scored else []
    if len(scored) < expected:
        notes.append(f"Incomplete: {len(scored)} of {expected} queries are done; --resume asks the rest.")
    if info.repeat > 1:
        notes.append(_ranges(info, scored))
    if info.retrieval_only:
        notes.append("Retrieval only: no answers, so nothing about them is measured.")
    elif info.judge is None:
        notes.append("No judge: Correctness and Hallucinated answers need --judge.")
    if info.judge_note:
        notes.append(info.judge_note[0].upper() + info.judge_note[1:] + ".")
    for recipe in recipes:
        if recipe.failed:
            errors = [row.error for row in scored if row.recipe == recipe.recipe and row.error]
            notes.append(
                f"{recipe.recipe}: {recipe.failed} of {recipe.queries} queries failed and count as 0 "
                f"(the last one: {errors[-1]})."
            )
        if recipe.degraded:
            parts = Counter(part for row in scored if row.recipe == recipe.recipe for part in row.degraded)
            named = ", ".join(f"{part} in {count}" for part, count in parts.most_common())
            notes.append(
                f"{recipe.recipe}: degraded queries, in which a part failed: {recipe.degraded} of {recipe.queries} "
                f"({named}); they count as they are."
            )
        if info.judge and recipe.judgements_missing:
            reasons = [r.judgement_missing for r in scored if r.recipe == recipe.recipe and r.judgement_missing]
            notes.append(
                f"{recipe.recipe}: {recipe.judgements_missing} of {recipe.queries} judgements are missing "
                f"and count nowhere (the last one: {reasons[-1]})."
            )
        if _asks_generator_first(info.recipe_values.get(recipe.recipe, {})):
            notes.append(
                f"{recipe.recipe}: what the generator says of a question before the search is kept, so latencies leave "
                "it out where the question was asked before, as in each repeat after the first."
            )
    if (other := info.machine.get("also")) is not None:
        notes.append(f"Part of it ran on another machine ({other.get('processor')}), so latencies are of both.")
    if info.jobs > 1:
        notes.append(f"{info.jobs} queries ran at the same time, so latencies are those of a busy machine.")
    return notes


def _ranges(info: RunInfo, scored: Sequence[Row]) -> str:
    by_question: dict[tuple[str, str], list[list[float | None]]] = {}
    for row in scored:
        quality = [row.values.get(metric.key) for metric in METRICS if metric.key not in PERCENTILES]
        by_question.setdefault((row.recipe, row.id), []).append(quality)
    repeated = [found for found in by_question.values() if len(found) > 1]
    if not repeated or any(one != found[0] for found in repeated for one in found[1:]):
        return f"Ranges over {info.repeat} runs; a difference inside a range is noise."
    why = "what is found is always the same" if info.retrieval_only else "a generator with a seed repeats itself"
    return (
        f"All {info.repeat} runs scored the same on every question ({why}), so ranges are of latency alone and do not "
        "say how sure a difference is; `ekr bench compare` gives intervals over the questions."
    )


def _asks_generator_first(recipe: Mapping[str, Any]) -> bool:
    return (
        bool(recipe.get("query_decomposition"))
        or recipe.get("keywords") == "llm"
        or "text2cypher" in recipe.get("methods", ())
    )


def _denominators(recipes: Sequence[RecipeReport]) -> str:
    over: dict[str, list[Figure]] = {}
    for metric in METRICS:
        figures_of = [recipe.metrics[metric.key] for recipe in recipes]
        if any(figure.over for figure in figures_of):
            over.setdefault(metric.over, []).extend(figures_of)
    return "Over: " + ", ".join(f"{what} {counts_text(found)}" for what, found in over.items()) + "."


@dataclass(frozen=True, slots=True)
class Part:
    """Questions to grade a run on other than its own: some of them, or those of another `file`."""

    questions: Sequence[Question]
    file: str | None = None
    only: Sequence[str] = ()
    judge: str | None = None


def report(directory: RunDirectory, part: Part | None = None) -> tuple[Report, list[Row]]:
    """The report of a run directory as it stands, or of a part of it, and its rows.

    Raises BenchError, and BenchUsageError when the part has no question with a result.
    """
    info = directory.info()
    if part is None:
        scored = rows(directory)
        return build(info, scored, info.questions_count), scored
    scored = rows(directory, part.questions, part.judge)
    if not scored:
        raise BenchUsageError(f"{directory.path} has no result of these questions; their ids are others")
    there = {row.id for row in scored}
    absent = [question.id for question in part.questions if question.id not in there]
    graded = replace(
        info,
        questions_sha256=fingerprint(part.questions),
        questions_file=part.file or info.questions_file,
        only=(*info.only, *part.only),
        judge=part.judge or info.judge,
    )
    made = build(graded, scored, len(part.questions))
    of_file = f", as {part.file} has them" if part.file else ""
    notes = [f"Graded on {len(there)} of the {info.questions_count} questions of the run{of_file}."]
    if absent:
        notes.append(f"Without a result in the run: {', '.join(absent)}.")
    return made.model_copy(update={"notes": [*notes, *made.notes]}), scored


def save(directory: RunDirectory, made: Report, scored: Sequence[Row], markdown: str) -> None:
    """Writes rows.jsonl, report.json and report.md into the run's directory."""
    directory.write("rows.jsonl", rows_as_jsonl(scored))
    directory.write("report.json", made.model_dump_json(indent=2) + "\n")
    directory.write("report.md", markdown)


def schema_text() -> str:
    """JSON Schema of a report, as ekr/bench/schema/bench.json holds it."""
    schema = Report.model_json_schema(mode="serialization")
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(dialect | schema, indent=2, ensure_ascii=False) + "\n"
