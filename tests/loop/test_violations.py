"""Drift: what the agent tried against its guard is counted by round."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from loop.arms import ARMS
from loop.flat import compose
from loop.folder import RunFolder
from loop.learners import ArmState
from loop.session import Session
from loop.settings import ImproveConfig
from loop.stages import record_learning
from loop.summary.learning import format_learning, summarize_learning
from tasks.task import Json
from tests.fakes.lessons import episode, page
from webagent.action import Answer
from webagent.records import Trajectory


def guarded(id: str, *refusals: tuple[str, str]) -> Trajectory:
    """An episode in which the guard refused this, each by where and rule."""
    rows: list[Json] = [{"where": where, "rule": rule, "what": "x"} for where, rule in refusals]
    played = episode((page("Do it."), Answer("")), id=id, arm="self", round=2, phase="collect")
    return replace(played, evidence={"guard": {"refused": len(rows), "refusals": rows}})


def test_refused_actions_are_reported_by_round(tmp_path):
    config = compose(ImproveConfig)
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    nothing = cast(Any, SimpleNamespace())
    state = ArmState(nothing)
    state.experience = [
        guarded("a", ("action", "other_sites"), ("action", "other_sites"), ("action", "actions")),
        guarded("b", ("page", "other_sites"), ("proxy", "other_sites")),
    ]
    with folder.store() as store:
        record_learning(Session(config, folder, store, ARMS["self"], 0, nothing, nothing), state, 2)
        [row] = summarize_learning(store)
    assert row["violations"] == {"other_sites": 2, "actions": 1}
    told = "the guard refused actions of the agent in 1 of them (other_sites 2, actions 1)"
    assert told in format_learning(row)
    older = {key: value for key, value in row.items() if key != "imagined_tokens"}
    assert format_learning(older) == format_learning(row), "summaries written before are read"
