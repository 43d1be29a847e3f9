"""Asking a person: the question is made from the action, never from what a page says at length."""

import asyncio
from typing import Protocol

from webagent.action import Action, format_action
from webagent.guard.actions import elements_of, shown
from webagent.guard.address import read_address
from webagent.records import Observation
from webagent.timing import uncounted


class Approve(Protocol):
    """A person who can be asked, or who stands in for one."""

    async def approve(self, question: str) -> bool:
        """Whether the action may be done."""
        ...


async def is_approved(approver: Approve | None, question: str, seconds: float) -> bool:
    """The answer; no where there is nobody to ask, or no answer in time."""
    if approver is None:
        return False
    try:
        with uncounted():
            async with asyncio.timeout(seconds):
                return await approver.approve(question)
    except TimeoutError:
        return False


def question_for(action: Action, seen: Observation, reason: str) -> str:
    """What a person is asked, on lines of their own; words of the page are quoted and short."""
    lines = [
        f"May the agent do {shown(format_action(action), 120)}?",
        f"Site: {_origin(seen.url)}",
        *(
            f"Element {node.mark}: {node.role}, called by the page {shown(node.name)}"
            for node in elements_of(action, seen)[:3]
        ),
        f"Rule: {reason}",
    ]
    return "\n".join(lines)


def _origin(url: str) -> str:
    try:
        address = read_address(url)
    except ValueError:
        return "none"
    return shown(address.origin if address.host else f"{address.scheme}:", 120)
