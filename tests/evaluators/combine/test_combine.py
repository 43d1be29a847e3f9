"""Votes and cascades, abstentions included."""

from dataclasses import dataclass, field

import pytest

from evaluators.combine import cascade, unsure_abstains, vote
from tasks.task import Task
from webagent.records import Ending, Score, Trajectory

EPISODE = Trajectory("e1", Task("t@1", ""), ending=Ending.ANSWERED)


@dataclass
class Fixed:
    """An evaluator that always gives one value, and counts how often it was asked."""

    value: float | None
    id: str = "fixed@1"
    asked: int = field(default=0)

    async def __call__(self, trajectory: Trajectory) -> Score:
        self.asked += 1
        return Score("success", self.value, f"said {self.value}", self.id)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1.0, 0.0], 1.0),
        ([0.9, 0.1, 0.2], 0.0),
        ([1.0, None, None], 1.0),
        ([1.0, 0.0, None], None),
        ([None, None], None),
        ([0.5, 0.5, 0.6], 1.0),
    ],
)
async def test_the_majority_of_those_that_do_not_abstain_decides(values, expected):
    score = await vote(*map(Fixed, values))(EPISODE)

    assert score.value == expected
    assert score.reason.count("said") == len(values)


@pytest.mark.parametrize(
    ("weights", "expected"), [((3, 1, 1), 1.0), ((1, 1, 1), 0.0), ((2, 1, 1), None)]
)
async def test_weights_count(weights, expected):
    score = await vote(Fixed(1.0), Fixed(0.0), Fixed(0.0), weights=weights)(EPISODE)

    assert score.value == expected


@pytest.mark.parametrize(
    ("count", "weights"), [(0, None), (2, (1.0,)), (2, (1.0, 0.0)), (2, (1.0, -1.0))]
)
def test_votes_without_voters_or_with_unusable_weights_are_refused(count, weights):
    with pytest.raises(ValueError, match="evaluators with the weights"):
        vote(*[Fixed(1.0)] * count, weights=weights)


@pytest.mark.parametrize("sure", [1.0, 0.0])
async def test_a_dear_evaluator_is_asked_only_where_the_cheap_one_abstains(sure):
    cheap, dear = Fixed(sure, "cheap@1"), Fixed(0.25, "dear@1")

    assert (await cascade(cheap, dear)(EPISODE)).value == sure
    assert dear.asked == 0

    score = await cascade(Fixed(None, "mute@1"), dear)(EPISODE)

    assert score.value == 0.25
    assert dear.asked == 1
    assert score.reason == "mute@1 abstains (said None); dear@1 0.25 (said 0.25)"
    assert score.evaluator == "cascade(mute@1, dear@1)@1"


async def test_a_cascade_in_which_all_abstain_abstains():
    assert (await cascade(Fixed(None), Fixed(None))(EPISODE)).value is None


def test_a_cascade_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        cascade()


@pytest.mark.parametrize(
    ("value", "expected"), [(0.1, 0.1), (0.2, 0.2), (0.5, None), (0.8, 0.8), (None, None)]
)
async def test_values_in_the_unsure_range_become_abstentions(value, expected):
    assert (await unsure_abstains(Fixed(value), 0.2, 0.8)(EPISODE)).value == expected


async def test_nobody_is_asked_about_an_infrastructure_failure():
    inner = Fixed(1.0)
    failed = Trajectory("e1", Task("t@1", ""), ending=Ending.WORLD_FAILED)

    for combined in (vote(inner), cascade(inner), unsure_abstains(inner, 0.2, 0.8)):
        assert (await combined(failed)).value is None
    assert inner.asked == 0


async def test_a_value_outside_the_range_is_refused():
    with pytest.raises(ValueError, match=r"gave 1\.5"):
        await cascade(Fixed(1.5))(EPISODE)
