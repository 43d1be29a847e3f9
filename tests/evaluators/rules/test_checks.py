"""Rules over captured evidence: every comparison, and abstention wherever evidence is lacking."""

import asyncio
import threading
from dataclasses import replace

import pytest

from benchmarks.rules import CONSULTING_RULES, RULES, checks_hold, run_each_check
from tasks.task import Json, Task, TaskCheck
from webagent.action.actions import Action, Answer, Click, GiveUp
from webagent.errors import SetupError
from webagent.records import Decision, Ending, Observation, Step, Trajectory

MINIWOB = Task(
    "miniwob/click-test@1",
    "http://fake.test/",
    checks=(
        TaskCheck("raw_reward", "at_least", 0.99),
        TaskCheck("raw_reward", "above", 0, score="raw_positive"),
    ),
)


def finished(task: Task, ending: Ending = Ending.TASK_OVER, **evidence: Json) -> Trajectory:
    """An episode that ended with this evidence."""
    return Trajectory("e1", task, ending=ending, evidence=evidence)


def one_check(rule: str, found: Json, expected: Json) -> Trajectory:
    """An episode with one check on one piece of evidence."""
    return finished(Task("t@1", "", checks=(TaskCheck("it", rule, expected),)), it=found)


@pytest.mark.parametrize(
    ("rule", "found", "expected", "holds"),
    [
        ("equals", 1, 1.0, True),
        ("equals", True, 1, False),
        ("equals", False, 0, False),
        ("equals", None, None, True),
        ("equals", [1, {"a": True}], [1.0, {"a": True}], True),
        ("equals", [1, {"a": True}], [1, {"a": 1}], False),
        ("equals", {"a": 1}, {"a": 1, "b": 2}, False),
        ("equals", "a", "A", False),
        ("same_text", "  Hello \n World", "hello world", True),
        ("same_text", "hello worlds", "hello world", False),
        ("at_least", 0.99, 0.99, True),
        ("at_least", 0.98, 0.99, False),
        ("above", 0, 0, False),
        ("above", 0.01, 0, True),
        ("contains", "Order  No. 7 PLACED", "order no. 7", True),
        ("contains", "order", "order no. 7", False),
        ("contains", [1, "a"], "a", True),
        ("contains", [True], 1, False),
        ("matches", "order 17 placed", r"order \d+", True),
        ("matches", "order placed", r"order \d+", False),
        ("one_of", 2, [1, 2.0], True),
        ("one_of", True, [1, 2], False),
        ("url_matches", "http://A.test/x/?b=2&a=1#top", "https://a.test/x?a=1", True),
        ("url_matches", "http://a.test/x?a=2", "http://a.test/x?a=1", False),
        ("url_matches", "http://b.test/x", "http://a.test/x", False),
        ("url_matches", "http://a.test/x/y", "http://a.test/x", False),
    ],
)
async def test_a_rule_compares_as_its_name_says(rule, found, expected, holds):
    score = await checks_hold()(one_check(rule, found, expected))

    assert score.value == float(holds)
    assert score.reason.endswith("holds" if holds else "fails")


@pytest.mark.parametrize(
    ("rule", "found", "expected"),
    [
        ("at_least", "1.0", 0.99),
        ("at_least", None, 0.99),
        ("above", True, 0),
        ("above", float("nan"), 0),
        ("contains", None, "a"),
        ("matches", 3, "a"),
        ("same_text", None, "a"),
        ("url_matches", "http://[broken", "http://a.test"),
    ],
)
async def test_what_cannot_be_compared_abstains_and_is_never_a_zero(rule, found, expected):
    score = await checks_hold()(one_check(rule, found, expected))

    assert score.value is None
    assert "cannot be compared" in score.reason


async def test_the_two_scores_of_miniwob_are_told_apart():
    half = finished(MINIWOB, raw_reward=0.5)

    strict, lenient = await checks_hold()(half), await checks_hold("raw_positive")(half)

    assert (strict.name, strict.value) == ("success", 0.0)
    assert (lenient.name, lenient.value) == ("raw_positive", 1.0)
    assert strict.reason == "raw_reward is 0.5, at_least 0.99: fails"
    assert strict.evaluator == "checks_hold@2"


async def test_missing_evidence_abstains_with_its_name():
    score = await checks_hold()(finished(MINIWOB))

    assert score.value is None
    assert score.reason == "evidence raw_reward was not captured"


@pytest.mark.parametrize(
    ("ending", "value"),
    [
        *((Ending.STEP_LIMIT, 1.0), (Ending.POLICY_UNREADABLE, 1.0)),
        *((Ending.WORLD_FAILED, None), (Ending.MODEL_FAILED, None)),
    ],
)
async def test_evidence_scores_what_was_cut_off_and_no_infrastructure_failure(ending, value):
    score = await checks_hold()(finished(MINIWOB, ending, raw_reward=1.0))

    assert score.value == value
    assert (str(ending) in score.reason) == (value is None)


async def test_an_episode_under_way_is_refused():
    with pytest.raises(ValueError, match="e1 is in progress"):
        await checks_hold()(replace(finished(MINIWOB), ending=None))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        *(({"a": 1, "b": 1}, 1.0), ({"a": 1, "b": 0}, 0.0)),
        *(({"a": 1}, None), ({"b": 0}, 0.0), ({}, None)),
    ],
)
async def test_all_checks_must_hold_and_one_that_fails_decides(values, expected):
    task = Task("t@1", "", checks=(TaskCheck("a", "equals", 1), TaskCheck("b", "equals", 1)))

    assert (await checks_hold()(finished(task, **values))).value == expected


