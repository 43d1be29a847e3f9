"""Whatever chooses the next action: a model, a script, a person's recording."""

from webagent.policy.language import LanguagePolicy
from webagent.policy.policy import Policy, ScriptedPolicy, play_actions, replay_recording

__all__ = ["LanguagePolicy", "Policy", "ScriptedPolicy", "play_actions", "replay_recording"]
