"""`webagent benchmark`: one policy measured on held-out tasks, beside what takes no skill."""

from recipes.benchmark.recipe import main
from recipes.benchmark.settings import BenchmarkConfig

__all__ = ["BenchmarkConfig", "main"]
