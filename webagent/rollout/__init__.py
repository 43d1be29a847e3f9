"""How episodes are played: the central loop, many of them at once, and what keeps them."""

from webagent.rollout.episode import Planned, Recorder, Unrecorded, episode_id, planned, run_episode
from webagent.rollout.executor import INTERRUPTED, Batcher, collect
from webagent.rollout.world import OpenWorld, Preparing, TimedWorld, World

__all__ = [
    "INTERRUPTED",
    "Batcher",
    "OpenWorld",
    "Planned",
    "Preparing",
    "Recorder",
    "TimedWorld",
    "Unrecorded",
    "World",
    "collect",
    "episode_id",
    "planned",
    "run_episode",
]
