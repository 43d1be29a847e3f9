"""Stand-ins for tests: a small deterministic world and a policy that follows a script."""

from perf.fakes.policy import ScriptedPolicy, oracle
from perf.fakes.world import FakeWorld, fake_plan, fake_task

__all__ = ["FakeWorld", "ScriptedPolicy", "fake_plan", "fake_task", "oracle"]
