"""Failures are put down to what they were made to fail by, by rules or a model, and summed up."""

from dataclasses import replace

import pytest

from evaluators.attribution import Attribution, Cause, attribute, has_failed, summarize
from evaluators.statistics import wilson
from tests.evaluators.attribution.cases import FAILED, LAMPS, Made, all_cases, page, played
from tests.evaluators.attribution.unseen import unseen_cases
from webagent.action.actions import Answer, Click
from webagent.records import Ending, Score
from webagent.rollout import INTERRUPTED

CASES = all_cases()


def attributed(made: Made) -> Attribution:
    return attribute(made.trajectory, made.scores)


@pytest.mark.parametrize("cases", [CASES, unseen_cases()], ids=["made", "unseen"])
def test_made_failures_are_put_down_to_their_cause(cases: list[Made]) -> None:
    taken = [(made.cause, attributed(made).cause, made.name) for made in cases]
    wrong = [each for each in taken if each[0] is not each[1]]
    assert {true for true, *_ in taken} == set(Cause) - {Cause.UNKNOWN}
    assert len(wrong) <= 0.05 * len(taken), wrong
    for cause in set(Cause) - {Cause.UNKNOWN}:
        found = [each for true, each, _ in taken if true is cause]
        assert found.count(cause) >= 0.75 * len(found), wrong


KINDS = {
    "the same click for ever": "loop",
    "round in a circle": "loop",
    "out of steps": "step limit",
    "given up at once": "gave up early",
    "half done": "ended early",
    "twin of Bob Miller": "wrong twin",
    "wrong link": "wrong element",
    "twin in other letter case": "wrong element",
    "misread": "misread",
    "made-up value": "made-up value",
    "cut from a long page, answered": "cut",
    "login wall": "login",
    "paywall": "paywall",
    "uncaptured": "uncaptured",
    "evaluators disagree": "disagreement",
}


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_cause_is_told(name: str) -> None:
    [made] = [made for made in CASES if made.name == name]
    assert attributed(made).kind == KINDS[name]


def test_the_step_to_blame_is_named() -> None:
    known = [(made, attributed(made)) for made in CASES]
    right = [made.step == found.step for made, found in known if made.cause is found.cause]
    assert sum(right) >= 0.9 * len(right)


def test_a_success_has_nothing_to_attribute() -> None:
    done = played("done", "Open it.", (LAMPS, Answer("open")))
    passed = (Score("success", 1.0, "it holds", "checks_hold@2"),)
    assert not has_failed(done, passed) and not has_failed(done, ())
    cut = replace(done, ending=Ending.WORLD_FAILED, error=INTERRUPTED)
    assert not has_failed(cut, ()), "a kill is nobody's failure"
    assert has_failed(replace(cut, error="the browser was closed"), ())
    with pytest.raises(ValueError, match="has not failed"):
        attribute(done, passed)


def test_an_evaluator_that_is_trusted_has_the_last_word() -> None:
    idle = played("idle", "Open it.", *[(LAMPS, Click(9))] * 5, ending=Ending.STEP_LIMIT)
    scores = (*FAILED, Score("success", 1.0, "it shows", "judge@1"))
    assert attribute(idle, scores).cause is Cause.JUDGE
    assert attribute(idle, scores, trusted="checks_hold").cause is Cause.PLANNING
    assert not has_failed(idle, scores, "judge") and has_failed(idle, scores, "checks_hold")
    with pytest.raises(ValueError, match="has not failed"):
        attribute(idle, scores, trusted="judge")


def test_a_wall_explains_a_check_that_could_not_be_made() -> None:
    wall = page("/lamps", "403 Forbidden", title="403 Forbidden")
    walled = played("wall", "Read it.", (LAMPS, Click(3)), (wall, Answer("no")))
    lost = (Score("success", None, "evidence page was not captured: HTTP 403", "checks_hold@2"),)
    assert attribute(walled, lost).cause is Cause.ACCESS


