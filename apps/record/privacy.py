"""Keeping what was typed into fields for secrets out of everything that is stored."""

from collections.abc import Mapping, Set
from dataclasses import fields, replace
from typing import Any

from webagent.action import Action
from webagent.guard.secret import SHORTEST, Secrets, placeholder
from webagent.records import Node, Observation

UNKNOWN = "•••"
"""Stands in a field for a secret that was not typed whole, or by nobody."""
_SECRET_KIND = "input:password"


def private(page: Observation, secrets: Mapping[str, str], marks: Set[int]) -> Observation:
    """The observation without the secrets, whose names are given by value; with no picture where
    one of them stands outside its field. `marks` are of fields that hold secrets."""
    hidden = replace(page, nodes=tuple(_hidden(node, secrets, marks) for node in page.nodes))
    masked = _masking(secrets).masked_page(hidden)
    return masked if masked == hidden else replace(masked, screenshot="", captured="")


def private_action(action: Action, secrets: Mapping[str, str]) -> Action:
    """The action without the secrets in its texts."""
    masking, changes = _masking(secrets), dict[str, Any]()
    for each in fields(action):
        value = getattr(action, each.name)
        if isinstance(value, str):
            changes[each.name] = masking.masked(value)
    return replace(action, **changes)


def _hidden(node: Node, secrets: Mapping[str, str], marks: Set[int]) -> Node:
    if not node.value or (node.kind != _SECRET_KIND and node.mark not in marks):
        return node
    name = secrets.get(node.value)
    return replace(node, value=placeholder(name) if name else UNKNOWN)


def _masking(secrets: Mapping[str, str]) -> Secrets:
    return Secrets({name: value for value, name in secrets.items() if len(value) >= SHORTEST})
