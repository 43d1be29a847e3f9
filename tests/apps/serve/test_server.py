"""Episodes through the server: as in process, failures told as errors, sessions bounded."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from apps.serve.client import ServedClient
from tests.apps.serve.conftest import RunningServer, Serve
from webagent.errors import CallError, SetupError, WorldError

pytestmark = pytest.mark.browser


def test_the_exchange_of_the_real_client_is_answered_as_it_was(served: RunningServer) -> None:
    """Recorded from GenericEnvClient of openenv-core 0.3.0 with every message and answer kept."""
    exchange = json.loads(Path(__file__).with_name("openenv_exchange.json").read_text())
    with served.client() as env:
        for sent, expected in exchange:
            try:
                answer: Any = env._ask(sent)
            except CallError as error:
                answer = str(error)
            assert mask(answer) == mask(expected), sent


def mask(answer: Any) -> Any:
    """Without what differs from machine to machine, and the actions that there are by now."""
    if isinstance(answer, dict) and "observation" in answer:
        outcome = str(answer["observation"].get("outcome", "")).partition("; known:")[0]
        seen = answer["observation"] | {"url": "", "outcome": outcome}
        return {**answer, "observation": seen}
    if isinstance(answer, dict):
        return {name: value for name, value in answer.items() if name != "episode_id"}
    return answer


def test_a_call_of_a_tool_is_the_same_action_and_what_is_none_costs_a_step(served):
    with served.client() as env:
        env.reset(task="click-test-2", seed=1)
        turn = env.step("clik(1)")
        assert "clik" in turn["observation"]["outcome"] and turn["observation"]["step"] == 1
        assert (turn["reward"], turn["done"]) == (0.0, False)
        assert env.call("click", {"mark": 1})["reward"] == 1.0
        env.reset(task="click-test-2", seed=1)
        assert env.step("give_up('no')")["reward"] == 0.0


def test_a_task_that_is_not_served_is_told_and_the_session_goes_on(served: RunningServer) -> None:
    with served.client() as env:
        with pytest.raises(CallError, match=r"VALIDATION_ERROR: reset: .*click-tset-2"):
            env.reset(task="click-tset-2", seed=1)
        assert env.reset(task="click-test-2", seed=1)["observation"]["task"]


def test_a_seed_goes_through_the_tasks_in_turn(served: RunningServer) -> None:
    names = served.stage.chosen.names
    with served.client() as env:
        seen = env.reset(seed=len(names) + 1)["observation"]
    assert (seen["task"], seen["seed"]) == (f"miniwob/{names[1]}@1", 1)


@pytest.mark.slow
def test_a_killed_browser_is_an_error_and_no_reward(served: RunningServer) -> None:
    with served.client() as env, served.client() as other:
        for each in (env, other):
            each.reset(task="click-test-2", seed=1)
        served.kill_browser()
        for each in (env, other):
            with pytest.raises(WorldError, match=r"EXECUTION_ERROR: .* says nothing of the agent"):
                each.step("click(1)")
            with pytest.raises(
                WorldError, match="SESSION_ERROR: no episode is in progress; the las"
            ):
                each.step("click(1)")
        env.reset(task="click-test-2", seed=1)
        assert env.step("click(1)")["reward"] == 1.0


@pytest.mark.slow
def test_a_judge_of_ones_own_that_raises_is_an_error_and_no_reward(serve, tmp_path, caplog):
    file = tmp_path / "mine.py"
    file.write_text(
        "from evaluators.evaluator import evaluator\n"
        "@evaluator('broken')\n"
        "def broken(trajectory):\n"
        "    return {}['no such key']\n"
    )
    with serve(tasks=("click-test-2",), judge=f"python:{file}:broken") as server:
        with server.client() as env:
            for _ in range(2):
                env.reset(seed=1)
                with pytest.raises(WorldError, match=r"EXECUTION_ERROR: the judge broken.*KeyErr"):
                    env.step("click(1)")
        assert (server.stage.episodes, server.stage.failures) == (2, 2)
    assert "no such key" in caplog.text


@pytest.mark.slow
def test_one_session_more_than_allowed_is_told_and_finds_a_place_later(serve: Serve) -> None:
    with (
        serve(max_sessions=1, tasks=("click-test-2",)) as server,
        server.client() as first,
        server.client() as second,
    ):
        first.reset()
        with pytest.raises(WorldError, match="CAPACITY_REACHED: 1 sessions are playing"):
            second.reset()
        first.close()
        wait_for(lambda: server.stage.places == 0)
        second.reset(seed=1)
        assert second.step("click(1)")["done"]


@pytest.mark.slow
def test_a_session_left_open_gives_its_place_back(serve: Serve) -> None:
    with (
        serve(max_sessions=1, tasks=("click-test-2",), lease_minutes=0.01) as server,
        server.client() as first,
        server.client() as second,
    ):
        first.reset()
        wait_for(lambda: server.stage.places == 0)
        second.reset()
        with pytest.raises(WorldError, match=r"SESSION_ERROR: .*lease of 0.01 minutes expired"):
            first.step("click(1)")


def wait_for(holds: Callable[[], bool]) -> None:
    """Until it holds; the test's own time limit ends the wait."""
    while not holds():
        time.sleep(0.01)


