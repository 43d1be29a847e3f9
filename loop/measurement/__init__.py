"""`webagent benchmark`: one policy measured on held-out tasks, beside what takes no skill."""

from loop.measurement.settings import BenchmarkConfig

__all__ = ["BenchmarkConfig"]
