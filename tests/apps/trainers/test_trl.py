"""TRL: rows, environments, and TRL's own GRPO trainer with faults and with a model that learns."""

import math
import os
import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from apps.trainers import trl_environment
from apps.trainers.trl_environment import leave_out_lost, make_environment, make_rows
from tests.apps.serve.conftest import RunningServer
from tests.apps.trainers.foreign_server import ForeignServer, turn
from tests.apps.trainers.tiny_caller import make_caller
from webagent.errors import SetupError, UsageError, WorldError

ROW = make_rows(["click-test-2"], [1])[0]
TASK = "click-dialog"


def test_rows_are_every_task_with_every_seed() -> None:
    rows = make_rows(["a", "b"], [3, 4], split="test")
    played = [(row["task"], row["seed"], row["split"]) for row in rows]
    assert played == [("a", 3, "test"), ("b", 3, "test"), ("a", 4, "test"), ("b", 4, "test")]


def test_a_lost_episode_has_no_reward_and_none_of_other_functions(foreign: ForeignServer) -> None:
    foreign.answers = [turn(None, False), None, turn(None, False), turn(1.0, True)]
    env = make_environment(foreign.url, ["click"], patience=5)()
    shorter = leave_out_lost(lambda environments, **_: [0.5 for _ in environments])
    env.reset(**ROW)
    with pytest.raises(WorldError):
        env.click(mark=1)  # TRL hands this to the model and goes on
    with pytest.raises(WorldError, match="is lost"):
        env.click(mark=1)
    assert env.get_reward() is None
    assert shorter(environments=[env]) == [None]
    env.reset(**ROW)
    assert env.click(mark=1) == "The episode is over."
    assert env.get_reward() == 1.0
    assert shorter(environments=[env]) == [0.5]


def test_where_no_episode_begins_training_stops(foreign: ForeignServer) -> None:
    foreign.answers = [None]
    with pytest.raises(WorldError, match="is gone"):
        make_environment(foreign.url, patience=0)().reset(**ROW)


def test_what_cannot_be_trained_on_is_told_before_training(foreign, monkeypatch):
    env = make_environment(foreign.url)()
    with pytest.raises(UsageError, match="would play different pages"):
        env.reset(task="click-test-2")
    with pytest.raises(SetupError, match="is not a server's address"):
        make_environment("ftp://here")
    monkeypatch.setattr(trl_environment, "version", lambda _: "1.2.0")
    with pytest.raises(SetupError, match=r"TRL 1.2.0 may add the reward of a lost episode as 0"):
        make_environment(foreign.url)


def test_a_screenshot_is_the_very_picture_that_the_server_sent(foreign: ForeignServer) -> None:
    kept = BytesIO()
    Image.effect_noise((40, 30), 90).convert("RGB").save(kept, "PNG")
    foreign.answers = [turn(None, False, image=b64encode(kept.getvalue()).decode())]
    picture_block, words = make_environment(foreign.url)().reset(**ROW, screenshots=True)
    assert picture_block["image"].tobytes() == Image.open(kept).tobytes()
    assert words["text"].startswith("The task: Press.")


