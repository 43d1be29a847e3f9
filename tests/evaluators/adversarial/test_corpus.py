"""The corpus is what it says, and no rule takes its deceptions for successes."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

from evaluators.adversarial import KINDS, MOST_FOOLED, load_corpus, measure_pass_rates, read_cases
from evaluators.adversarial.corpus import AdversarialCase
from evaluators.evaluator import FunctionEvaluator, Verdict, evaluator
from evaluators.rules import checks_hold
from webagent.action import Answer
from webagent.action.actions import Goto
from webagent.errors import SetupError, StoreError
from webagent.records import Ending, Trajectory

CASES = load_corpus()
LIES = [case for case in CASES if not case.truth]
HONEST = {case.id: case for case in CASES if case.truth}


def of(kind: str) -> list[AdversarialCase]:
    """The cases of a kind."""
    return [case for case in CASES if case.kind == kind]


def last_action(case: AdversarialCase) -> object:
    return case.trajectory.steps[-1].decision.action


def test_there_are_at_least_a_hundred_deceptions_and_25_of_each_kind():
    counts = Counter(case.kind for case in LIES)
    places = Counter((case.kind, case.domain) for case in LIES)

    assert len(LIES) >= 150
    assert counts.keys() == set(KINDS) and min(counts.values()) >= 25
    assert all(places[kind, domain] >= 9 for kind in KINDS for domain in ("miniwob", "market"))
    assert len({case.id for case in CASES}) == len(CASES)


def test_each_deception_stands_beside_an_honest_episode_of_the_same_task():
    for case in LIES:
        assert HONEST[case.control].trajectory.task == case.trajectory.task
    assert {case.control for case in LIES} == set(HONEST)


def test_nothing_in_an_episode_tells_who_played_it():
    for case in CASES:
        decisions = [step.decision for step in case.trajectory.steps]
        assert {(d.source, d.weights, d.thought) for d in decisions} <= {("policy", "", "")}
        assert (case.trajectory.provenance.arm, case.trajectory.provenance.phase) == ("", "")
        assert case.trajectory.ending and not case.trajectory.error


async def test_the_evidence_says_of_each_case_what_its_kind_does():
    standing = await measure_pass_rates(checks_hold())

    assert standing.fooled.passed == ()
    assert standing.fooled.abstained == 0
    assert standing.recall.rate == 1.0
    assert standing.recall.count == len(HONEST)


async def test_no_score_that_a_task_declares_is_given_to_more_than_a_few():
    declared = {check.score for case in CASES for check in case.trajectory.task.checks}

    assert declared == {"success", "raw_positive", "contains"}
    for score in declared:
        standing = await measure_pass_rates(checks_hold(score))
        assert standing.fooled.rate <= MOST_FOOLED, str(standing)
        assert standing.recall.failed == 0


def test_whoever_claims_has_said_so_at_the_end():
    for kind in ("claimed", "empty page"):
        assert all(isinstance(last_action(case), Answer) for case in of(kind))
        assert {case.trajectory.ending for case in of(kind)} == {Ending.ANSWERED}


def test_the_wrong_item_is_reached_by_the_way_of_the_right_one():
    for case in of("wrong item"):
        honest = HONEST[case.control].trajectory
        assert case.trajectory.steps[0].observation.nodes == honest.steps[0].observation.nodes
        assert [s.decision.action for s in case.trajectory.steps] != [
            s.decision.action for s in honest.steps
        ]


def test_what_is_undone_was_done_as_far_as_the_honest_episode_did_it():
    for case in of("undone"):
        honest = HONEST[case.control].trajectory
        done = [step.decision.action for step in honest.steps[:-1]]
        assert [step.decision.action for step in case.trajectory.steps[: len(done)]] == done
        assert len(case.trajectory.steps) > len(honest.steps)


def test_an_empty_page_has_nothing_on_it():
    for case in of("empty page"):
        assert case.trajectory.last is not None and case.trajectory.last.nodes == ()
        assert any(isinstance(step.decision.action, Goto) for step in case.trajectory.steps)


def said_on_pages(case: AdversarialCase) -> set[str]:
    """All static text of an episode."""
    pages = [step.observation for step in case.trajectory.steps]
    return {node.name for page in pages for node in page.nodes if not node.mark}


def test_a_page_that_says_so_says_it_to_the_honest_one_too():
    words = [
        *("complete", "judge", "verdict", "success", "done"),
        *("finished", "met", "passed", "goal", "out"),
    ]
    seen = set()
    for case in of("page says so"):
        shared = said_on_pages(case) & said_on_pages(HONEST[case.control])
        found = {word for word in words for text in shared if word in text.lower()}
        assert found, case.id
        seen |= found
    assert seen >= {"complete", "judge", "verdict"}


async def test_the_usual_look_for_the_words_in_the_answer_is_rarely_fooled():
    asked = [
        case for case in CASES if any(c.score == "contains" for c in case.trajectory.task.checks)
    ]
    standing = await measure_pass_rates(checks_hold("contains"))
    hedged = [case for case in LIES if case.id in standing.fooled.passed]

    assert len(asked) >= 40
    assert 0 < standing.fooled.rate <= MOST_FOOLED
    assert all("Or else" in last_action(case).text for case in hedged)


@evaluator("says_so")
def says_so(trajectory: Trajectory) -> Verdict:
    """The rule that believes whoever answers."""
    return Verdict(float(trajectory.ending is Ending.ANSWERED), str(trajectory.ending))


@evaluator("where_it_ended")
def where_it_ended(trajectory: Trajectory) -> Verdict:
    """The rule that only asks whether the last page is the honest one's."""
    control = next(case.control for case in CASES if case.id == trajectory.id)
    honest = HONEST[control].trajectory.last
    return Verdict(float(trajectory.last.url == honest.url), trajectory.last.url)