@pytest.mark.parametrize(
    ("task", "value"),
    [
        (MINIWOB, 0.0),
        (replace(MINIWOB, skills=("infeasible",)), 1.0),
        (Task("t@1", "", checks=(TaskCheck("episode.ending", "equals", "gave up"),)), 1.0),
        (Task("t@1", "", checks=(TaskCheck("episode.said", "equals", "N/A"),)), 1.0),
        (Task("t@1", "", checks=(TaskCheck("episode.url", "equals", "http://a.test"),)), 0.0),
    ],
)
async def test_giving_up_is_a_success_only_where_the_task_asks_for_it(task, value):
    given_up = Step(Observation("", "http://a.test", "", ()), Decision(GiveUp("too hard")))
    last = Observation("", "http://a.test", "", ())
    episode = replace(finished(task, Ending.GAVE_UP, raw_reward=1.0), steps=(given_up,), last=last)
    assert (await checks_hold()(episode)).value == value


async def test_a_task_without_checks_is_left_to_a_judge():
    score = await checks_hold("other")(finished(MINIWOB, raw_reward=1.0))

    assert score.value is None
    assert "a judge must decide" in score.reason


async def test_an_unknown_rule_is_refused_with_the_close_matches():
    with pytest.raises(SetupError, match=r"'at_leest'; did you mean at_least"):
        await checks_hold()(one_check("at_leest", 1, 1))


async def test_a_broken_pattern_is_the_tasks_fault():
    with pytest.raises(SetupError, match="not a regular expression"):
        await checks_hold()(one_check("matches", "a", "("))


@pytest.mark.parametrize(
    ("action", "value"), [(Answer("Paris "), 1.0), (Answer("Rome"), 0.0), (Click(1), 0.0)]
)
async def test_the_answer_given_is_evidence_of_every_episode(action: Action, value: float):
    task = Task("t@1", "", checks=(TaskCheck("episode.answer", "same_text", "paris"),))
    page = Observation("", "http://a.test/", "", ())
    episode = replace(finished(task), steps=(Step(page, Decision(action)),))

    assert (await checks_hold()(episode)).value == value


async def test_where_the_episode_ended_is_evidence_once_it_was_seen():
    task = Task("t@1", "", checks=(TaskCheck("episode.url", "url_matches", "http://a.test/done"),))
    seen = replace(finished(task), last=Observation("", "http://a.test/done#x", "", ()))

    assert (await checks_hold()(seen)).value == 1.0
    assert (await checks_hold()(finished(task))).value is None


async def test_other_episodes_go_on_while_a_rule_takes_its_time(monkeypatch: pytest.MonkeyPatch):
    asked, went_on = threading.Event(), threading.Event()

    def slow(found: Json, expected: Json) -> bool:
        asked.set()
        return went_on.wait(20)

    async def other_episode() -> None:
        while not asked.is_set():
            await asyncio.sleep(0.01)
        went_on.set()

    monkeypatch.setitem(RULES, "slow", slow)
    other = asyncio.create_task(other_episode())
    verdict = await checks_hold()(one_check("slow", "a", "a"))
    assert verdict.value == 1.0
    await other


def test_every_rule_says_what_it_does():
    assert all(function.__doc__ for function in RULES.values())


async def test_what_a_probe_could_not_see_abstains_with_the_reason_noted_at_the_capture() -> None:
    task = Task("t@1", "http://x/", checks=(TaskCheck("order", "equals", 1),))
    evidence = {"uncaptured": {"order": "http://x/order answered 500"}}
    score = await checks_hold()(Trajectory("e", task, ending=Ending.ANSWERED, evidence=evidence))
    assert score.value is None
    assert score.reason == "evidence order was not captured: http://x/order answered 500"


async def test_every_page_seen_is_evidence_in_order() -> None:
    pages = [Observation("", f"http://x/{place}", "", ()) for place in (1, 2)]
    task = Task("t@1", "http://x/", checks=(TaskCheck("episode.urls", "contains", "http://x/1"),))
    trajectory = Trajectory(
        "e", task, steps=(Step(pages[0], Decision(Answer("done"))),), last=pages[1]
    )
    score = await checks_hold()(replace(trajectory, ending=Ending.ANSWERED))
    assert score.value == 1.0


def test_checks_are_told_one_by_one_whatever_their_score() -> None:
    told = run_each_check(finished(MINIWOB, raw_reward=0.5))
    assert [(check.score, verdict.value) for check, verdict in told] == [
        ("success", 0.0),
        ("raw_positive", 1.0),
    ]
    assert told[0][1].reason == "raw_reward is 0.5, at_least 0.99: fails"


def test_a_check_alone_abstains_where_evidence_lacks_cannot_be_compared_or_a_model_is_needed():
    assert run_each_check(finished(MINIWOB))[0][1].value is None
    assert "cannot be compared" in run_each_check(one_check("at_least", "much", 1))[0][1].reason
    assert run_each_check(one_check(next(iter(CONSULTING_RULES)), "a", "b"))[0][1].value is None
    with pytest.raises(SetupError, match="unknown rule"):
        run_each_check(one_check("at_leest", 1, 1))
