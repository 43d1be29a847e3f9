"""The rules of WebArena, VisualWebArena and WebChoreArena, with what is odd about each."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.rules import RULES, checks_hold
from evaluators.rules.checks import Rule
from tasks.task import Json, Task, TaskCheck
from tests.benchmarks.webarena.published import read
from webagent.action import Answer, GiveUp
from webagent.action.actions import Action
from webagent.records import Decision, Ending, Observation, Step, Trajectory
from webagent.store.store import Store


def value(rule: str, found: Json, expected: Json) -> float:
    """What the rule comes to, as a number."""
    checked: Rule = RULES[rule]
    said = checked(found, expected)
    return float(said) if isinstance(said, bool) else float(said.value or 0.0)


def episode(
    task: Task,
    answer: str = "",
    url: str = "http://page.test/",
    action: Action | None = None,
    **evidence: Json,
) -> Trajectory:
    """An episode that ended with this answer, on this page, with this evidence."""
    page = Observation("", url, "", ())
    final = action if action is not None else Answer(answer)
    return Trajectory(
        f"e-{task.id}",
        task,
        steps=(Step(page, Decision(final)),),
        last=page,
        ending=Ending.ANSWERED,
        evidence=evidence,
    )


WEBARENA: Sequence[tuple[str, Json, Json, float]] = [
    ("exact_match", " 'Paris' ", "paris", 1),
    ("exact_match", "\"'Paris'\"", "paris", 1),
    ("exact_match", "Paris.", "paris", 0),
    ("must_include", "15 apples", ["5"], 0),
    ("must_include", "5 apples", ["5"], 1),
    ("must_include", "15 apples", ["5", "apple"], 1),
    ("must_include", "150 apples", ["50"], 1),
    ("must_include", "it is 5. then it fell", ["5"], 0),
    ("url_match", "http://a.test/x/more#top", "http://a.test/x", 1),
    ("url_match", "http://a.test/x", "a.test", 1),
    ("url_match", "http://b.test/?to=http://a.test/x", "http://a.test/x", 0),
    ("url_match", "http://b.test/a.test/x", "http://a.test/x", 1),
    ("url_match", "http://a.test/x?q=2&r=1", "http://a.test/x?q=1 |OR| http://a.test/x?q=2&r=1", 1),
    ("url_match", "http://a.test/x?q=2", "http://a.test/y?q=2 |OR| http://a.test/x?q=1", 1),
    ("url_match", "http://a.test/x", "http://a.test/x |OR| http://a.test/y?r=1", 0),
    ("page_exact_match", "Tom &amp; Ann ", "tom & ann", 1),
    ("page_exact_match", True, "true", 1),
    ("page_must_include", "<b>Red shoes</b>", ["blue |OR| red", "shoe"], 1),
    ("page_must_include", "None", ["none"], 1),
    ("page_must_include", "<b>Red</b>", ["blue |OR| green"], 0),
]

VISUAL: Sequence[tuple[str, Json, Json, float]] = [
    ("exact_match", "Paris ", "paris", 0),
    ("must_include", "150 apples", ["50"], 0),
    ("must_include", "50. apples", ["50"], 0),
    ("must_include", "50 apples", ["40 |OR| 50"], 1),
    ("must_include", "two red apples", ["red app"], 1),
    ("must_exclude", "party", ["art"], 1),
    ("must_exclude", "modern art", ["art"], 0),
    ("one_of", "a rounded thing", ["circle", "round"], 1),
    ("required_values", "1,200", [">= 12", "< 1200"], 1),
    ("required_values", "12.5", [">= 12"], 0),
    ("required_values", "about 12", [">= 12"], 0),
    ("required_values", "3", ["<= 2 |OR| == 3"], 1),
    ("url_exact", "http://localhost:9/x/", "http://127.0.0.1:9/x", 1),
    ("url_exact", "http://a.test/x?a=1&b=2", "http://a.test/x?b=2&a=1", 0),
    ("url_contains", "http://b.test/?to=http://a.test/x", "http://a.test/x", 1),
    ("page_exact_match", 2, "2", 1),
    ("page_exact_match", "Tom &amp; Ann", "Tom & Ann", 0),
    ("page_exact_match", False, "", 0),
    ("page_must_exclude", False, ["x"], 0),
    ("page_must_exclude", "", ["x"], 1),
    ("page_required_values", 69.99, ["< 70"], 1),
    ("page_required_values", 70, ["< 70"], 1),
    ("page_required_values", False, ["< 70"], 0),
    ("page_required_values", "69.99", ["< 70"], 0),
]

CHORES: Sequence[tuple[str, Json, Json, float]] = [
    ("must_include", "red and blue", ["red", "green"], 0.5),
    ("must_include", "nothing of it", ["5 |or| five"], 1),
    ("must_include", "five", ["4 |or| five", "six |OR| five"], 1),
    ("page_must_include", "red", ["red", "blue |OR| green", "r"], 2 / 3),
    ("url_match", "http://a.test/X", "http://A.test/x |OR| http://b.test", 1),
]


@pytest.mark.parametrize(
    ("rule", "found", "expected", "share"),
    [
        *((f"webarena_{rule}", *rest) for rule, *rest in WEBARENA),
        *((f"visualwebarena_{rule}", *rest) for rule, *rest in VISUAL),
        *((f"webchorearena_{rule}", *rest) for rule, *rest in CHORES),
    ],
)
def test_a_rule_is_as_odd_as_its_scorer(rule, found, expected, share):
    assert value(rule, found, expected) == pytest.approx(share)


@pytest.mark.parametrize(
    "rule", [name for name in RULES if name.startswith(("webarena", "visualweb", "webchore"))]
)
async def test_what_is_no_text_or_was_not_captured_abstains(rule: str) -> None:
    listed = not rule.endswith("exact_match") and "url" not in rule
    expected: Json = ["< 5"] if listed else "x"
    task = Task("t@1", "", checks=(TaskCheck("it", rule, expected),))

    for evidence in ({}, {"it": None}, {"uncaptured": {"it": "the page answered 500"}}):
        score = await checks_hold()(episode(task, **evidence))
        assert score.value is None, score.reason


async def test_what_is_missing_is_said() -> None:
    task = Task("t@1", "", checks=(TaskCheck("episode.said", "webarena_must_include", ["a", "b"]),))
    assert (await checks_hold()(episode(task, "just A"))).reason.endswith("fails: without 'b'")


async def test_shares_are_multiplied_and_a_failed_check_decides() -> None:
    half = TaskCheck("episode.said", "webchorearena_must_include", ["red", "blue"])
    task = Task("t@1", "", checks=(half, half))

    assert (await checks_hold()(episode(task, "red"))).value == 0.25
    failed = replace(
        task, checks=(half, TaskCheck("episode.url", "webarena_url_match", "http://b/"))
    )
    assert (await checks_hold()(episode(failed, "red"))).value == 0.0


async def test_giving_up_says_that_it_cannot_be_done() -> None:
    task = Task("t@1", "", checks=(TaskCheck("episode.said", "webarena_exact_match", "N/A"),))
    assert (await checks_hold()(episode(task, action=GiveUp("no such shop")))).value == 1.0


async def test_a_stored_episode_is_scored_again_from_what_was_kept(benchmarks, tmp_path):
    tasks = read("webarena", benchmarks)
    task = next(
        each for each in tasks if len(each.probes) > 1 and "episode" not in str(each.checks)
    )
    evidence = {
        check.evidence: " ".join(str(item).split(" |OR| ")[0] for item in check.expected)
        if isinstance(check.expected, list)
        else check.expected
        for check in task.checks
    }
    finished = episode(task, **evidence)
    with Store.open(tmp_path / "run", create=True) as store:
        store.add(finished)
        loaded = store.load(finished.id)

    assert loaded.task == task
    again = await checks_hold()(loaded)
    assert (again.value, again) == (1.0, await checks_hold()(finished))
    lost = {**evidence, "uncaptured": {task.checks[-1].evidence: "the page answered 500"}}
    del lost[task.checks[-1].evidence]
    score = await checks_hold()(episode(task, **lost))
    assert score.value is None
    assert "the page answered 500" in score.reason
