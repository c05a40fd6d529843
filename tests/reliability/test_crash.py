"""`ekr ingest` as a process, killed at each step of a commit and at random: nothing published is lost.

A few of the kills that `make crash` makes by the hundred.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.reliability.crash_harness import STEPS, Laboratory, Outcome, Plan
from tests.reliability.crash_run import open_laboratory, plan_step, run_until_killed

RANDOM = (
    Plan("older", share=0.35),
    Plan("older", share=0.6),
    Plan("older", share=0.8),
    Plan("older", share=0.95),
    Plan("older", share=0.5, jobs=2),
    Plan("older", share=0.9, jobs=2),
)
AT_STEPS = {step: plan_step(step, 0) for step in STEPS}


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    laboratory = Laboratory(tmp_path_factory.mktemp("crash"))
    laboratory.prepare([Plan("older"), Plan("older", jobs=2)])
    return laboratory


@pytest.fixture(scope="module")
def outcomes(laboratory: Laboratory) -> Iterator[dict[Plan, Outcome]]:
    """What became of each kill; two cycles go on at the same time, since much of each is waiting."""
    context = multiprocessing.get_context("spawn")
    plans = [*AT_STEPS.values(), *RANDOM]
    with ProcessPoolExecutor(2, context, open_laboratory, (laboratory.folder,)) as pool:
        yield {plan: outcome for plan, (outcome, _) in zip(plans, pool.map(run_until_killed, plans), strict=True)}


def test_an_undisturbed_result_does_not_depend_on_what_the_store_held_before(laboratory: Laboratory) -> None:
    assert laboratory.differences() == []


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_a_step_of_a_commit_loses_nothing(outcomes: dict[Plan, Outcome], step: str) -> None:
    outcome = outcomes[AT_STEPS[step]]
    assert outcome.killed
    assert outcome.phase == step
    assert outcome.published == (step in {"renamed", "committed", "collected"})
    assert outcome.problems == []


@pytest.mark.parametrize("plan", RANDOM, ids=lambda plan: f"{plan.share:.0%} of a run with {plan.jobs} jobs")
def test_a_kill_at_a_random_moment_loses_nothing(outcomes: dict[Plan, Outcome], plan: Plan) -> None:
    assert outcomes[plan].killed
    assert outcomes[plan].problems == []
