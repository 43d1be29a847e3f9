"""Doing tasks: an agent, its events while it works, and what came of it."""

from webagent.agent.actor import Acting
from webagent.agent.agent import Agent
from webagent.agent.answer_form import Schema
from webagent.agent.asking import Asking
from webagent.agent.events import Began, Decided, Done, Event, Listen
from webagent.agent.result import Cost, Result
from webagent.agent.stop import Stop

__all__ = [
    "Acting",
    "Agent",
    "Asking",
    "Began",
    "Cost",
    "Decided",
    "Done",
    "Event",
    "Listen",
    "Result",
    "Schema",
    "Stop",
]
