"""What a prompt holds and what is asked beside it, one switch for each part."""

from webagent.policy.prompting.settings import Prompting, Switch, switch_on

__all__ = ["Prompting", "Switch", "switch_on"]
