"""The compatibility mode: agents written for BrowserGym 0.14 play in this browser unchanged."""

from recipes.environment.browsergym.env import BrowserGymEnv

__all__ = ["BrowserGymEnv"]
