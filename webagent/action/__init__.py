"""What an agent can do to a page, as plain values with one text form."""

from webagent.action.actions import ACTIONS, ESSENTIAL, Action, Answer, GiveUp, Wait, is_final
from webagent.action.custom import custom_action
from webagent.action.grammar import describe, format_action, make_action, parse_action, usage

__all__ = [
    "ACTIONS",
    "ESSENTIAL",
    "Action",
    "Answer",
    "GiveUp",
    "Wait",
    "custom_action",
    "describe",
    "format_action",
    "is_final",
    "make_action",
    "parse_action",
    "usage",
]
