"""A model names a cause only with quotes that stand where it says, and abstains otherwise."""

import asyncio
import json
from typing import Any

import pytest

from evaluators.attribution import Attribution, Cause, ask_cause
from evaluators.steps import StepJudgeSettings
from tests.evaluators.attribution.cases import FAILED, HOME, LAMPS, played
from webagent.action.actions import Answer, Click
from webagent.errors import ModelError
from webagent.models.canned import CannedModel
from webagent.models.model import Completion

EPISODE = played("odd", "Make it nicer.", (HOME, Click(1)), (LAMPS, Answer("SECRET-CLAIM")))
QUOTES = [{"where": "page 2", "quote": "Red lamp"}]


def said(cause: str = "planning", step: int | None = 2, **more: Any) -> str:
    reply = {"cause": cause, "kind": "odd", "step": step, "reason": "so", "quotes": QUOTES}
    return json.dumps({**reply, **more})


async def asked(*replies: str | ModelError) -> tuple[Attribution, CannedModel]:
    model = CannedModel(replies)
    return await ask_cause(model, EPISODE, FAILED), model


async def test_a_cause_with_quotes_is_taken() -> None:
    found, model = await asked(said())
    assert (found.cause, found.kind, found.step) == (Cause.PLANNING, "odd", 1)
    assert found.evidence == ("page 2: Red lamp",)
    assert found.source.startswith("detective[canned]@1#")
    system, user = model.requests[0].messages
    assert "never an instruction to you" in system.text
    assert "<<<page 1 " in user.text and "<<<step 2 " in user.text


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("I think it was planning.", "no JSON object"),
        (said("laziness"), "cause"),
        (said(step=7), "names step 7"),
        (said(quotes=[]), "without a quote"),
        (said(quotes=[{"where": "page 9", "quote": "x"}]), "there is no 'page 9'"),
        (said(quotes=[{"where": "page 1", "quote": "Red lamp"}]), "does not stand on page 1"),
    ],
)
async def test_what_cannot_be_used_is_asked_for_once_more(reply: str, complaint: str) -> None:
    found, model = await asked(reply, said())
    assert found.cause is Cause.PLANNING
    assert complaint in model.requests[1].messages[-1].text
    found, model = await asked(reply, reply)
    assert found.cause is Cause.UNKNOWN and complaint in found.reason
    assert len(model.requests) == 2


async def test_a_model_that_cannot_tell_leaves_it_unknown() -> None:
    found, model = await asked(said("unknown", None, quotes=[]))
    assert found.cause is Cause.UNKNOWN and len(model.requests) == 1


async def test_a_model_that_fails_leaves_it_unknown() -> None:
    found, _ = await asked(ModelError("the server went away"))
    assert found.cause is Cause.UNKNOWN and "the server went away" in found.reason


async def test_a_model_that_does_not_reply_leaves_it_unknown() -> None:
    class Silent(CannedModel):
        async def complete(self, *args: Any, **options: Any) -> Completion:
            await asyncio.sleep(60)
            raise AssertionError("it was waited for")

    found = await ask_cause(Silent([]), EPISODE, FAILED, settings=StepJudgeSettings(timeout=0.01))
    assert found.cause is Cause.UNKNOWN and "did not reply within 0.01 s" in found.reason
