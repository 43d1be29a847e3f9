"""`webagent collect`: a policy plays tasks, and its episodes are kept to learn from."""

from recipes.collect.recipe import main
from recipes.collect.settings import CollectConfig

__all__ = ["CollectConfig", "main"]