@pytest.fixture(scope="module")
def bench(served: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator["Bench"]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield Bench(served, tmp_path_factory.mktemp("trl"))
    torch.set_num_threads(threads)


class Bench:
    """A tiny model that clicks anywhere, and TRL's trainer for it."""

    def __init__(self, served: RunningServer, folder: Path) -> None:
        self.served, self.folder = served, folder
        self.environment = make_environment(served.url, ["click"], patience=20)
        rows = make_rows([TASK], range(8))
        env = self.environment()
        prompts = [self.ask(env, row) for row in rows]
        self.model, self.words = make_caller(prompts, [env.click])

    @staticmethod
    def ask(env: Any, row: dict[str, Any]) -> list[dict[str, Any]]:
        """The messages that TRL makes of a row."""
        return [{"role": "user", "content": row["prompt"][0]["content"] + env.reset(**row)}]

    def trainer(self, environment: type, **settings: Any) -> Any:
        """TRL's own, for two groups of eight at a time."""
        from datasets import Dataset
        from trl import GRPOConfig, GRPOTrainer

        usual = {
            "output_dir": str(self.folder),
            "use_cpu": True,
            "bf16": False,
            "report_to": "none",
            "gradient_checkpointing": False,
            "per_device_train_batch_size": 16,
            "num_generations": 8,
            "max_completion_length": 200,
            "max_tool_calling_iterations": 1,
            "save_strategy": "no",
            "logging_steps": 1,
            "lr_scheduler_type": "constant",
        }
        return GRPOTrainer(
            model=self.model,
            args=GRPOConfig(**usual | settings),
            train_dataset=Dataset.from_list(make_rows([TASK], range(16))),
            processing_class=self.words,
            environment_factory=environment,
        )

    def measure(self, seeds: range) -> float:
        """The share of test pages that the model's sampled click solves."""
        import torch
        from trl.chat_template_utils import parse_response

        env, good = self.environment(), 0.0
        for seed in seeds:
            messages = self.ask(env, make_rows([TASK], [seed], split="test")[0])
            ids = self.words.apply_chat_template(
                messages, tools=[env.click], add_generation_prompt=True, return_dict=False
            )
            torch.manual_seed(seed)
            inputs = torch.tensor([ids])
            mask = torch.ones_like(inputs)
            said = self.model.generate(
                inputs, attention_mask=mask, max_new_tokens=40, do_sample=True
            )
            reply = parse_response(self.words, said[0][len(ids) :].tolist(), prefix=ids)
            for call in reply.get("tool_calls", [])[:1]:
                if call["function"]["name"] == "click":
                    with suppress(TypeError):  # as TRL does where it cannot be called so
                        env.click(**call["function"]["arguments"])
            reward = env.get_reward()
            assert reward is not None
            good += reward
        return good / len(seeds)


DEPRECATED = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing` is deprecated:FutureWarning"
)


@pytest.mark.browser
@pytest.mark.very_slow
@DEPRECATED
def test_faults_reach_no_reward_of_the_grpo_trainer(bench: Bench) -> None:
    """Every third click its connection is cut, and once the browser is killed under all."""
    from transformers import TrainerCallback

    given: list[float | None] = []
    clicks = [0]

    def cut(env: Any) -> None:
        clicks[0] += 1
        if clicks[0] == 8:
            bench.served.kill_browser()
        elif clicks[0] % 3 == 0:
            env._episode._client._socket.shutdown(socket.SHUT_RDWR)

    class Faulty(bench.environment):  # type: ignore[misc,name-defined]  # made at run time
        pass

    original = bench.environment.click  # type: ignore[attr-defined]  # made at run time

    @wraps(original)
    def click(self: Any, **arguments: Any) -> Any:
        cut(self)
        return original(self, **arguments)

    def get_reward(self: Any) -> float | None:
        given.append(bench.environment.get_reward(self))  # type: ignore[attr-defined]  # made at run time
        return given[-1]

    Faulty.click, Faulty.get_reward = click, get_reward
    trainer = bench.trainer(Faulty, max_steps=3, learning_rate=1e-6, beta=0.0)
    rewards: list[float] = []
    advantages: list[float] = []

    class Watch(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            rewards.extend(trainer._logs["rewards"]["Faulty"])
            advantages.extend(trainer._logs["advantages"])

    trainer.add_callback(Watch())
    trainer.train()
    lost = [reward is None for reward in given]
    assert len(lost) == len(rewards) == len(advantages) == 48
    assert 5 <= sum(lost) < len(lost)
    for start in range(0, len(rewards), 8):
        group = slice(start, start + 8)
        kept = [r for r, gone in zip(rewards[group], lost[group], strict=True) if not gone]
        mean = sum(kept) / len(kept) if kept else 0.0
        for index in range(start, start + 8):
            if lost[index]:
                assert math.isnan(rewards[index]) and advantages[index] == 0.0
            else:
                wanted = (rewards[index] > mean) - (rewards[index] < mean)
                found = (advantages[index] > 1e-6) - (advantages[index] < -1e-6)
                assert found == wanted
    assert all(math.isfinite(each["loss"]) for each in trainer.state.log_history if "loss" in each)


@pytest.mark.browser
@pytest.mark.very_slow
@pytest.mark.timeout(900)
@DEPRECATED
def test_the_grpo_trainer_improves_a_tiny_model_through_the_server(bench: Bench) -> None:
    seeds = range(int(os.environ.get("WEBAGENT_TEST_SEEDS", "30")))
    before = bench.measure(seeds)
    # At twice the rate six updates can unlearn the form of a call, and no reward is left.
    trainer = bench.trainer(bench.environment, max_steps=24, learning_rate=1e-3, beta=0.0)
    trainer.train()
    bench.model = trainer.model.eval()
    after = bench.measure(seeds)
    assert before < 0.4 and after > before + 0.3, (before, after)
