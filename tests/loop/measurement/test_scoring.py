"""Each episode is judged once: what somebody was paid to say is not asked for again."""

import asyncio
from dataclasses import replace

from evaluators.evaluator import FunctionEvaluator, Verdict
from loop.measurement.scoring import HEADLINE, EpisodeScorer
from loop.notes import read_judge_id
from tasks.task import TaskCheck
from tests.fakes.run import episode
from webagent.errors import ModelError
from webagent.models.spending import Ledger, SpendingLimits
from webagent.records import Ending, Provenance, Trajectory
from webagent.store import Store


def played(store: Store, index: int, **changes: object) -> Trajectory:
    """A finished episode in the store."""
    whole = episode(Provenance(index=index, phase="evaluate"), "click-link", index, True)
    whole = replace(whole, **changes)  # type: ignore[arg-type]
    store.add(whole)
    return whole


def judge(*values: float | Exception | None) -> tuple[FunctionEvaluator, list[str]]:
    """One that says these things in turn, and the episodes it was asked about."""
    left, asked = list(values), list[str]()

    def say(trajectory: Trajectory) -> Verdict:
        asked.append(trajectory.id)
        value = left.pop(0)
        if isinstance(value, Exception):
            raise value
        return Verdict(value, "seen")

    return FunctionEvaluator("canned@1", "success", say), asked


async def test_a_judge_is_asked_again_only_where_it_has_not_spoken(store: Store) -> None:
    first, second, third = (played(store, index) for index in range(3))
    model, asked = judge(1.0, None, ModelError("the server is gone"))
    verdicts = EpisodeScorer(store, model, True, Ledger())
    assert [await verdicts.give(each) for each in (first, second, third)] == [1.0, None, None]
    again, asked_again = judge(0.0, 1.0)
    verdicts = EpisodeScorer(store, again, True, Ledger())
    assert [await verdicts.give(each) for each in (first, second, third)] == [1.0, 0.0, 1.0]
    assert len(asked) == 3
    assert asked_again == [second.id, third.id]
    assert read_judge_id(store) == "canned@1"


async def test_a_judge_that_a_cap_has_silenced_leaves_no_verdict(store: Store) -> None:
    whole = played(store, 0)
    model, _ = judge(ModelError("no more may be spent"))
    ledger = Ledger(SpendingLimits(tokens=1))
    ledger.stop("its time is up")
    assert await EpisodeScorer(store, model, True, ledger).give(whole) is None
    assert store.scores() == {}


async def test_checks_are_kept_beside_a_judge_where_there_are_any(store: Store) -> None:
    check = TaskCheck("episode.ending", "equals", str(Ending.TASK_OVER))
    bare = played(store, 0)
    checked = played(
        store, 1, task=replace(episode(Provenance(), "x", 1, True).task, checks=(check,))
    )
    model, _ = judge(1.0, 0.0)
    verdicts = EpisodeScorer(store, model, True, Ledger())
    await asyncio.gather(verdicts.give(bare), verdicts.give(checked))
    said = {
        episode: {score.evaluator: score.value for score in scores}
        for episode, scores in store.scores().items()
    }
    assert said == {bare.id: {"canned@1": 1.0}, checked.id: {"canned@1": 0.0, HEADLINE.id: 1.0}}


async def test_an_episode_the_environment_failed_is_never_shown_to_a_judge(store: Store) -> None:
    lost = played(store, 0, ending=Ending.WORLD_FAILED, last=None)
    model, asked = judge(1.0)
    assert await EpisodeScorer(store, model, True, Ledger()).give(lost) is None
    assert asked == []
