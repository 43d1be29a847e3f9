"""Stand-ins for tests: a small deterministic world and a policy that follows a script."""

from tests.fakes.policy import ScriptedPolicy, oracle
from tests.fakes.world import FakeWorld, fake_plan, fake_task

__all__ = ["FakeWorld", "ScriptedPolicy", "fake_plan", "fake_task", "oracle"]