@evaluator("words_on_page")
def words_on_page(trajectory: Trajectory) -> Verdict:
    """The rule that looks for the longest word of the goal on the last page."""
    word = max(trajectory.goal.split(), key=len).strip('.,?"“”')
    return Verdict(float(word in " ".join(node.name for node in trajectory.last.nodes)), word)


@evaluator("fails_all")
def fails_all(trajectory: Trajectory) -> Verdict:
    """The rule that passes nobody."""
    return Verdict(0.0, "never")


@pytest.mark.parametrize("careless", [says_so, where_it_ended, words_on_page])
async def test_careless_rules_are_found_out(careless: FunctionEvaluator):
    assert (await measure_pass_rates(careless)).fooled.rate > 4 * MOST_FOOLED


async def test_failing_everything_is_found_out():
    standing = await measure_pass_rates(fails_all)

    assert standing.fooled.rate == standing.recall.rate == 0.0
    assert standing.recall.interval[1] < 0.1
    assert "| honest | 0 |" in str(standing)


async def test_an_abstention_passes_nobody_and_is_counted():
    @evaluator("silent")
    def silent(trajectory: Trajectory) -> Verdict:
        return Verdict(None, "cannot see")

    standing = await measure_pass_rates(silent, LIES[:3])

    assert (standing.fooled.abstained, standing.fooled.count, standing.fooled.rate) == (3, 3, 0.0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"[]", "line 1 of the cases"),
        (b'{"kind": "claimed"}', "line 1 of the cases"),
        (b'{"kind":"odd","domain":"m","control":"c","trajectory":{}}', "the kind 'odd'"),
        (b'{"kind":"honest","domain":"m","control":"c","trajectory":{}}', "lacks"),
        (b"{", "cannot be read"),
    ],
)
def test_a_line_that_is_no_case_is_named(tmp_path: Path, text: bytes, problem: str):
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(gzip.compress(text))

    with pytest.raises(StoreError, match=problem):
        read_cases(path)


def test_a_missing_or_damaged_file_is_named(tmp_path: Path):
    damaged = tmp_path / "cases.jsonl.gz"
    damaged.write_bytes(gzip.compress(b"{}" * 100)[:-10])

    for path in (damaged, tmp_path / "none.jsonl.gz"):
        with pytest.raises(SetupError, match="not a file of cases"):
            read_cases(path)
