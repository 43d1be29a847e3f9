"""Playing a stored episode again without a model, on a page that may have changed."""

from webagent.policy.replay.policy import ReplayPolicy
from webagent.policy.replay.steps import ReplayedStep

__all__ = ["ReplayPolicy", "ReplayedStep"]
