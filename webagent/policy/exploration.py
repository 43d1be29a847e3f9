"""Exploration: how far a policy strays from its own best guess while it collects experience."""

import hashlib
import re
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from webagent.action import Action
from webagent.action.actions import Click, Fill, SelectOption
from webagent.records import Observation, Trajectory

_TYPED = ("textbox", "searchbox", "spinbutton")
_QUOTED = re.compile(r"[\"“]([^\"”]+)[\"”]")


@dataclass(frozen=True, slots=True)
class Exploration:
    """Tempered sampling, now and then replaced by a random action."""

    temperature: float = 1.3
    random_share: float = 0.3
    """Share of steps that are random actions."""
    match_share: float = 0.5
    """Share of random actions that go to elements sharing a word with the goal."""
    where_failed: bool = False
    """Whether a task that memory has examples of is explored only after its latest try failed."""


def random_action(
    observation: Observation, rng: np.random.Generator, match_share: float
) -> Action | None:
    """Return a plausible random action: a click, a piece of the goal typed, an option selected.

    None when nothing on the page can be acted on.
    """
    nodes = [
        n for n in observation.nodes if n.mark and n.role != "option" and "disabled" not in n.states
    ]
    if not nodes:
        return None
    words = {w for w in re.findall(r"\w+", observation.goal.lower()) if len(w) > 1}
    matching = [n for n in nodes if words & set(re.findall(r"\w+", n.name.lower()))]
    pool = matching if matching and rng.random() < match_share else nodes
    node = pool[int(rng.integers(len(pool)))]
    if node.kind.startswith("select"):
        behind = observation.nodes[observation.nodes.index(node) + 1 :]
        options = list(takewhile(lambda child: child.role == "option", behind))
        if not options:
            return Click(node.mark)
        return SelectOption(node.mark, options[int(rng.integers(len(options)))].name)
    if node.role in _TYPED or (node.role == "combobox" and node.kind.startswith("input")):
        pieces = _QUOTED.findall(observation.goal) or re.findall(r"\w[\w./@-]*", observation.goal)
        text = str(pieces[int(rng.integers(len(pieces)))]) if pieces else ""
        return Fill(node.mark, text) if text else Click(node.mark)
    return Click(node.mark)


def episode_rng(trajectory: Trajectory) -> np.random.Generator:
    """Random numbers that depend on which episode and step this is, and on nothing else: an episode
    that a kill cut off is played again as it would have been."""
    key = f"{trajectory.provenance}|{trajectory.task.id}|{trajectory.task.seed}"
    key += f"|{len(trajectory.steps)}"
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest))
