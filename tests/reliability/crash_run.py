# ruff: noqa: T201 - a script, whose output is its result
"""The whole crash run: `python -m tests.reliability.crash_run --random 200 --each-step 20`.

Prints how many kills were really made, at which step each of them fell, and whatever was lost; exits 1 if anything was.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from tests.reliability.crash_harness import KINDS, STEPS, Laboratory, Outcome, Plan


def plan_random(count: int, seed: int) -> list[Plan]:
    """Kills spread evenly over a little more than the time a run takes, in each kind of run."""
    draw = random.Random(seed)
    plans = []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        of, place = -(-count // len(KINDS)), number // len(KINDS)
        share = 0.05 + 1.05 * (place + draw.random()) / of
        plans.append(Plan(kind.start, share=share, jobs=kind.jobs, checkpoints=kind.checkpoints))
    return plans


def plan_steps(each: int) -> list[Plan]:
    """Kills at every marked step, in runs with one commit and with several."""
    return [plan_step(step, number) for step in STEPS for number in range(each)]


def plan_step(step: str, number: int) -> Plan:
    """The kill at a step, in another kind of run for each number."""
    if step == "compacted":
        return Plan("older", step, jobs=1 + number % 4 // 3)
    checkpoints = number % 2 == 1
    # What comes once a run in any case, and what comes again when several commits are made.
    once = step in {"entities:", "relations:", "reports:"}
    occurrence = 1 + number // 2 % 2 if checkpoints and not once else 1
    return Plan(
        "empty" if number % 4 == 3 else "older", step, occurrence, jobs=1 + number % 6 // 5, checkpoints=checkpoints
    )


_laboratory: Laboratory | None = None


def open_laboratory(folder: Path) -> None:
    """Starts a worker process on a prepared folder."""
    global _laboratory  # noqa: PLW0603 - one a process, whose models stay loaded
    _laboratory = Laboratory(folder)
    _laboratory.open()


def run_until_killed(plan: Plan) -> tuple[Outcome, int]:
    """In a worker: the outcome of a kill that was really made, and how many runs had finished before their moment.

    A run that was faster than those before it is tried again with an earlier moment.
    """
    assert _laboratory is not None
    late = 0
    while not (outcome := _laboratory.run(replace(plan, share=plan.share * 0.93**late))).killed:
        late += 1
    return outcome, late


def _outcomes(plans: list[Plan], folder: Path, workers: int, until: float) -> Iterator[tuple[Outcome, int]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, open_laboratory, (folder,)) as pool:
        waiting = iter(plans)
        running = {pool.submit(run_until_killed, plan) for _, plan in zip(range(workers), waiting, strict=False)}
        while running:
            done = next(as_completed(running))
            running.remove(done)
            if time.monotonic() < until and (plan := next(waiting, None)) is not None:
                running.add(pool.submit(run_until_killed, plan))
            yield done.result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=200, help="kills at random moments")
    parser.add_argument("--each-step", type=int, default=20, help="kills at each marked step")
    parser.add_argument("--workers", type=int, default=2, help="cycles at the same time")
    parser.add_argument("--minutes", type=float, default=120.0, help="start no cycle after this")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.monotonic()
    plans = plan_random(given.random, given.seed) + plan_steps(given.each_step)
    random.Random(given.seed).shuffle(plans)
    at_random, at_steps, phases, kinds = 0, Counter[str](), Counter[str](), Counter[str]()
    published = late = 0
    lost: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="ekr-crash-") as folder:
        laboratory = Laboratory(Path(folder))
        laboratory.prepare()
        problems = laboratory.differences()
        for problem in problems:
            print(problem, flush=True)
        for outcome, finished_before in _outcomes(plans, Path(folder), given.workers, began + 60 * given.minutes):
            plan = outcome.plan
            late += finished_before
            published += outcome.published
            kinds[f"{plan.start}, jobs {plan.jobs}" + (", checkpoints" if plan.checkpoints else "")] += 1
            if plan.step == "never":
                at_random += 1
                phases[outcome.phase] += 1
            else:
                at_steps[plan.step] += 1
            if outcome.problems:
                lost.append(outcome)
                print(f"LOST {plan}: {'; '.join(outcome.problems)}", flush=True)
            done = at_random + at_steps.total()
            if done % 20 == 0:
                print(f"{done} of {len(plans)} kills, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(f"kills at random moments: {at_random} ({late} more runs had finished before their moment)")
    print("  the last step before each: " + ", ".join(f"{name} {number}" for name, number in phases.most_common()))
    print("kills at each step: " + ", ".join(f"{step.rstrip(':')} {at_steps[step]}" for step in STEPS))
    print("kinds of run: " + ", ".join(f"{name}: {number}" for name, number in kinds.most_common()))
    print(f"something new had been published before the kill: {published}")
    print(f"lost something: {len(lost)}; took {time.monotonic() - began:.0f} s")
    sys.exit(1 if lost or problems else 0)


if __name__ == "__main__":
    main()
