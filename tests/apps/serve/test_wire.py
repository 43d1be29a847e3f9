"""Messages of OpenEnv's protocol: what is read, what is refused, what is written."""

import json
from base64 import b64decode
from pathlib import Path

import pytest

from apps.serve.settings import ServeConfig
from apps.serve.wire import (
    MessageError,
    ServedTurn,
    StepData,
    list_tools,
    read_action,
    read_message,
    schemas,
    write_turn,
)
from loop.flat import compose
from webagent.action import ACTIONS, parse_action
from webagent.errors import ActionError, SetupError


@pytest.mark.parametrize(
    ("sent", "code", "reason"),
    [
        ("{", "INVALID_JSON", "this is not JSON"),
        ("[]", "UNKNOWN_TYPE", "None is not known; expected one of reset, step, state, close"),
        ('{"type": "observe"}', "UNKNOWN_TYPE", "'observe' is not known"),
        ('{"type": "reset", "data": {"tsak": "a"}}', "VALIDATION_ERROR", "tsak"),
        ('{"type": "reset", "data": {"seed": -1}}', "VALIDATION_ERROR", "seed"),
        ('{"type": "reset", "data": {"split": "tests"}}', "VALIDATION_ERROR", "split"),
        ('{"type": "step"}', "VALIDATION_ERROR", "data"),
        ('{"type": "step", "data": {"action": 7}}', "VALIDATION_ERROR", "action"),
    ],
)
def test_what_cannot_be_read_is_answered_in_a_sentence(sent: str, code: str, reason: str) -> None:
    with pytest.raises(MessageError) as caught:
        read_message(sent)
    assert (str(caught.value.code), reason in str(caught.value)) == (code, True), caught.value


def test_an_action_is_a_text_or_a_call() -> None:
    click = parse_action("click(3)")
    assert read_action(StepData(action="click(3)")) == click
    assert read_action(StepData(tool_name="click", arguments={"mark": 3})) == click
    for both in (StepData(), StepData(action="click(3)", tool_name="click")):
        with pytest.raises(MessageError, match="expected either"):
            read_action(both)
    with pytest.raises(ActionError, match="no tool 'clik'"):
        read_action(StepData(tool_name="clik"))


def test_every_tool_has_a_schema_that_makes_its_action() -> None:
    for tool in list_tools():
        schema = tool["input_schema"]
        assert tool["name"] in ACTIONS and tool["description"]
        assert set(schema.get("required", ())) <= set(schema["properties"])
        assert not schema["additionalProperties"]
    assert json.dumps(schemas())


def test_a_screenshot_arrives_byte_for_byte() -> None:
    png = bytes(range(256))
    turn = ServedTurn("goal", "page", "url", "", "task", 1, 0, 10, image=png, reward=None)
    data = json.loads(json.dumps(write_turn(turn)))["data"]
    assert b64decode(data["observation"]["image"]) == png
    assert (data["reward"], data["done"]) == (None, False)


def test_other_machines_need_a_token(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="--token-file"):
        compose(ServeConfig, host="0.0.0.0").check()
    file = tmp_path / "token"
    file.write_text("short\n")
    with pytest.raises(SetupError, match="5 characters; a token has 16 or more"):
        compose(ServeConfig, host="0.0.0.0", token_file=file).check()
    file.write_text("0123456789abcdef\n")
    compose(ServeConfig, host="0.0.0.0", token_file=file).check()
    with pytest.raises(SetupError, match="cannot be read"):
        compose(ServeConfig, token_file=tmp_path / "none").check()


def test_settings_that_cannot_be_are_told() -> None:
    with pytest.raises(SetupError, match="at least one session"):
        compose(ServeConfig, max_sessions=0).check()
    with pytest.raises(SetupError, match="--port 70000 is not a port"):
        compose(ServeConfig, port=70000).check()
