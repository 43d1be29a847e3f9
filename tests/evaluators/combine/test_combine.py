"""Votes and cascades, abstentions included, and what each member was asked, said and cost."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.combine import CountedModel, EvaluatorTally, ask, cascade, unsure_abstains, vote
from evaluators.evaluator import Verdict, evaluator
from tasks.task import Task
from webagent.errors import ModelError, SetupError
from webagent.models import CannedModel, Message, Price, Prices
from webagent.records import Ending, Score, Trajectory

EPISODE = Trajectory("e1", Task("t@1", ""), ending=Ending.ANSWERED)
VALUES = st.one_of(st.none(), st.floats(0, 1))
PRICES = Prices({"dear": Price(input=1e6, output=2e6)})


@dataclass
class Fixed:
    """Always gives one value, and counts how often it was asked."""

    value: float | None
    id: str = "fixed@1"
    asked: int = 0

    async def __call__(self, trajectory: Trajectory) -> Score:
        self.asked += 1
        return Score("success", self.value, f"said {self.value}", self.id)


def asking(model: CountedModel, name: str, value: float | None = 1.0):
    """An evaluator that asks the model once before it gives its value."""

    @evaluator(name)
    async def judge(trajectory: Trajectory) -> Verdict:
        await model.complete([Message("user", "is it done")])
        return Verdict(value, "asked")

    return judge


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


@given(st.lists(VALUES, min_size=1, max_size=6), st.randoms())
@settings(max_examples=60, deadline=None)
def test_a_vote_does_not_depend_on_the_order_of_the_voters(values, random):
    shuffled = random.sample(values, len(values))
    one = asyncio.run(vote(*map(Fixed, values))(EPISODE)).value
    assert one == asyncio.run(vote(*map(Fixed, shuffled))(EPISODE)).value


@given(st.lists(VALUES, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_a_vote_of_opposites_is_the_opposite(values):
    turned = [None if value is None else 1 - value for value in values]
    ayes = asyncio.run(vote(*map(Fixed, values))(EPISODE)).value
    noes = asyncio.run(vote(*map(Fixed, turned))(EPISODE)).value
    assert noes == (None if ayes is None else 1 - ayes)


@given(st.lists(VALUES, min_size=2, max_size=4), VALUES, st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_the_dear_one_is_asked_exactly_where_the_cheap_ones_leave_it_open(cheap, dear, agree):
    agree = min(agree, len(cheap))
    last = Fixed(dear, "dear@1")
    said = asyncio.run(cascade(*map(Fixed, cheap), last, agree=agree)(EPISODE))

    sides = [(v > 0.5) - (v < 0.5) for v in cheap if v is not None]
    is_settled = any(sides.count(side) >= agree for side in sides)
    assert last.asked == (not is_settled)
    if not is_settled and dear is not None:
        same = sides.count((dear > 0.5) - (dear < 0.5))
        assert (said.value > 0.5) == (dear > 0.5) if same or agree == 1 else said.value == dear


async def test_cheap_ones_that_agree_are_enough_and_their_mean_is_the_value():
    dear = Fixed(0.0, "dear@1")
    said = await cascade(Fixed(0.75), Fixed(1.0), dear, agree=2)(EPISODE)

    assert (said.value, dear.asked) == (0.875, 0)
    assert said.evaluator == "cascade[2 agree](fixed@1, fixed@1, dear@1)@1"


async def test_one_word_that_nobody_confirms_is_not_enough():
    said = await cascade(Fixed(1.0), Fixed(None), Fixed(None), agree=2)(EPISODE)

    assert said.value is None
    assert said.reason.startswith("no 2 agree: ")


async def test_where_the_cheap_ones_disagree_the_dear_one_decides_and_overrules():
    tally = EvaluatorTally()
    judge = cascade(
        Fixed(1.0, "a@1"), Fixed(0.0, "b@1"), Fixed(0.0, "dear@1"), agree=2, tally=tally
    )
    await judge(EPISODE)
    await cascade(Fixed(1.0, "a@1"), Fixed(1.0, "b@1"), Fixed(0.0, "dear@1"), agree=2, tally=tally)(
        EPISODE
    )

    assert [stage.asked for stage in tally.stages] == [2, 2, 1]
    assert [stage.overruled for stage in tally.stages] == [1, 0, 0]
    assert tally.reached_last == 0.5
    assert tally.agreement(0, 1) == 0.5
    assert tally.agreement(2, 1) == 1.0
    assert tally.agreement(1, 0) == tally.agreement(0, 1)


@pytest.mark.parametrize(("count", "agree"), [(0, 1), (2, 0), (2, 3)])
def test_more_than_there_are_cannot_agree(count, agree):
    with pytest.raises(ValueError, match="at most that many that agree"):
        cascade(*[Fixed(1.0)] * count, agree=agree)


async def test_a_member_whose_model_fails_or_that_takes_too_long_abstains_and_says_so():
    model = CountedModel(CannedModel([ModelError("the server went away")], name="dear"))

    @evaluator("slow")
    async def slow(trajectory: Trajectory) -> Verdict:
        await asyncio.sleep(60)
        return Verdict(1.0, "late")

    tally = EvaluatorTally()
    said = await vote(asking(model, "ill"), slow, Fixed(1.0), tally=tally, seconds=0.05)(EPISODE)

    assert said.value == 1.0
    assert "ill@1 abstains (its model failed: the server went away)" in said.reason
    assert "slow@1 abstains (it gave no verdict within 0.05 s)" in said.reason
    assert [stage.failed for stage in tally.stages] == [1, 1, 0]
    assert [stage.abstained for stage in tally.stages] == [1, 1, 0]


async def test_what_is_wrong_with_the_setup_is_not_taken_for_an_abstention():
    @evaluator("misled")
    async def misled(trajectory: Trajectory) -> Verdict:
        raise SetupError("no such folder")

    with pytest.raises(SetupError, match="no such folder"):
        await vote(misled)(EPISODE)


async def test_requests_are_put_to_the_member_that_made_them_even_when_asked_together():
    model = CountedModel(CannedModel(["yes"] * 3, name="dear"))
    tally, inner = EvaluatorTally(), EvaluatorTally()
    one = asking(model, "one")
    nested = vote(asking(model, "two"), asking(model, "three"), tally=inner)
    await vote(one, nested, Fixed(0.0), tally=tally)(EPISODE)

    assert [stage.requests for stage in tally.stages] == [1, 2, 0]
    assert [stage.requests for stage in inner.stages] == [1, 1]
    assert tally.stages[1].tokens == 2 * (3 + 1)
    assert tally.stages[1].money(PRICES) == pytest.approx(2 * (3 + 2))
    assert tally.money(PRICES) == pytest.approx(15)
    assert tally.money(Prices()) is None
    assert tally.stages[2].money(Prices()) == 0


async def test_a_tally_goes_on_where_an_earlier_session_left_it():
    model = CountedModel(CannedModel(["yes"] * 2, name="dear"))
    tally = EvaluatorTally()
    await vote(asking(model, "one"), Fixed(1.0), tally=tally)(EPISODE)
    again = EvaluatorTally.restored(tally.state())
    assert again == tally

    await vote(asking(model, "one"), Fixed(1.0), tally=again)(EPISODE)
    assert again.episodes == 2
    assert again.stages[0].spent["dear"].requests == 2
    with pytest.raises(ValueError, match="this tally is of one@1, fixed@1"):
        await vote(Fixed(1.0), tally=again)(EPISODE)


async def test_asking_tells_time_and_tokens_of_a_single_evaluator():
    asked = await ask(asking(CountedModel(CannedModel(["yes"], name="dear")), "one"), EPISODE)

    assert asked.spent["dear"].tokens == 4
    assert asked.seconds >= 0
    assert not asked.was_in_vain