@pytest.mark.slow
def test_a_server_that_ends_is_an_error_and_no_reward(serve: Serve) -> None:
    with serve(tasks=("click-test-2",)) as server:
        env = server.client()
        env.reset(seed=1)
    with pytest.raises(WorldError, match="is gone"):
        env.step("click(1)")
    with pytest.raises(WorldError, match="is gone"):
        env.reset(seed=1)
    env.close()


@pytest.mark.slow
async def test_strangers_and_pages_are_not_let_in(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("0123456789abcdef")
    with serve(token_file=file, tasks=("click-test-2",)) as server:
        async with httpx2.AsyncClient() as http:
            assert (await http.get(f"{server.url}/health")).status_code == 200
            assert (await http.get(f"{server.url}/schema")).status_code == 401
            shown = {"authorization": "Bearer 0123456789abcdef"}
            assert (await http.get(f"{server.url}/schema", headers=shown)).status_code == 200
            page = shown | {"origin": "https://evil.example"}
            assert (await http.get(f"{server.url}/schema", headers=page)).status_code == 403
            refused = await http.post(f"{server.url}/reset", headers=shown)
            assert (refused.status_code, "WebSocket" in refused.text) == (405, True)
        with pytest.raises(SetupError, match=r"refused this client with 401 .*token"):
            server.client().reset()
        with ServedClient(server.url.replace("//", "//client:0123456789abcdef@")) as env:
            assert env.reset()["observation"]["goal"]


@pytest.mark.slow
async def test_another_name_for_this_machine_is_refused(serve: Serve) -> None:
    with serve(tasks=("click-test-2",)) as server:
        port = server.url.rpartition(":")[2].strip("/")
        async with httpx2.AsyncClient() as http:
            for host, status in (
                (f"localhost:{port}", 200),
                (f"[::1]:{port}", 200),
                (f"rebound.example:{port}", 403),
                ("127.0.0.1.evil.example", 403),
                ("[", 403),
            ):
                found = await http.get(f"{server.url}/schema", headers={"host": host})
                assert found.status_code == status, host


@pytest.mark.slow
async def test_what_openenv_validates_is_answered(serve: Serve) -> None:
    """The criteria of `openenv validate --url` of openenv 0.10, in its production mode."""
    with serve(tasks=("click-test-2",)) as server:
        async with httpx2.AsyncClient() as http:
            described = (await http.get(f"{server.url}/openapi.json")).json()
            assert described["info"]["version"].startswith("1.")
            assert not {"/reset", "/step", "/state"} & described["paths"].keys()
            for path in described["paths"].keys() - {"/mcp"}:
                assert (await http.get(f"{server.url}{path}")).status_code == 200
            assert {"action", "observation", "state"} <= (
                await http.get(f"{server.url}/schema")
            ).json().keys()
            empty = (await http.post(f"{server.url}/mcp", json={})).json()
            assert (empty["jsonrpc"], empty["error"]["code"]) == ("2.0", -32600)
            listed = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
            tools = (await http.post(f"{server.url}/mcp", json=listed)).json()
            assert (tools["id"], "click" in str(tools["result"])) == (7, True)
            call = (await http.post(f"{server.url}/mcp", json=listed | {"method": "no"})).json()
            assert "/ws" in call["error"]["message"]
