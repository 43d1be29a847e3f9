"""Judges that are named in place of the checks: what they say, where they fail, what is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from evaluators.evaluator import FunctionEvaluator, Verdict
from loop.arms import ARMS
from loop.costs import Caps, open_ledger, read_stop_reason, run_within_caps
from loop.flat import compose
from loop.folder import RunFolder
from loop.judging.named import CALIBRATING, LearningJudge, check_judges, open_judges
from loop.judging.scoring import OUTAGE
from loop.judging.specification import EvaluatorBuilder, parse_evaluator
from loop.learners import ArmState
from loop.settings import ImproveConfig
from loop.stages import record_learning
from loop.summary.comparisons import BELIEVED, measure_beliefs
from loop.summary.learning import format_learning, summarize_learning
from loop.task_split import TaskSplit
from tasks.task import TaskCheck
from tests.fakes import tiny_models
from tests.fakes.run import episode
from webagent.action import Answer
from webagent.errors import ModelError, SetupError
from webagent.models.canned import CannedModel
from webagent.models.spending import Ledger, MeteredModel, Prices
from webagent.models.weight_notes import write_role
from webagent.records import Decision, Ending, Provenance, Score, Step, Trajectory
from webagent.store import Store

WATCHED = """
import asyncio
from evaluators.evaluator import Verdict, evaluator
busy = most = 0

@evaluator("watched")
async def watched(trajectory):
    global busy, most
    busy += 1
    most = max(busy, most)
    await asyncio.sleep(0.01)
    busy -= 1
    return Verdict(float(most <= 2), f"{most} judged at once")
"""


def played(store: Store, count: int) -> list[Trajectory]:
    """Collected episodes of which every second succeeded, as the checks say."""
    found = []
    for index in range(count):
        place = Provenance(arm="self", round=1, phase="collect", index=index)
        made = replace(episode(place, "enter-text", index, True), id=f"e{index}")
        store.add(made)
        store.score(made.id, Score("success", float(index % 2), "", "checks_hold@2"))
        found.append(made)
    return found


def judge(store: Store, judgement: Callable[[Trajectory], Verdict]) -> LearningJudge:
    return LearningJudge(FunctionEvaluator("said@1", "success", judgement), store, Ledger())


async def test_verdicts_abstentions_and_failures_are_kept_apart_and_compared(store: Store) -> None:
    episodes = played(store, 6)

    def judgement(trajectory: Trajectory) -> Verdict:
        match trajectory.id:
            case "e0":
                raise ModelError("the server is gone")
            case "e1":
                return Verdict(None, "cannot tell")
            case _:
                return Verdict(1.0, "it looks done")

    judged = await judge(store, judgement).judge_round(episodes, "self:0", 1)
    assert judged == [None, None, 1.0, 1.0, 1.0, 1.0]
    (row,) = measure_beliefs(store, "checks_hold")
    assert (row["arm"], row["round"], row["judge"]) == ("self", 1, "said@1")
    assert (row["episodes"], row["decided"], row["abstained"], row["failed"]) == (6, 4, 1, 1)
    assert (row["compared"], row["agreement"], row["precision"]) == (4, 0.5, 0.5)


async def test_what_was_said_is_not_asked_again_and_what_failed_is(store: Store) -> None:
    episodes = played(store, 2)
    store.score("e0", Score(BELIEVED, 0.0, "", "said@1"))
    asked = []

    def judgement(trajectory: Trajectory) -> Verdict:
        asked.append(trajectory.id)
        return Verdict(1.0, "")

    assert await judge(store, judgement).judge_round(episodes, "self:0", 1) == [0.0, 1.0]
    assert asked == ["e1"]


@pytest.mark.parametrize(("count", "failed"), [(OUTAGE, f"the last {OUTAGE}"), (3, "all 3")])
async def test_a_model_that_is_not_there_ends_the_round(store: Store, count, failed) -> None:
    def judgement(trajectory: Trajectory) -> Verdict:
        raise ModelError("no connection")

    with pytest.raises(ModelError, match=rf"{failed} judgements of said@1 failed.*no connection"):
        await judge(store, judgement).judge_round(played(store, count), "self:0", 1)


def answered(store: Store, count: int) -> list[Trajectory]:
    """The same, each with an answer at its end, which a judge is asked about."""
    return [
        replace(
            each,
            steps=(*each.steps, Step(each.steps[-1].observation, Decision(Answer("done")))),
            ending=Ending.ANSWERED,
        )
        for each in played(store, count)
    ]


def asking(store: Store, reply: str, ledger: Ledger) -> LearningJudge:
    """PAE's judge before a model that always says the same."""
    model = MeteredModel(CannedModel([reply] * 100), ledger, "judge")
    evaluator = EvaluatorBuilder(model, None).evaluator(parse_evaluator("judge:pae"))
    return LearningJudge(evaluator, store, ledger)


async def test_a_judge_that_answers_garbage_decides_nothing_and_a_sentence_says_why(store):
    episodes = answered(store, 3)
    judged = asking(store, "I like trains.", Ledger())
    assert await judged.judge_round(episodes, "self:0", 1) == [None, None, None]
    state = ArmState(cast(Any, None), experience=episodes)
    state.success = dict.fromkeys((each.id for each in episodes), None)
    session: Any = SimpleNamespace(store=store, arm=ARMS["self"], repeat=0, judge=judged)
    session.proposed, session.split = {}, TaskSplit("seed", (), ())
    record_learning(session, state, 1)
    (row,) = summarize_learning(store)
    said = format_learning(row)
    assert "passed 0 and left 3 undecided; pae decided no episode, so none of them teaches" in said
    assert "expected SUCCESS or NOT SUCCESS" in said


