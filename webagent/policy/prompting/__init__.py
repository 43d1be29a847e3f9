"""What a prompt holds and what is asked beside it, one switch for each part."""

from webagent.policy.prompting.settings import Prompting

__all__ = ["Prompting"]
