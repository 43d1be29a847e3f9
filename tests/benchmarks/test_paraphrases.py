"""Wordings that are for measuring alone: others, as many as promised, with the same values."""

import re
import tomllib
from pathlib import Path
from string import Formatter

import pytest

from benchmarks.catalogue import find_benchmark
from webagent.errors import UsageError

SITES = ("oscar", "fossil")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def wordings(site: str, file: str) -> dict[str, list[str]]:
    return tomllib.loads((BENCHMARKS / site / "tasks" / f"{file}.toml").read_text(encoding="utf-8"))


def fields(wording: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(wording) if name}


@pytest.mark.parametrize("site", SITES)
def test_every_template_has_three_other_wordings_with_the_same_values(site: str) -> None:
    known, others = wordings(site, "wordings"), wordings(site, "paraphrases")
    assert list(known) == list(others)
    for name, mine in others.items():
        assert len(set(mine)) >= 3, name
        assert not {*mine} & {*known[name]}, name
        for each in mine:
            allowed = [fields(wording) for wording in known[name]]
            assert set.intersection(*allowed) <= fields(each) <= set.union(*allowed), each


@pytest.mark.parametrize("site", SITES)
def test_a_paraphrased_task_differs_in_its_goal_alone(site: str) -> None:
    own, other = (find_benchmark(name).load() for name in (site, f"{site}-paraphrased"))
    for name in own.names:
        first, second = own.task(name, 4, "test"), other.task(name, 4, "test")
        assert second.goal != first.goal
        assert (second.checks, second.queries, second.start_url) == (
            first.checks,
            first.queries,
            first.start_url,
        )
        assert second.id == first.id.replace("/", "-paraphrased/")


@pytest.mark.parametrize("site", SITES)
def test_nothing_is_learnt_from_the_wordings_for_measuring(site: str) -> None:
    suite = find_benchmark(f"{site}-paraphrased").load()
    with pytest.raises(UsageError, match="for evaluation only"):
        suite.task(suite.names[0], 0, "train")


@pytest.mark.parametrize("site", SITES)
def test_about_half_of_the_marks_are_gone_where_values_are_unquoted(site: str) -> None:
    marked, fewer = (
        find_benchmark(f"{site}-{name}").load() for name in ("paraphrased", "unquoted")
    )
    goals = [[each.task(name, 4, "test").goal for each in (marked, fewer)] for name in marked.names]
    bare = [[re.sub(r"\.+", ".", goal.replace('"', "")) for goal in pair] for pair in goals]
    assert all(new == old for old, new in bare)
    before, after = (sum(each.count('"') for each in row) for row in zip(*goals, strict=True))
    assert 0.35 * before < after < 0.65 * before


def test_a_value_and_its_sentence_do_not_both_end_where_no_mark_is_between() -> None:
    suite = find_benchmark("fossil-unquoted").load()
    goals = [suite.task(name, seed, "test").goal for name in suite.names for seed in range(8)]
    assert not [goal for goal in goals if re.search(r"[^.][.!?]\.(\s|$)", goal)]