def test_a_task_without_checks_is_to_be_judged_and_no_check_is_to_be_mended() -> None:
    done = played("open", "Read it.", (LAMPS, Answer("no")))
    unscored = (Score("success", None, "the task has no check; a judge must decide", "checks@2"),)
    found = attribute(replace(done, task=replace(done.task, checks=())), unscored)
    assert (found.cause, found.kind) == (Cause.JUDGE, "no check")
    assert "webagent judge RUN --with JUDGE" in summarize([found]).first


def test_what_no_rule_explains_is_unknown() -> None:
    odd = played("odd", "Make it nicer.", (LAMPS, Click(3)), (LAMPS, Answer("")))
    found = attribute(odd, FAILED)
    assert (found.cause, found.step) == (Cause.UNKNOWN, None)


def test_a_page_that_speaks_of_a_cause_does_not_make_it_one() -> None:
    liar = [made for made in CASES if made.name == "a forum about captchas"]
    assert [attributed(made).cause for made in liar] == [Cause.GROUNDING]


def test_every_attribution_of_an_agents_fault_quotes_evidence() -> None:
    agents = {Cause.OBSERVATION, Cause.GROUNDING, Cause.MEMORY}
    found = [attributed(made) for made in CASES if made.cause in agents]
    assert len(found) > 20 and all(one.evidence and one.reason for one in found)


@pytest.mark.parametrize("ending", [Ending.WORLD_FAILED, Ending.MODEL_FAILED, Ending.CAPTCHA])
def test_infrastructure_is_never_the_agents_fault(ending: Ending) -> None:
    broke = played("broke", "Open it.", *[(LAMPS, Click(9))] * 6, ending=ending, error="gone")
    found = attribute(broke, ())
    assert found.cause in (Cause.ENVIRONMENT, Cause.ACCESS) and found.evidence == ("gone",)


def test_a_step_that_is_named_is_one_of_the_episode() -> None:
    found = [(attributed(made), made.trajectory) for made in CASES]
    assert all(one.step is None or 0 <= one.step < len(t.steps) for one, t in found)


def failure(number: int, cause: Cause, kind: str = "", task: str = "shop/buy@1") -> Attribution:
    return Attribution(f"e{number}", task, "shop.test", cause, kind, 0, "because")


def test_causes_are_counted_with_intervals_tasks_and_sites() -> None:
    found = [failure(n, Cause.PLANNING, "loop", f"shop/t{n % 2}@1") for n in range(6)]
    found += [failure(n, Cause.ACCESS, "login") for n in range(6, 8)]
    summary = summarize(found)
    assert summary.failures == 8 and summary.unknown == 0
    planning, access = summary.causes
    assert (planning.cause, planning.count, access.count) == (Cause.PLANNING, 6, 2)
    assert planning.share == (0.75, *wilson(6, 8))
    assert planning.by_task == (("shop/t0@1", 3), ("shop/t1@1", 3))
    assert access.by_site == (("shop.test", 2),)
    assert planning.examples[:2] == ("e0", "e1")


def test_what_to_fix_first_has_counts_a_remedy_and_examples() -> None:
    found = [failure(n, Cause.PLANNING, "loop") for n in range(3)]
    found += [failure(9, Cause.GROUNDING, "wrong twin")]
    said = summarize(found).first
    assert said.startswith("Fix planning first: 3 of 4 episodes without success (75%, 30% to 95%)")
    assert "most often loop" in said
    assert "--prompt loops" in said and said.endswith("See e0, e1, e2.")


def test_what_cannot_be_mended_is_not_what_to_fix_first() -> None:
    found = [failure(n, Cause.ACCESS, "captcha") for n in range(5)]
    assert "None of the 5 failures" in summarize(found).first
    found += [failure(n, Cause.UNKNOWN) for n in range(5, 9)]
    found.append(failure(9, Cause.JUDGE, "uncaptured"))
    summary = summarize(found)
    assert summary.first.startswith("Fix judge first: 1 of 10 episodes without success")
    assert summary.unknown == 4


def test_no_failures_give_an_empty_summary() -> None:
    summary = summarize([])
    assert (summary.failures, summary.causes, summary.first) == (0, (), "")
