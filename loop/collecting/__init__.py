"""`webagent collect`: a policy plays tasks, and its episodes are kept to learn from."""

from loop.collecting.settings import CollectConfig

__all__ = ["CollectConfig"]
