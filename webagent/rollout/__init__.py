"""How episodes are played: the central loop, many of them at once, and what keeps them."""

from webagent.rollout.episode import (
    INTERRUPTED,
    NullRecorder,
    PlannedEpisode,
    Recorder,
    episode_id,
    plan_episodes,
    run_episode,
)
from webagent.rollout.executor import Batcher, StepBudget, collect
from webagent.rollout.world import OpenWorld, PreparingWorld, VisibleWorld, World

__all__ = [
    "INTERRUPTED",
    "Batcher",
    "NullRecorder",
    "OpenWorld",
    "PlannedEpisode",
    "PreparingWorld",
    "Recorder",
    "StepBudget",
    "VisibleWorld",
    "World",
    "collect",
    "episode_id",
    "plan_episodes",
    "run_episode",
]
