"""Every record survives the way to JSON and back; what cannot be read is said plainly."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, cast, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.task import Json, Task
from webagent.action import ACTIONS, Action
from webagent.action.actions import Fill
from webagent.errors import StoreError
from webagent.records import Decision, Ending, Node, Observation, Score, Step, Trajectory
from webagent.serialize import dumps, from_json, loads, to_json

TEXT = st.text(st.characters(), max_size=8)  # lone surrogates included
FLOATS = st.floats(allow_nan=False)
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
PLAIN = {str: TEXT, int: st.integers(), float: FLOATS, bool: st.booleans()}


def records(cls: type) -> st.SearchStrategy[Any]:
    """Records with every field filled, so that a field added later is tested from its first day."""
    return st.builds(cls, **{field.name: values(field.type) for field in dataclasses.fields(cls)})


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of the kind a field is declared to hold."""
    if hint == Json:
        return JSON
    if hint == Action:
        return ACTIONS_OF_ALL_KINDS
    if hint is Ending:
        return st.sampled_from(Ending)
    if dataclasses.is_dataclass(hint):
        return records(cast(type, hint))
    arguments = get_args(hint)
    if get_origin(hint) is Mapping:
        return st.dictionaries(TEXT, values(arguments[1]), max_size=2)
    if get_origin(hint) is tuple and arguments[-1] is Ellipsis:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if get_origin(hint) is tuple:
        return st.tuples(*map(values, arguments))
    if type(None) in arguments:
        return st.none() | values(arguments[0])
    return PLAIN[hint]


ACTIONS_OF_ALL_KINDS: st.SearchStrategy[Action] = st.one_of(
    st.from_type(cls) for cls in ACTIONS.values()
)
SMALL = Observation(goal="", url="", title="", nodes=(Node(1, "button", "Go"),))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(records(Trajectory))
def test_a_trajectory_survives_the_way_to_json_and_back(trajectory: Trajectory) -> None:
    assert from_json(Trajectory, loads(dumps(to_json(trajectory)))) == trajectory


@settings(deadline=None)
@given(ACTIONS_OF_ALL_KINDS)
def test_every_action_survives_inside_its_decision(action: Action) -> None:
    back = from_json(Decision, loads(dumps(to_json(Decision(action)))))
    assert back.action == action
    assert type(back.action) is type(action)


@given(records(Score))
def test_a_score_survives_the_way_to_json_and_back(score: Score) -> None:
    assert from_json(Score, loads(dumps(to_json(score)))) == score


def test_fields_at_their_defaults_take_no_space() -> None:
    assert json.loads(dumps(to_json(SMALL))) == {
        "goal": "",
        "url": "",
        "title": "",
        "nodes": [{"mark": 1, "role": "button", "name": "Go"}],
    }


def test_an_action_is_its_name_and_its_arguments() -> None:
    assert to_json(Decision(Fill(3, "tea"))) == {"action": ["fill", 3, "tea"]}


def test_data_of_an_older_version_takes_the_defaults() -> None:
    assert from_json(Node, {"mark": 1, "role": "link", "name": "Home"}) == Node(1, "link", "Home")


UNDER_WAY = to_json(Trajectory("a", Task("t@1", "about:blank")))


@pytest.mark.parametrize(
    ("cls", "data", "said"),
    [
        (Node, {"mark": 1, "role": "a", "name": "b", "aura": ""}, "has the field aura, .* newer"),
        (Node, {"mark": 1}, "stored Node lacks name, role"),
        (Trajectory, UNDER_WAY | {"ending": "abducted"}, "known: task over"),
    ],
    ids=["a field of a newer version", "a missing field", "an unknown ending"],
)
def test_what_does_not_fit_a_record_is_named(cls: type, data: Json, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        from_json(cls, data)


def test_a_wrong_kind_deep_inside_is_found_by_its_path() -> None:
    data = to_json(Trajectory("a", Task("t@1", "about:blank"), steps=(Step(SMALL, _GO),)))
    data["steps"][0]["observation"]["nodes"][0]["name"] = 7  # type: ignore[index,call-overload]
    with pytest.raises(StoreError, match=r"Trajectory\.steps: .*Node\.name: found 7"):
        from_json(Trajectory, data)


@pytest.mark.parametrize("action", [["levitate", 1], ["click"], ["click", 1, "left", 4], "click"])
def test_an_action_that_is_none_is_refused(action: Json) -> None:
    with pytest.raises(StoreError, match=r"Decision\.action: "):
        from_json(Decision, {"action": action})


def test_what_is_no_json_is_a_store_error() -> None:
    with pytest.raises(StoreError, match="damaged"):
        loads(b'{"mark": 1, "ro')
    with pytest.raises(StoreError, match="plain data"):
        dumps(to_json(Decision(Fill(3, "tea"), usage={"tokens": object()})))  # type: ignore[dict-item]


_GO = Decision(Fill(1, "x"))
