"""verifiers' own evaluation on our episodes: as in process, and no reward where the world fails."""

from pathlib import Path

import pytest

from apps.serve.client import ServedClient
from benchmarks.miniwob import tasks as miniwob
from tests.apps.trainers.packages import installed
from tests.apps.trainers.recorded import record
from tests.fakes.foreign_programs import evaluate_in_verifiers
from tests.fakes.scripted_model import fail_after, play

pytestmark = [pytest.mark.browser, pytest.mark.very_slow]
NAMES = ("click-test-2", "login-user", "click-checkboxes")


@pytest.fixture(scope="module")
def programs() -> Path:
    return installed("verifiers==0.4.0", "uv")


async def test_episodes_are_the_same_as_in_process(
    programs, served, browser, model_server, tmp_path
):
    expected = {name: await record(browser, miniwob.task(name, 0, "train")) for name in NAMES}
    model_server.will(play({each.texts[0]: each.actions for each in expected.values()}))
    episodes = evaluate_in_verifiers(programs, tmp_path, served.url, model_server, NAMES)
    assert len(episodes) == len(NAMES)
    for episode in episodes:
        (trace,) = episode["traces"]
        wanted = expected[trace["task"]["data"]["task"]]
        messages = [node["message"] for node in trace["nodes"]]
        assert [each["content"] for each in messages if each["role"] == "user"] == [*wanted.texts]
        assert episode["ok"] and trace["rewards"]["verdict"]["score"] == wanted.reward
        assert trace["info"]["ending"] == wanted.ending


async def test_a_fault_is_the_error_of_its_trace_and_no_reward(
    programs, serve, browser, model_server, tmp_path
):
    expected = await record(browser, miniwob.task("login-user", 0, "train"))
    with serve(tasks=("login-user",)) as server:
        model_server.will(
            fail_after(1, server.kill_browser, play({expected.texts[0]: expected.actions}))
        )
        names = ("login-user",)
        (episode,) = evaluate_in_verifiers(programs, tmp_path, server.url, model_server, names)
    (trace,) = episode["traces"]
    assert not episode["ok"] and not trace["ok"]
    assert trace["rewards"] == {}
    assert trace["errors"][-1]["type"] == "WorldError"
    assert "EXECUTION_ERROR" in trace["errors"][-1]["message"]


async def test_a_lost_episode_is_played_again_where_retries_are_allowed(
    programs, serve, browser, model_server, tmp_path
):
    expected = await record(browser, miniwob.task("login-user", 0, "train"))
    with serve(tasks=("login-user",)) as server:
        model_server.will(
            fail_after(1, server.kill_browser, play({expected.texts[0]: expected.actions}))
        )
        retries = ("--env.retries.max-retries", "1")
        (episode,) = evaluate_in_verifiers(
            programs, tmp_path, server.url, model_server, ("login-user",), *retries
        )
    assert episode["ok"]
    assert episode["traces"][-1]["rewards"]["verdict"]["score"] == expected.reward


def test_a_server_that_is_gone_gives_no_trace_and_no_reward(
    programs, serve, model_server, tmp_path
):
    with serve(tasks=("login-user",)) as server, ServedClient(server.url) as env:
        env.reset()
    patience = ("--env.patience", "0")
    (episode,) = evaluate_in_verifiers(
        programs, tmp_path, server.url, model_server, ("login-user",), *patience
    )
    assert not episode["ok"] and episode["traces"] == []
    assert "is gone" in episode["errors"][-1]["message"]
