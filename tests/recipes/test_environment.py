"""The platform as Gymnasium environments, one by one and many at once."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import apps.environment
from apps.environment.env import TaskSampler, WebEnv, WebVectorEnv
from apps.environment.player import SharedBrowser
from benchmarks.catalogue import UnknownBenchmark, find_benchmark
from benchmarks.miniwob import tasks as miniwob
from benchmarks.sites import SITES
from tasks.suite import UnknownTask
from tasks.task import Task, TaskCheck
from tests.benchmarks.sites.test_toml import HOSTED
from webagent.errors import SetupError

gymnasium.register_envs(apps.environment)
pytestmark = pytest.mark.browser
TASK = "webagent/miniwob.click-test-2-v1"


@pytest.fixture(scope="module", autouse=True)
def warm() -> Iterator[None]:
    """The browser of environments without a policy stays from one test to the next."""
    shared = SharedBrowser.lease()
    yield
    shared.release()


def is_only_warm() -> bool:
    """Whether all other browsers of environments have ended."""
    return list(SharedBrowser._shared) == [(None, ())]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """The file of a policy that refuses clicks; a browser held to it ends with its test."""
    file = tmp_path / "guard.toml"
    rule = '[[actions]]\nverdict = "deny"\nactions = ["click"]\nreason = "look, do not touch"\n'
    file.write_text(rule, encoding="utf-8")
    return file


@pytest.fixture
def env() -> Iterator[WebEnv]:
    made = gymnasium.make(TASK, screenshot=True).unwrapped
    assert isinstance(made, WebEnv)
    yield made
    made.close()


def mark_of(info: dict[str, Any], name: str) -> int:
    """The mark of the element with this name."""
    return int(next(node.mark for node in info["observation"].nodes if node.name == name))


def test_every_task_of_the_benchmark_has_an_id() -> None:
    known = {name for name in gymnasium.registry if name.startswith("webagent/miniwob.")}
    assert known == {f"webagent/miniwob.{name}-v{miniwob.VERSION}" for name in miniwob.NAMES}
    with pytest.raises(gymnasium.error.NameNotFound, match="click-test-2"):
        gymnasium.make("webagent/miniwob.click-tset-2")


def test_gymnasium_finds_nothing_wrong() -> None:
    made = gymnasium.make(TASK, screenshot=True, render_mode="rgb_array")
    check_env(made.unwrapped)
    made.close()


def test_the_reward_comes_with_the_end(env: WebEnv) -> None:
    for name, reward in (("ONE", 1.0), ("TWO", 0.0)):
        seen, info = env.reset(seed=1)
        assert (seen["goal"], info["seed"]) == ("Click button ONE.", info["observation"] and 473188)
        _, got, terminated, truncated, info = env.step(f"click({mark_of(info, name)})")
        assert (got, terminated, truncated) == (reward, True, False)
        assert (info["ending"], info["success"]) == ("task over", reward == 1.0)


def test_a_seed_names_an_episode_and_so_do_options(env: WebEnv) -> None:
    seeds = [env.reset(seed=seed)[1]["seed"] for seed in (5, 6, 5)]
    assert seeds[0] == seeds[2] != seeds[1]
    assert env.reset()[1]["seed"] != seeds[0]
    _, info = env.reset(options={"index": 3, "split": "test"})
    assert info["seed"] == miniwob.task("click-test-2", 3, "test").seed


def test_text_that_is_no_action_costs_a_step_and_says_why(env: WebEnv) -> None:
    env.reset(seed=0)
    seen, reward, terminated, _, _ = env.step("please press ONE")
    assert "please press ONE" in seen["outcome"] and (reward, terminated) == (0.0, False)


def test_giving_up_terminates_and_the_step_limit_truncates(env: WebEnv) -> None:
    env.reset(seed=0)
    assert env.step('give_up("too hard")')[1:4] == (0.0, True, False)
    env.reset(seed=0)
    turns = [env.step("wait(1)") for _ in range(10)]
    assert [turn[3] for turn in turns] == [False] * 9 + [True]
    assert turns[-1][1:3] == (0.0, False) and turns[-1][4]["ending"] == "step limit"
    with pytest.raises(RuntimeError, match="call reset first"):
        env.step("wait(1)")


def test_a_failure_of_the_browser_is_no_reward_and_the_next_episode_starts(env: WebEnv) -> None:
    before, _ = env.reset(seed=0)
    after, reward, terminated, truncated, info = env.step('goto("chrome://crash")')
    assert np.array_equal(before["screenshot"], after["screenshot"]), "the last picture stands"
    assert math.isnan(reward) and (terminated, truncated) == (False, True)
    assert info["ending"] == "world failed" and "crashed" in info["reason"]
    assert env.reset(seed=0)[0]["outcome"] == ""


def test_the_last_environment_to_close_ends_the_browser(policy: Path) -> None:
    one, other = (gymnasium.make(TASK, guard=str(policy)) for _ in range(2))
    one.reset(seed=0)
    one.close()
    one.close()
    assert other.reset(seed=0)[0]["goal"]
    other.close()
    assert is_only_warm()
    with pytest.raises(RuntimeError, match="closed"):
        one.unwrapped.reset()


def test_a_task_of_ones_own_is_an_environment_too(page_task: Callable[..., Task]) -> None:
    task = page_task(
        "form", goal="Answer 42.", checks=(TaskCheck("episode.answer", "equals", "42"),)
    )
    made = gymnasium.make("webagent/Task-v1", task=task)
    seen, info = made.reset(seed=3)
    assert (seen["goal"], info["task"]) == ("Answer 42.", task.id)
    assert made.step('answer("42")')[1:4] == (1.0, True, False)
    made.reset()
    assert made.step('answer("41")')[1:4] == (0.0, True, False)
    made.close()


@pytest.mark.site
def test_a_task_on_a_site_finds_it_in_its_first_state(tmp_path, monkeypatch):
    monkeypatch.setenv("WEBAGENT_SITES", str(tmp_path))
    monkeypatch.setitem(SITES, "diary@1", "tests.fakes.diary")
    task = Task(
        "diary/write@1",
        "http://diary.test/",
        "Write.",
        site="diary@1",
        login="writer",
        checks=(TaskCheck("count", "equals", [[3]]),),
        queries={"count": "SELECT count(*) FROM entry"},
        max_steps=9,
    )
    (tmp_path / "more.toml").write_text(HOSTED)
    made = WebVectorEnv(2, task, screenshot=True, sites=(tmp_path / "more.toml",))
    try:
        for _ in range(2):
            seen, infos = made.reset(seed=0)
            assert seen["url"] == ("http://diary.test/",) * 2
            assert seen["screenshot"].shape == (2, 720, 1280, 3)
            marks = {node.role: node.mark for node in infos["observation"][0].nodes}
            made.step([f"fill({marks['textbox']}, 'Hello')", "wait(0)"])
            made.step([f"click({marks['button']})", "wait(0)"])
            _, rewards, _, _, infos = made.step(['answer("done")'] * 2)
            assert rewards.tolist() == [1.0, 0.0], infos["reason"]
    finally:
        made.close()
    assert is_only_warm()


def test_a_site_that_nobody_knows_is_told_before_anything_starts(policy: Path) -> None:
    task = Task("a@1", "http://nowhere.test/", "Go.", site="nowhere@1")
    with pytest.raises(SetupError, match="nowhere@1"):
        WebEnv(task, guard=policy)
    assert is_only_warm()


@pytest.mark.site
def test_a_task_of_another_benchmark_is_named_with_it() -> None:
    sampler = TaskSampler("fossil/ticket-close", "development")
    assert sampler.draw(np.random.default_rng(), {"index": 4}) == find_benchmark(
        "fossil"
    ).load().task("ticket-close", 4, "development")
    with pytest.raises(UnknownTask, match="did you mean ticket-close"):
        TaskSampler("fossil/ticket-clos")
    with pytest.raises(UnknownBenchmark, match="there is fossil"):
        TaskSampler("fossl/ticket-close")


def test_a_page_can_be_seen_in_another_form() -> None:
    made = gymnasium.make(TASK, observation="set-of-marks").unwrapped
    plain = gymnasium.make(TASK, screenshot=True).unwrapped
    marked, _ = made.reset(seed=0)
    assert marked in made.observation_space
    assert not np.array_equal(marked["screenshot"], plain.reset(seed=0)[0]["screenshot"])
    made.close()
    plain.close()
    made = gymnasium.make(TASK, observation="html").unwrapped
    assert "<button mark=" in made.reset(seed=0)[0]["page"]
    made.close()
    with pytest.raises(SetupError, match="did you mean html"):
        gymnasium.make(TASK, observation="htm")


@pytest.fixture
def envs() -> Iterator[WebVectorEnv]:
    made = gymnasium.make_vec(TASK, num_envs=3, screenshot=True)
    assert isinstance(made, WebVectorEnv)
    yield made
    made.close()


def test_many_step_together_and_start_again_by_themselves(envs: WebVectorEnv) -> None:
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    seen, infos = envs.reset(seed=7)
    assert seen in envs.observation_space
    assert seen["screenshot"].shape == (3, 280, 320, 3)
    assert len(set(infos["seed"])) == 3
    names = ("ONE", "TWO", "ONE")
    marks = [
        mark_of({"observation": page}, name)
        for page, name in zip(infos["observation"], names, strict=True)
    ]
    actions = [f"click({marks[0]})", f"click({marks[1]})", "wait(1)"]
    _, rewards, terminated, truncated, infos = envs.step(actions)
    assert rewards.tolist() == [1.0, 0.0, 0.0]
    assert terminated.tolist() == [True, True, False] and not truncated.any()
    assert infos["ending"].tolist() == ["task over", "task over", None]
    seen, rewards, terminated, *_ = envs.step(["give_up('')"] * 3)
    assert rewards.tolist() == [0.0] * 3 and terminated.tolist() == [False, False, True]
    assert seen["goal"] == ("Click button ONE.",) * 3


def test_the_ith_environment_is_drawn_by_its_own_seed(envs: WebVectorEnv) -> None:
    _, by_first = envs.reset(seed=7)
    _, by_list = envs.reset(seed=[7, 8, 9])
    assert np.array_equal(by_first["seed"], by_list["seed"])
    with pytest.raises(ValueError, match="as many seeds"):
        envs.reset(seed=[1])
    with pytest.raises(ValueError, match="as many actions"):
        envs.step(["wait(1)"])


def test_different_tasks_fit_into_one_vector() -> None:
    made = WebVectorEnv(2, ["click-button", "enter-text"])
    try:
        seen, _ = made.reset(seed=0)
        assert len(set(seen["goal"])) == 2
    finally:
        made.close()
    with pytest.raises(ValueError, match="as many tasks"):
        WebVectorEnv(3, ["click-button"])


def test_episodes_are_held_to_a_policy(policy: Path) -> None:
    held, free = gymnasium.make(TASK, guard=str(policy)), gymnasium.make(TASK)
    for made, outcome, reward in ((held, "refused: look, do not touch", 0.0), (free, "", 1.0)):
        _, info = made.reset(seed=1)
        seen, got, *_ = made.step(f"click({mark_of(info, 'ONE')})")
        assert (seen["outcome"], got) == (outcome, reward)
        made.close()
    assert is_only_warm()


def test_a_bad_policy_is_said_at_once(policy: Path) -> None:
    policy.write_text("on_refusel = 'tell'", encoding="utf-8")
    with pytest.raises(SetupError, match="on_refusal"):
        gymnasium.make(TASK, guard=str(policy))
