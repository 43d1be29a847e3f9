"""How episodes are played: the central loop, many of them at once, and what keeps them."""

from webagent.rollout.batching import Batcher
from webagent.rollout.episode import run_episode
from webagent.rollout.executor import INTERRUPTED, collect
from webagent.rollout.plan import Planned, episode_id, planned
from webagent.rollout.recorder import Recorder, Unrecorded
from webagent.rollout.seat import OpenWorld, Preparing
from webagent.rollout.timed import TimedWorld
from webagent.rollout.world import World

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
