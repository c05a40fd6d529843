"""`ekr bench`: measure recipes on a questions file, grade again, compare runs, check the questions."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ekr.bench.directory import RunDirectory
from ekr.bench.errors import BenchUsageError
from ekr.bench.questions import Question, load_questions, select
from ekr.bench.recipes import parse_recipe
from ekr.bench.runs import RunOptions, run
from ekr.cli import console
from ekr.cli.bench_engine import EngineAnswerer
from ekr.cli.bench_output import Format, Output
from ekr.cli.bench_progress import ProgressLine
from ekr.cli.options import JsonOption, QuietOption, StoreOption, VerboseOption, load_settings, open_engine

if TYPE_CHECKING:
    from ekr.bench.judge import Judge

RUNS = Path(".ekr-bench")


class _RunByDefault(TyperGroup):
    """`ekr bench questions.jsonl` is `ekr bench run questions.jsonl`: what is no command begins a run."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        misspelt = get_close_matches(first, self.commands) and not Path(first).exists()
        if first and first not in self.commands and first not in ctx.help_option_names and not misspelt:
            args = ["run", *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


app = typer.Typer(
    cls=_RunByDefault,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure recipes on a questions file: `ekr bench QUESTIONS` is `ekr bench run QUESTIONS`.",
)

QuestionsArgument = Annotated[Path, typer.Argument(help="Questions, one JSON object a line.", show_default=False)]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="category=…",
        help="Only these questions; also id=… and trap=true. Values of one field add up, fields narrow each other.",
        show_default=False,
    ),
]
JudgeOption = Annotated[
    str | None, typer.Option("--judge", help="Model that grades answers: name, GGUF or endpoint.", show_default=False)
]
ForceJudgeOption = Annotated[
    bool, typer.Option("--force-judge", help="Let a model of the generator's own family judge; the table says so.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="Of the table on stdout.")]
PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE.png|svg", help="Draw quality against latency.", show_default=False),
]
MetricOption = Annotated[
    str | None, typer.Option("--plot-metric", help="What to draw as quality, e.g. facts_in_answer.", show_default=False)
]


@app.command("run")
def run_(
    questions: QuestionsArgument,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            "--recipe",
            "-r",
            metavar="RECIPE[:KEY=VALUE,…]",
            help="Recipe to measure, varied in place if wanted; may be repeated.",
            show_default=False,
        ),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Runs of each recipe; the table shows ranges.")] = 1,
    retrieval_only: Annotated[
        bool, typer.Option("--retrieval-only", help="Measure what is found; no answers.")
    ] = False,
    judge: JudgeOption = None,
    force_judge: ForceJudgeOption = False,
    generator: Annotated[
        str | None, typer.Option(help="Generator: name, GGUF path or endpoint.", show_default=False)
    ] = None,
    reranker: Annotated[
        str | None, typer.Option(help="Re-ranker: name, GGUF path, endpoint or none.", show_default=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the generator.", show_default=False)] = None,
    only: OnlyOption = None,
    jobs: Annotated[int, typer.Option(min=1, help="Questions at the same time; each loads its own models.")] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, or the last one of these questions.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Directory of the run (default: a new one in .ekr-bench).", show_default=False)
    ] = None,
    format_: FormatOption = Format.TABLE,
    plot: PlotOption = None,
    plot_metric: MetricOption = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Ask every question of every recipe and print the table. A stopped run goes on with --resume.

    Exit code 1 when a query failed: the table says which and why, and --resume asks it again.
    """
    output = Output(format_, plot, plot_metric, quiet)
    output.check(retrieval_only=retrieval_only)
    asked = select(load_questions(questions), only or [])
    settings = load_settings(store=store, generator=generator, reranker=reranker, seed=seed)
    if judge and retrieval_only:
        raise BenchUsageError("--judge grades answers, and --retrieval-only makes none; leave one out")
    note = _independence(judge, settings.generator, force_judge)
    directory = RunDirectory(_directory(out, questions, resume=resume))
    directory.check_usable()
    if resume and not directory.exists:
        console.talk(f"no run in {directory.path} yet: this is its beginning")
    begun = directory.info().recipes if resume and directory.exists else ()
    recipes = [parse_recipe(spec).spec for spec in recipe or ()] or list(begun) or [settings.recipe]
    options = RunOptions(recipes, repeat, retrieval_only, jobs, settings.generator, str(questions), tuple(only or ()))
    given = {"generator": generator, "reranker": reranker, "seed": seed}
    answerer = EngineAnswerer(lambda: open_engine(store, **given))
    try:
        engine = answerer.describe()
        _warn_of_gold(asked, answerer)
        values = {spec: answerer.recipe(spec).model_dump(mode="json") for spec in (*begun, *recipes)}
        with ProgressLine("asking", enabled=not quiet) as line:
            run(
                directory,
                asked,
                answerer,
                options,
                engine=engine,
                recipe_values=values,
                resume=resume,
                prepare=lambda: answerer.warm_up(list(values), context_only=retrieval_only),
                on_progress=line.asked,
            )
        if resume and not line.moved and not quiet:
            console.talk("the run was complete: nothing was asked")
    except KeyboardInterrupt:
        _interrupted(directory)
    finally:
        answerer.close()
    if judge:
        _judge(directory, judge, note, None, quiet=quiet)
    if output.show(directory):
        raise typer.Exit(1)


@app.command("grade")
def grade(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a run.", show_default=False)],
    judge: JudgeOption = None,
    force_judge: ForceJudgeOption = False,
    questions: Annotated[
        Path | None, typer.Option(help="Grade with these questions instead of the run's own.", show_default=False)
    ] = None,
    only: OnlyOption = None,
    format_: FormatOption = Format.TABLE,
    plot: PlotOption = None,
    plot_metric: MetricOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Score the stored answers of a run again, with a judge if one is named; nothing is asked of the store.

    With --questions or --only the outcome is printed, and the report of the run is left as it is.
    """
    from ekr.bench.report import Part

    output = Output(format_, plot, plot_metric, quiet)
    output.check()
    stored = RunDirectory(directory)
    info = stored.info()
    part: Part | None = None
    if questions or only:
        asked = select(load_questions(questions) if questions else stored.questions(), only or [])
        part = Part(asked, str(questions) if questions else None, only or (), judge)
    if judge:
        note = _independence(judge, info.generator, force_judge)
        _judge(stored, judge, note, part.questions if part else None, quiet=quiet)
    output.show(stored, part)


@app.command("compare")
def compare_(
    a: Annotated[Path, typer.Argument(help="Directory of a run.", show_default=False)],
    b: Annotated[
        Path | None,
        typer.Argument(help="Directory of the other run (default: A, two recipes of it).", show_default=False),
    ] = None,
    recipe_a: Annotated[str | None, typer.Option(help="Recipe of A.", show_default=False)] = None,
    recipe_b: Annotated[str | None, typer.Option(help="Recipe of B.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    json_: JsonOption = False,
) -> None:
    """Print what differs between two runs, or two recipes of one, B minus A, and which questions changed side.

    Differences have intervals at 95 %, from a paired bootstrap over the questions.
    """
    from ekr.bench.compare import as_data, compare, rich_comparison

    found = compare(RunDirectory(a), RunDirectory(b or a), recipe_a=recipe_a, recipe_b=recipe_b, seed=seed)
    if json_:
        console.print_json(as_data(found))
        return
    screen = console.out()
    for one in found:
        for part in rich_comparison(one):
            screen.print(part)


@app.command("check")
def check_(
    questions: QuestionsArgument,
    only: OnlyOption = None,
    store: StoreOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
) -> None:
    """Say which evidence and which gold passages are nowhere in the store; exit code 1 when a question has none."""
    from ekr.bench.check import as_data, check, lines

    asked = select(load_questions(questions), only or [])
    answerer = EngineAnswerer(lambda: open_engine(store))
    try:
        answerer.describe()
        snapshot = answerer.engine.snapshot()
        passages = ((chunk.heading, chunk.text) for chunk in snapshot.iter_chunks())
        outcome = check(asked, passages, answerer.document_names())
    finally:
        answerer.close()
    if json_:
        console.print_json(as_data(outcome))
    else:
        for line in lines(outcome):
            sys.stdout.write(console.safe(line) + "\n")
    if not outcome.ok:
        raise typer.Exit(1)


def _warn_of_gold(asked: Sequence[Question], answerer: EngineAnswerer) -> None:
    """Says which gold documents are not in the store: they can only count as missed."""
    gold = {name for question in asked for name in question.gold_passages or ()}
    if gold and (lost := sorted(gold - answerer.document_names())):
        shown = ", ".join(lost[:5]) + (", …" if len(lost) > 5 else "")
        console.talk(f"gold_passages that are no document of the store: {shown}; `ekr documents` shows the names")


def _directory(out: Path | None, questions: Path, *, resume: bool) -> Path:
    if out is not None:
        return out
    if not resume:
        new = RUNS / f"{questions.stem}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        others = (new.with_name(f"{new.name}-{number}") for number in count(2))
        return next(path for path in (new, *islice(others, 100)) if not path.exists())
    stamped = re.compile(re.escape(questions.stem) + r"-\d{8}-\d{6}(-\d+)?")
    runs = sorted(path for path in RUNS.glob("*/run.json") if stamped.fullmatch(path.parent.name))
    if not runs:
        raise BenchUsageError(f"no run of {questions.name} in {RUNS} to go on with; leave out --resume")
    return runs[-1].parent


def _independence(judge: str | None, generator: str | None, force: bool) -> str | None:
    if judge is None:
        return None
    from ekr.bench.judge import check_independence
    from ekr.models.known import require_known

    require_known(judge, "generator")
    return check_independence(judge, generator or "", force=force)


def _judge(
    directory: RunDirectory, spec: str, note: str | None, questions: Sequence[Question] | None, *, quiet: bool
) -> None:
    from ekr.bench.grading import judge_run

    try:
        with ProgressLine("judging", enabled=not quiet) as line:
            judge_run(directory, _load_judge(spec), note=note, questions=questions, on_progress=line.judged)
    except KeyboardInterrupt:
        console.talk(
            f"ekr: stopped; what is judged is kept: ekr bench grade {shlex.quote(str(directory.path))} --judge …"
        )
        raise typer.Exit(130) from None


def _load_judge(spec: str) -> Judge:
    from ekr.bench.judge import Judge
    from ekr.models import load_generator

    return Judge(load_generator(spec, load_settings()), spec)


def _interrupted(directory: RunDirectory) -> None:
    done = sum(1 for _ in directory.results()) if directory.exists else 0
    console.talk(
        f"ekr: stopped; {done} results are in {directory.path}. The same command goes on with "
        f"--resume --out {shlex.quote(str(directory.path))}"
    )
    raise typer.Exit(130)
