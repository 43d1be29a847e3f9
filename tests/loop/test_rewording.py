"""Asking for goals in other words: once for each kind, kept at once, unusable replies left out."""

import json
from pathlib import Path

import pytest

from loop.rewording import reword_goals
from webagent.errors import ModelError
from webagent.models.canned import CannedModel

GOALS = ["Open the order 1", "Open the order 2", "Log out"]


def reply(*others: str) -> str:
    """A reply with these wordings."""
    return json.dumps({"others": others})


async def test_each_kind_of_goal_is_asked_for_once_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "rewordings.jsonl"
    model = CannedModel([reply("Show me 1", "Show me it"), reply("Leave", "Sign off", "Bye")])
    known, told = await reword_goals(model, GOALS, 2, file)
    assert known.reword(GOALS[1]) == ["Show me 2"]
    assert known.reword("Log out") == ["Leave", "Sign off"]
    assert told.startswith("3 other wordings of 2 kinds of goals") and "left out: 1 word" in told
    assert "- 1" in model.requests[0].messages[1].text
    again, told = await reword_goals(CannedModel([]), GOALS, 2, file)
    assert again.by_template == known.by_template and "asked" not in told


async def test_replies_that_cannot_be_read_are_asked_for_once_more(tmp_path: Path) -> None:
    model = CannedModel(["Hm.", reply("Show 1"), "Hm.", "Hm."])
    known, told = await reword_goals(model, GOALS[:1], 1, tmp_path / "file")
    assert known.reword(GOALS[0]) == ["Show 1"]
    known, told = await reword_goals(model, GOALS, 1, tmp_path / "file")
    assert not known.holds("Log out") and "1 replies that cannot be read" in told


async def test_a_model_that_fails_ends_it_with_what_it_gave_kept(tmp_path: Path) -> None:
    model = CannedModel([reply("Show 1"), ModelError("gone")])
    with pytest.raises(ModelError, match="gone"):
        await reword_goals(model, GOALS, 1, tmp_path / "file")
    known, _ = await reword_goals(CannedModel([reply("Leave")]), GOALS, 1, tmp_path / "file")
    assert len(known) == 2
