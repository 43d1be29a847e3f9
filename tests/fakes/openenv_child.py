"""Episodes done again through OpenEnv's own client, in a Python that need not have this project.

    python openenv_child.py URL openenv|ours < EPISODES

The episodes are a JSON list; printed is, for each, the list of its turns. `ours` takes the client
of this project instead, from the folder in which it runs.
"""

import json
import sys
from typing import Any


def play_openenv(url: str, episodes: list[Any]) -> list[Any]:
    """Play with `GenericEnvClient` of openenv-core."""
    from openenv.core import GenericEnvClient  # type: ignore[import-not-found,unused-ignore]

    with GenericEnvClient(base_url=url).sync() as env:
        return [
            [
                {"seen": result.observation, "reward": result.reward}
                for result in (
                    env.reset(task=each["task"], seed=each["seed"], split="train"),
                    *(env.step({"action": action}) for action in each["actions"]),
                )
            ]
            for each in episodes
        ]


def play_ours(url: str, episodes: list[Any]) -> list[Any]:
    """Play with `ServedClient`."""
    sys.path.insert(0, ".")
    from apps.serve.client import ServedClient

    with ServedClient(url) as env:
        return [
            [
                {"seen": turn["observation"], "reward": turn["reward"]}
                for turn in (
                    env.reset(task=each["task"], seed=each["seed"], split="train"),
                    *(env.step(action) for action in each["actions"]),
                )
            ]
            for each in episodes
        ]


if __name__ == "__main__":
    play = {"openenv": play_openenv, "ours": play_ours}[sys.argv[2]]
    json.dump(play(sys.argv[1], json.load(sys.stdin)), sys.stdout)
