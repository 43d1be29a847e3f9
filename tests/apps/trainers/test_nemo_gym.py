"""NeMo Gym's own agent on our episodes: as in process, and no reward where the world fails."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from apps.trainers.episode import describe_rules
from benchmarks.miniwob import tasks as miniwob
from tests.apps.serve.conftest import RunningServer
from tests.apps.trainers.foreign_server import ForeignServer, turn
from tests.apps.trainers.packages import installed, newer_python
from tests.apps.trainers.recorded import record
from tests.fakes.foreign_programs import ROOT
from webagent.browser import Browser

pytestmark = [pytest.mark.browser, pytest.mark.very_slow]
NAMES = ("click-test-2", "login-user", "click-checkboxes")


@pytest.fixture(scope="module")
def programs() -> Path:
    return installed("nemo-gym==0.4.0", python=newer_python((3, 12)))


def ask(programs: Path, url: str, names: tuple[str, ...], script: list[Any]) -> list[Any]:
    """What the agent answers to a row for each task, and the status of it."""
    system = {"role": "system", "content": describe_rules()}
    rows = [
        {"responses_create_params": {"input": [system]}, "task": name, "seed": 0} for name in names
    ]
    done = subprocess.run(
        [programs / "python", Path(__file__).with_name("nemo_gym_child.py"), url],
        input=json.dumps({"rows": rows, "script": script}),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


async def test_episodes_are_the_same_as_in_process(
    programs: Path, served: RunningServer, browser: Browser
) -> None:
    expected = [await record(browser, miniwob.task(name, 0, "train")) for name in NAMES]
    script = [
        (each.texts[:number], action)
        for each in expected
        for number, action in enumerate(each.actions, 1)
    ]
    answers = ask(programs, served.url, NAMES, script)
    for wanted, (status, answer) in zip(expected, answers, strict=True):
        messages = [*answer["responses_create_params"]["input"], *answer["response"]["output"]]
        read = [each["content"] for each in messages if each.get("role") == "user"]
        assert (status, read) == (200, [*wanted.texts])
        assert (answer["reward"], answer["info"]["ending"]) == (wanted.reward, wanted.ending)


def test_a_fault_is_an_error_of_the_rollout_and_no_reward(
    programs: Path, foreign: ForeignServer
) -> None:
    failed = {"type": "error", "data": {"message": "the browser", "code": "EXECUTION_ERROR"}}
    foreign.answers = [turn(None, False), failed, turn(None, False), turn(1.0, True, ending="x")]
    names = ("login-user", "login-user")
    (status, answer), (after, played) = ask(programs, foreign.url, names, [])
    assert status == 500 and "EXECUTION_ERROR" in answer
    assert (after, played["reward"]) == (200, 1.0)
