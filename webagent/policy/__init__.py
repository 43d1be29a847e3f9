"""Whatever chooses the next action: a model, a script, a person's recording."""

from webagent.policy.language import LanguagePolicy
from webagent.policy.policy import Policy
from webagent.policy.scripted import ScriptedPolicy, listed, replay

__all__ = ["LanguagePolicy", "Policy", "ScriptedPolicy", "listed", "replay"]
