"""Stand-ins for worlds, policies, models, sites and servers that tests and measurements play on."""

from tests.fakes.policy import ScriptedPolicy, oracle
from tests.fakes.world import FakeWorld, fake_plan, fake_task

__all__ = ["FakeWorld", "ScriptedPolicy", "fake_plan", "fake_task", "oracle"]
