"""How a judge's model is asked: waiting, key points kept, votes of a context under load."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from evaluators.judge import KeyPoint, build_judge
from evaluators.judge.keypoints import read_points
from tests.evaluators.judge.episodes import ONE_MET, SILENT, STATE_ONLY, TASK
from webagent.models.canned import CannedModel
from webagent.models.model import Capabilities, Completion, Message, Reply, Tokens
from webagent.models.replies import UnusableError

KNOWN = {TASK.goal: ["one lamp is ordered"]}


class LateModel:
    """Replies after a while."""

    name = "late"
    capabilities = Capabilities()

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.stopped = 0

    async def complete(
        self, prompt: Sequence[Message] | Tokens, *, n: int = 1, **options: Any
    ) -> Completion:
        """The reply that would make a success."""
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return Completion((Reply(ONE_MET),) * n, self.name, {"input_tokens": 5})

    async def close(self) -> None:
        """Nothing is held."""


async def test_whoever_gives_up_waiting_for_the_judge_stops_its_model() -> None:
    model = LateModel(30)
    task = asyncio.ensure_future(build_judge("evidence", model, key_points=KNOWN).examine(SILENT))
    await asyncio.sleep(0.02)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.stopped == 1


async def test_key_points_are_asked_for_once_for_each_task() -> None:
    model = CannedModel([STATE_ONLY, ONE_MET, ONE_MET, STATE_ONLY, ONE_MET])
    asked = build_judge("evidence", model)

    first = await asked.examine(SILENT)
    again = await asked.examine(replace(SILENT, id="e2"))
    other = await asked.examine(replace(SILENT, id="e3", goal="Order one lamp, please."))

    assert [each.value for each in (first, again, other)] == [1.0, 1.0, 1.0]
    assert [each.spent.calls for each in (first, again, other)] == [2, 1, 2]
    assert model.requests[0].seed != model.requests[1].seed


async def test_episodes_judged_at_once_ask_for_their_key_points_once() -> None:
    model = CannedModel([STATE_ONLY, *[ONE_MET] * 4])
    asked = build_judge("evidence", model)

    examined = await asyncio.gather(
        *(asked.examine(replace(SILENT, id=f"e{number}")) for number in range(4))
    )

    assert [each.value for each in examined] == [1.0] * 4
    assert len(model.requests) == 5


async def test_key_points_outlive_a_judge_by_what_they_depend_on() -> None:
    kept: dict[Any, tuple[KeyPoint, ...]] = {}
    await build_judge("evidence", CannedModel([STATE_ONLY, ONE_MET]), kept=kept).examine(SILENT)
    same, other = CannedModel([ONE_MET]), CannedModel([STATE_ONLY, ONE_MET], name="other")

    for model in (same, other):
        report = await build_judge("evidence", model, kept=kept).examine(SILENT)
        assert report.value == 1.0

    assert [key[:2] for key in kept] == [(TASK.goal, "canned"), (TASK.goal, "other")]
    assert (len(same.requests), len(other.requests)) == (1, 2)


async def test_key_points_that_cannot_be_read_twice_make_the_judge_abstain() -> None:
    model = CannedModel(["I would look at it.", "No list."])

    report = await build_judge("evidence", model).examine(SILENT)

    assert report.value is None
    assert "0 numbered points were found" in report.reason
    assert "0 numbered points were found" in model.requests[1].messages[-1].text


def test_given_key_points_are_part_of_the_judges_id() -> None:
    model = CannedModel([])
    ids = {
        build_judge("evidence", model, key_points=points).id
        for points in (None, KNOWN, {TASK.goal: ["two lamps"]})
    }
    assert len(ids) == 3


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("1. one lamp", [KeyPoint("one lamp")]),
        ("Key points:\n1) **one lamp**\n2. [answer] its price", None),
        (" 1. [state] a\n\n 2. [Answer] b ", [KeyPoint("a"), KeyPoint("b", "answer")]),
    ],
)
def test_points_are_read_from_a_numbered_list(text: str, points: list[KeyPoint] | None) -> None:
    expected = points or [KeyPoint("one lamp"), KeyPoint("its price", "answer")]

    assert list(read_points(text)) == expected


@pytest.mark.parametrize("text", ["", "none", "- a\n- b", "\n".join(f"{n}. x" for n in range(40))])
def test_what_is_no_list_of_points_is_refused(text: str) -> None:
    with pytest.raises(UnusableError, match="numbered points were found"):
        read_points(text)
