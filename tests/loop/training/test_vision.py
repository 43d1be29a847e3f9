"""A vision-language model acts on screenshots, learns from what it did, and acts again."""

from pathlib import Path

import pytest

from recipes import cli
from tests.fakes import tiny_models
from webagent.records import Score, Trajectory
from webagent.store import Store

pytestmark = [pytest.mark.browser, pytest.mark.very_slow]

PLAYED = (
    *("--tasks", "click-test-2", "--seeds", "1", "--samples", "4", "--split", "train"),
    *("--observation", "screenshot", "--temperature", "1", "--prompt", "brief", "direct"),
    *("--max-tokens", "160"),
)


def play(weights: Path, name: str) -> list[Trajectory]:
    """Four episodes of one task and seed, played by these weights on screenshots."""
    assert cli.main(["benchmark", "--policy", f"local:{weights}", "--name", name, *PLAYED]) == 0
    with Store.open(Path("runs", name)) as store:
        return list(store.trajectories())


def test_a_vision_language_model_is_trained_on_its_own_rollouts_and_acts_again(folder):
    tiny_models.llava(folder / "vlm")
    before = play(folder / "vlm", "before")
    assert len(before) == 4
    for episode in before:
        for step in episode.steps:
            decision = step.decision
            assert len(decision.images) == 1 and decision.prompt_ids
            assert len(decision.log_probs) == len(decision.sampled_ids) > 0
            assert decision.allowed.startswith("{")
    with Store.open(Path("runs", "before")) as store:
        for place, episode in enumerate(before):
            store.score(episode.id, Score("told", float(place % 2), "for the test"))
    wanted = ["--runs", "runs/before", "--model", str(folder / "vlm"), "--out", "out"]
    ways = ["--objective", "grpo", "--score", "told", "--learning-rate", "1e-2"]
    ways += ["--prompt", "brief", "direct"]
    ways += ["--updates", "1", "--observation", "screenshot"]
    assert cli.main(["train", *wanted, *ways]) == 0
    after = play(Path("out", "model"), "after")
    assert len(after) == 4
    versions = {
        step.decision.weights
        for episodes in (before, after)
        for one in episodes
        for step in one.steps
    }
    assert len(versions) == 2
