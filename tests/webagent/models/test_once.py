"""A model that is asked each question once."""

import asyncio

import pytest

from webagent.errors import PromptTooLongError
from webagent.models.canned import CannedModel
from webagent.models.model import Message
from webagent.models.once import AskedOnce

ASKED = (Message("user", "How many?"),)


async def test_a_question_that_is_still_being_asked_is_not_asked_again() -> None:
    canned = CannedModel(["Two."])
    model = AskedOnce(canned)
    first, second = await asyncio.gather(model.complete(ASKED), model.complete(list(ASKED)))
    assert first is second and len(canned.requests) == 1


async def test_other_settings_make_another_question() -> None:
    canned = CannedModel(["Two.", "Three.", "Four."])
    model = AskedOnce(canned)
    replies = [
        (await model.complete(ASKED, max_tokens=most, temperature=heat)).replies[0].text
        for most, heat in ((9, 0.0), (10, 0.0), (10, 0.7), (9, 0.0))
    ]
    assert replies == ["Two.", "Three.", "Four.", "Two."]


async def test_what_does_not_fit_is_not_sent_again() -> None:
    canned = CannedModel([PromptTooLongError("too long"), "Two."])
    model = AskedOnce(canned)
    for _ in range(2):
        with pytest.raises(PromptTooLongError):
            await model.complete(ASKED)
    assert len(canned.requests) == 1
