"""Playing a stored episode again without a model, on a page that may have changed."""

from webagent.policy.replay.account import Account
from webagent.policy.replay.policy import ReplayPolicy

__all__ = ["Account", "ReplayPolicy"]
