"""The curriculum goes where there is something to learn, and only to training seeds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curriculum import (
    Curriculum,
    Horizon,
    Rules,
    SampledTask,
    TaskKind,
    TaskRecord,
    TaskStanding,
    TryOutcome,
    sample_evenly,
)
from tasks.curriculum.estimates import estimate_tasks
from tasks.curriculum.sampling import FOCUS, NO_LIMIT, Reason, share_steps
from tasks.suite import Suite, seed_of, split_of
from tasks.task import Task
from tasks.variants import Retry, TriedTask, Variation
from tests.fakes.course import course


def make(name: str, seed: int, settings: Mapping[str, object]) -> Task:
    """A task that is nothing but its name and seed."""
    return Task(f"fake/{name}@1", "", seed=seed, max_steps=20)


NAMES = ("open", "solved", "hopeless", "stuck")
SUITE = Suite("fake@1", NAMES, make)
CURRICULUM = Curriculum(SUITE, {name: TaskKind() for name in NAMES}, horizon=NO_LIMIT)
RECORDS = {
    "open": course((10, 20)),
    "solved": course((40, 40)),
    "hopeless": course((0, 20)),
    "stuck": course((0, 16)),
}


def draw(  # noqa: PLR0913 - tests set one or two
    steps: int,
    seed: int = 0,
    now: int = 2,
    attempts: Sequence[TriedTask] = (),
    used: Mapping[str, int] | None = None,
    curriculum: Curriculum = CURRICULUM,
    records: Mapping[str, TaskRecord] = RECORDS,
) -> list[SampledTask]:
    """Tasks for so many steps."""
    rng = np.random.default_rng(seed)
    return curriculum.sample_tasks(steps, now, 6, records, used or {}, attempts, Retry(), rng)


def names(drawn: Sequence[SampledTask]) -> Counter[str]:
    """How often each name was drawn."""
    return Counter(one.task.name for one in drawn)


def test_open_tasks_come_up_most_and_retired_ones_not_at_all() -> None:
    found = names(draw(200))
    assert found["open"] > 0.7 * 200
    assert "solved" not in found


def test_what_nobody_solved_is_kept_in_view_within_its_share_and_in_turn() -> None:
    drawn = draw(400)
    unsolved = [one.task.name for one in drawn if one.explanation.reason is Reason.UNSOLVED]
    assert 0 < len(unsolved) <= 0.2 * 400
    assert unsolved[:4] in ([*("stuck", "hopeless") * 2], [*("hopeless", "stuck") * 2])


def test_the_longest_unseen_of_the_unsolved_comes_first() -> None:
    records = {**RECORDS, "hopeless": course((0, 20)), "stuck": course((0, 6), (0, 9))}
    drawn = draw(100, now=3, records=records)
    first = next(one for one in drawn if one.explanation.reason is Reason.UNSOLVED)
    assert first.task.name == "hopeless"


@pytest.mark.slow
@given(st.integers(0, 5), st.integers(20, 120))
@settings(max_examples=25, deadline=None)
def test_each_unsolved_task_is_seen_again_within_a_few_rounds(seed: int, steps: int) -> None:
    kinds = {f"t{i}": TaskKind() for i in range(8)}
    suite = Suite("fake@1", tuple(kinds), make)
    curriculum = Curriculum(suite, kinds, horizon=NO_LIMIT)
    records = {name: course((0, 9)) for name in list(kinds)[1:]} | {"t0": course((4, 8))}
    seen = set[str]()
    for now in range(2, 16):
        for one in draw(steps, seed, now, curriculum=curriculum, records=records)[: steps // 4]:
            name = one.task.name
            seen |= {name}
            records[name] = records[name].with_try(now, TryOutcome.FAILURE, 4)
    assert seen == set(kinds)


def test_a_retired_task_that_is_due_is_tried_first_and_says_why() -> None:
    first, second, *_ = draw(50, now=4)
    assert first.task.name == second.task.name == "solved"
    assert first.explanation.reason is Reason.REVISIT
    assert "mastered (40 of 40 tries) and not tried for 3 rounds" in first.explanation.why


def test_where_all_is_mastered_tasks_are_drawn_all_the_same() -> None:
    records = {name: course((20, 20)) for name in NAMES}
    assert set(names(draw(60, records=records))) == set(NAMES)


def test_an_invalid_task_is_not_drawn() -> None:
    bad = TaskRecord()
    for _ in range(6):
        bad = bad.with_try(1, TryOutcome.BROKEN)
    assert "open" not in names(draw(100, records={**RECORDS, "open": bad}))


def test_where_no_task_is_valid_nothing_is_drawn() -> None:
    bad = TaskRecord(shown=6)
    for _ in range(6):
        bad = bad.with_try(1, TryOutcome.FAILURE, 4)
    assert draw(100, records=dict.fromkeys(NAMES, bad)) == []


def test_where_the_machine_loses_every_try_the_tasks_are_not_to_blame() -> None:
    lost = TaskRecord()
    for _ in range(6):
        lost = lost.with_try(1, TryOutcome.BROKEN)
    assert {one.task.name for one in draw(100, records=dict.fromkeys(NAMES, lost))} == set(NAMES)


def test_every_draw_has_an_account_with_its_history_and_its_share() -> None:
    drawn = draw(100)
    assert all(one.explanation.why for one in drawn)
    why = next(one.explanation.why for one in drawn if one.task.name == "open")
    assert "10 of 20 tries succeeded in the round before" in why
    assert "number 1 of 1; it gets 100% of the steps" in why


def test_an_account_says_what_was_shown_of_a_task_that_was_never_tried() -> None:
    shown = TaskRecord(shown=3, shown_successes=3, demonstrations=2)
    drawn = draw(100, now=1, records={"open": shown})
    whys = {one.task.name: one.explanation.why for one in drawn}
    assert whys["open"].startswith("never tried, 2 demonstrations learnt from, so its chance")
    assert whys["stuck"].startswith("never tried, so its chance")


def test_tries_go_by_what_a_step_of_them_is_expected_to_gain() -> None:
    kinds = {"short": TaskKind(), "long": TaskKind()}
    curriculum = Curriculum(Suite("fake@1", ("short", "long"), make), kinds, horizon=NO_LIMIT)
    records = {"short": course((10, 20), steps=2), "long": course((10, 20), steps=8)}
    found = names(draw(500, curriculum=curriculum, records=records))
    cost = {name: estimate.cost for name, estimate in curriculum.estimates(records, 2, 6).items()}
    assert cost["long"] / cost["short"] > 2.5
    expected = (cost["long"] / cost["short"]) ** FOCUS
    assert found["short"] / found["long"] == pytest.approx(expected, rel=0.1)


@given(st.integers(0, 1000), st.integers(1, 200))
@settings(max_examples=30, deadline=None)
def test_the_same_generator_draws_the_same_tasks(seed: int, steps: int) -> None:
    assert draw(steps, seed) == draw(steps, seed)
    assert len(draw(steps, seed)) == steps


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=4, max_size=4))
@settings(max_examples=40, deadline=None)
def test_shares_hold_for_the_beginning_as_well(pairs: list[tuple[int, int]]) -> None:
    records = {name: course((s, s + f)) for name, (s, f) in zip(NAMES, pairs, strict=True) if s + f}
    drawn = draw(400, records=records)
    whole, part = names(drawn), names(drawn[:100])
    for name in NAMES:
        assert abs(whole[name] / 4 - part[name]) <= 3


def test_seeds_are_fresh_and_of_the_training_split_alone() -> None:
    drawn = draw(200, used={"open": 50})
    tasks = [one.task for one in drawn]
    assert {split_of(task.seed) for task in tasks} == {"train"}
    assert len({(task.name, task.seed) for task in tasks}) == 200
    seeds = sorted(task.seed for task in tasks if task.name == "open")
    assert seeds == list(range(50, 50 + len(seeds)))


def test_measuring_seeds_are_out_of_reach() -> None:
    with pytest.raises(ValueError, match="seeds 0 to"):
        draw(5, used={name: seed_of("development", 0) for name in NAMES})


def test_proposals_get_their_share_of_the_beginning_and_no_more() -> None:
    failures = [TriedTask(SUITE.task("open", 900 + i), 1, 0) for i in range(300)]
    drawn = draw(400, attempts=failures)
    made = [bool(one.task.parent) for one in drawn]
    assert sum(made[:80]) == pytest.approx(20, abs=2)
    assert sum(made) <= 100
    assert {one.explanation.reason for one in drawn if one.task.parent} == {Reason.PROPOSED}


def test_nothing_is_proposed_from_what_nobody_solved_unless_it_can_be_made_easier() -> None:
    failures = [TriedTask(SUITE.task("hopeless", 900 + i), 1, 0) for i in range(30)]
    assert not any(one.task.parent for one in draw(100, attempts=failures))
    easing = replace(SUITE, easier_settings={"hopeless": {"size": 1}})
    easier = replace(CURRICULUM, suite=easing)
    drawn = easier.sample_tasks(
        100, 2, 6, RECORDS, {}, failures, Variation(easing, Retry()), np.random.default_rng(0)
    )
    assert any(one.task.parent for one in drawn)


def test_episodes_are_short_in_the_first_rounds_and_grow() -> None:
    growing = replace(CURRICULUM, horizon=Horizon())
    long = [draw(10, now=now, curriculum=growing)[3].task.max_steps for now in range(1, 7)]
    assert long == sorted(long)
    assert long[0] == 10 and long[-1] == SUITE.task("open", 0).max_steps == 20


@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 12))
@settings(deadline=None)
def test_a_horizon_never_shrinks_exceeds_nothing_and_ends_at_all_steps(
    most: int, round: int, rounds: int
) -> None:
    horizon = Horizon()
    steps = [horizon.steps(most, number, rounds) for number in (round, round + 1)]
    assert min(most, horizon.short) <= steps[0] <= steps[1] <= most
    assert horizon.steps(most, rounds + 1, rounds) == most
    assert NO_LIMIT.steps(most, round, rounds) == most


KINDS = st.builds(
    TaskKind,
    st.sampled_from(["", "shop", "forge"]),
    st.lists(st.sampled_from(["form", "search", "table"]), max_size=2, unique=True).map(tuple),
)


@given(st.lists(st.tuples(KINDS, st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=12))
@settings(deadline=None)
def test_no_site_and_no_skill_starves(tasks: list[tuple[TaskKind, int, int]]) -> None:
    kinds = {f"t{i}": kind for i, (kind, _, _) in enumerate(tasks)}
    records = {f"t{i}": course((s, s + f)) for i, (_, s, f) in enumerate(tasks)}
    estimates = list(
        estimate_tasks(kinds, records, dict.fromkeys(kinds, 10.0), 2, Rules()).values()
    )
    shares = share_steps(estimates, kinds, 0.3)
    assert shares.sum() == pytest.approx(1) and (shares >= 0).all()
    sites = {kind.site for kind in kinds.values()} - {""}
    skills = {skill for kind in kinds.values() for skill in kind.skills}
    least = 0.3 / max(1, len(sites) + len(skills)) - 1e-9
    for site in sites:
        assert (
            sum(s for s, k in zip(shares, kinds.values(), strict=True) if k.site == site) >= least
        )
    for skill in skills:
        has = [skill in kind.skills for kind in kinds.values()]
        assert sum(s for s, one in zip(shares, has, strict=True) if one) >= least


def test_no_task_is_given_many_times_the_tries_of_the_others() -> None:
    kinds = {f"task {i}": TaskKind() for i in range(40)}
    records = dict.fromkeys(kinds, course((9, 9)))
    records["task 0"] = course((5, 10))
    costs = {**dict.fromkeys(kinds, 20.0), "task 0": 2.0}
    estimates = list(estimate_tasks(kinds, records, costs, 2, Rules()).values())
    shares = share_steps(estimates, kinds, 0.0)
    assert shares.sum() == pytest.approx(1)
    tries = shares / [estimate.cost for estimate in estimates]
    assert tries.max() == tries[0]
    assert tries[0] / tries.sum() == pytest.approx(3 / 40)


def test_without_a_curriculum_every_task_comes_up_as_often_on_fresh_seeds() -> None:
    drawn = sample_evenly(SUITE, NAMES, 42, {"open": 7}, np.random.default_rng(0))
    assert sorted(names(drawn).values()) == [10, 10, 11, 11]
    for place in range(0, 40, 4):
        assert {one.task.name for one in drawn[place : place + 4]} == set(NAMES)
    assert len({(one.task.name, one.task.seed) for one in drawn}) == 42
    assert min(one.task.seed for one in drawn if one.task.name == "open") == 7
    assert {one.explanation.reason for one in drawn} == {Reason.EVEN}


def test_standings_are_those_the_records_tell() -> None:
    estimates = CURRICULUM.estimates(RECORDS, 2, 6)
    assert {name: estimate.standing for name, estimate in estimates.items()} == {
        "open": TaskStanding.LEARNING,
        "solved": TaskStanding.RETIRED,
        "hopeless": TaskStanding.UNSOLVED,
        "stuck": TaskStanding.UNSOLVED,
    }