async def test_a_judge_that_costs_more_than_the_cap_ends_the_run_and_what_it_said_is_kept(store):
    episodes = answered(store, 20)

    async def judge_all(most: int) -> list[float | None]:
        ledger = open_ledger(store, Caps(max_tokens_total=most), Prices())
        found: list[float | None] = []

        async def work() -> None:
            found.extend(await asking(store, "SUCCESS", ledger).judge_round(episodes, "self:0", 1))

        await run_within_caps(work(), ledger, store, None)
        return found

    assert await judge_all(1) == [] and "of 1 are spent" in read_stop_reason(store)
    said = [each for scores in store.scores().values() for each in scores if each.name == BELIEVED]
    assert len(said) < len(episodes)
    assert await judge_all(10**9) == [1.0] * len(episodes) and not read_stop_reason(store)


async def test_whoever_measures_is_fixed_when_the_run_begins(tmp_path: Path) -> None:
    weights = tmp_path / "reward"
    tiny_models.causal(weights)
    config = compose(ImproveConfig, measured_by=f"reward:{weights}")
    check_judges(config)
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    with folder.store() as store:
        async with open_judges(config, folder, store, Ledger()) as judges:
            assert judges.measuring is not None and judges.learning is None
        assert (folder.path / "frozen.json").is_file()
        (weights / "more.txt").write_text("other weights")
        with pytest.raises(SetupError, match="is not the frozen one"):
            async with open_judges(config, folder, store, Ledger()):
                pass


async def test_no_more_is_judged_at_once_than_is_played(tmp_path):
    """Eight requests at a server that takes two would wait for each other until time is up."""
    (tmp_path / "judge.py").write_text(WATCHED)
    judge = f"python:{tmp_path / 'judge.py'}:watched"
    config = compose(ImproveConfig, judge=judge, concurrency=2)
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    with folder.store() as store:
        async with open_judges(config, folder, store, Ledger()) as judges:
            assert judges.learning is not None
            at_once = await judges.learning.judge_round(played(store, 6), "self:0", 1)
    assert at_once == [1.0] * 6


async def test_the_own_reward_model_judges_what_checks_cannot_once_it_was_trained(tmp_path):
    config = compose(ImproveConfig, policy="local:somewhere", judge="reward")
    check_judges(config)
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    plain = episode(Provenance(arm="self"), "enter-text", 0, True)
    checks = (TaskCheck("raw_reward", "equals", 1.0),)
    checked = replace(plain, task=replace(plain.task, checks=checks), evidence={"raw_reward": 0.0})
    imagined = replace(checked, provenance=replace(plain.provenance, world="imagined"))
    with folder.store() as store:
        async with open_judges(config, folder, store, Ledger(), ("self", 0)) as judges:
            assert judges.learning is not None
            decide = judges.learning.evaluator
            assert (await decide(checked)).value == 0.0
            assert (await decide(plain)).value is None and (await decide(imagined)).value is None
            reward = folder.weights("self", 0, 2, "reward")
            tiny_models.causal(reward)
            write_role(reward, "reward")
            assert (await decide(checked)).value == 0.0
            for one in (plain, imagined):
                assert (await decide(one)).reason.endswith("after round 2")


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"judge": "reward"}, "from the weights of --policy local:FOLDER; name"),
        ({"judge": "jury"}, "'jury' is not an evaluator"),
        ({"judge": "judge:evidence"}, "asks a model; name it with --judge-model"),
        ({"judge": "reward:{world}"}, "trained to be a world; expected a reward"),
        ({"judge": "reward:nowhere"}, "nowhere is not a folder"),
        ({"judge": "reward:{judge}"}, "a judge of built-in size, which this version does not have"),
        ({"judge": "reward:{reward}", "measured_by": "reward:{reward}"}, "--measured-by"),
    ],
)
def test_judges_that_cannot_be_are_named(tmp_path, settings, complaint):
    places = {}
    for role in ("world", "reward", "judge"):
        places[role] = tmp_path / role
        tiny_models.causal(places[role])
        write_role(places[role], role)
    given = {name: text.format(**places) for name, text in settings.items()}
    with pytest.raises(SetupError, match=complaint):
        check_judges(compose(ImproveConfig, **given))


@pytest.mark.parametrize(
    ("count", "judgement", "fault"),
    [
        (CALIBRATING, lambda t: True, "said@1 passes all of 12 real episodes"),
        (CALIBRATING, lambda t: False, "said@1 passes none of 12 real episodes"),
        (CALIBRATING, lambda t: t.id == "e3", ""),
        (CALIBRATING, lambda t: not t.provenance.imagined, "said@1 passes none of 12"),
        (CALIBRATING - 1, lambda t: True, ""),
    ],
)
async def test_a_judge_that_passes_all_or_none_of_real_episodes_is_at_fault(
    store: Store, count: int, judgement: Callable[[Trajectory], bool], fault: str
) -> None:
    def judge_one(one: Trajectory) -> Verdict:
        return Verdict(float(judgement(one)), "")

    episodes, told = played(store, count), judge(store, judge_one)
    found = await told.find_fault(episodes)
    assert fault in found and bool(found) == bool(fault)
    values = [judgement(one) for one in episodes]
    is_known = 0 < sum(values) < count or count < CALIBRATING
    assert bool(await told.find_fault(episodes, values)) != is_known
    assert not store.scores()["e0"][1:], "what calibrates is no verdict of the loop"
