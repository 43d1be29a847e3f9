"""The compatibility mode: agents written for BrowserGym 0.14 play in this browser unchanged."""

from apps.environment.browsergym.env import BrowserGymEnv

__all__ = ["BrowserGymEnv"]
