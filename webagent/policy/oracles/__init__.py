"""Oracles: scripts that show how tasks are done, from what the agent itself can see."""

from importlib import import_module

from webagent.policy.oracles.policy import OraclePolicy
from webagent.policy.oracles.registry import ORACLES, Oracle, oracle
from webagent.policy.oracles.view import View

__all__ = ["ORACLES", "Oracle", "OraclePolicy", "View", "oracle"]

_FAMILIES = (
    *("booking", "buttons", "choices", "dragging", "email", "exploring", "feeds"),
    *("forms", "games", "geometry", "reading", "shapes", "sliders", "writing"),
    *("fossil_questions", "fossil_setup", "fossil_tickets", "fossil_wiki"),
    *("oscar_account", "oscar_basket", "oscar_dashboard", "oscar_infeasible", "oscar_lookups"),
)

for _family in _FAMILIES:  # importing a module registers its oracles
    import_module(f"{__name__}.{_family}")
