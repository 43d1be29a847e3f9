"""What a model keeps for itself in its thoughts: a tree of plans, and notes for earlier turns.

Plans after "AgentOccam: A Simple Yet Strong Baseline for LLM-Based Web Agents" (Yang et al. 2024,
arXiv 2410.13825), section on planning via generation: `branch` divides a plan, `prune` goes back to
an earlier one, and what was done under pruned plans leaves the history. There each is an action
that takes a turn; here it stands beside an action and costs none. Only the thoughts of a trajectory
hold the plans, so nothing else has to be kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from webagent.errors import ActionError
from webagent.models.prompt import load_prompt, shorten
from webagent.records import Trajectory

PLAN_PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "plan.md")
_COMMAND = (
    r"(branch|prune)\(\s{0,3}(\d{1,4})\s{0,3},"
    r"(\s{0,3}\"[^\"\n]{0,999}\"\s{0,3}|\s{0,3}'[^'\n]{0,999}'\s{0,3}|[^)\n]{0,999})\)"
)
_ONE_COMMAND = re.compile(_COMMAND, re.IGNORECASE)
_COMMANDS = re.compile(
    rf"[*_]{{0,4}}\bplan[*_]{{0,4}}:[*_`\s]{{0,4}}(?:{_COMMAND}[`,;\s]{{0,4}})+", re.IGNORECASE
)
"""Every repetition is bounded: what a model wrote may be made to be slow to search."""
_MAX_PLAN = 200
"""Characters of a plan."""
_MAX_PLANS = 60
"""Plans; further ones are refused, so that the tree stays short."""
NOTES_PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "notes.md")
_LABEL = r"[ \t>#*_-]{0,8}"
_NOTES = re.compile(
    rf"(?:^{_LABEL}(?i:notes)|[*_]{{0,4}}\bNotes)[*_]{{0,4}}:[*_]{{0,4}}(.*?)"
    rf"(?=^{_LABEL}(?i:thought|plan|notes|action)[*_]{{0,4}}:"
    r"|[*_]{0,4}\b(?:Plan|Notes)[*_]{0,4}:|\Z)",
    re.MULTILINE | re.DOTALL,
)
_MAX_NOTES = 2000
"""Characters of notes."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One plan."""

    intent: str
    parent: int = -1
    given_up: str = ""
    """Why it was pruned; empty while it is not."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The tree as it is after some turns."""

    branches: tuple[Branch, ...] = (Branch("the task"),)
    active: int = 0
    worked_on: tuple[int, ...] = ()
    """For each turn so far the plan it belonged to."""
    objections: tuple[str, ...] = field(default=(), compare=False)
    """What was wrong with commands that were passed over."""

    def after(self, thought: str) -> "Plan":
        """Return the tree once the commands of a thought are done; impossible ones are noted."""
        plan = replace(self, objections=())
        commands = "\n".join(match[0] for match in _COMMANDS.finditer(thought))
        for verb, number, text in _ONE_COMMAND.findall(commands):
            words = shorten(text.strip().strip("\"'"), _MAX_PLAN)
            try:
                plan = plan._carry_out(int(number), words, verb.lower())
            except ActionError as error:
                plan = replace(plan, objections=(*plan.objections, str(error)))
        return plan

    def is_given_up(self, number: int) -> bool:
        """Whether the plan or one that it serves was pruned."""
        while number >= 0:
            if self.branches[number].given_up:
                return True
            number = self.branches[number].parent
        return False

    def tree(self) -> str:
        """Return the plans as indented lines."""

        def write(number: int, depth: int) -> Iterator[str]:
            branch = self.branches[number]
            end = f" (given up: {branch.given_up})" if branch.given_up else ""
            yield f"{'  ' * depth}{number}. {branch.intent}{end}"
            if not branch.given_up:
                for child, other in enumerate(self.branches):
                    if other.parent == number:
                        yield from write(child, depth + 1)

        return "\n".join(write(0, 0))

    def _carry_out(self, number: int, words: str, verb: str) -> "Plan":
        """Carry out one command. Raises `ActionError` where it cannot be."""
        if number >= len(self.branches) or self.is_given_up(number):
            known = [str(n) for n in range(len(self.branches)) if not self.is_given_up(n)]
            raise ActionError(f"no plan {number} to {verb} from; the plans are {', '.join(known)}")
        if verb == "branch":
            if len(self.branches) >= _MAX_PLANS:
                raise ActionError(f"there are {_MAX_PLANS} plans already; go on with one of them")
            new = Branch(words or "(no words)", number)
            return replace(self, branches=(*self.branches, new), active=len(self.branches))
        why = words or "no reason given"
        kept = self._path(number)
        dropped = [plan for plan in self._path(self.active) if plan not in kept]
        if not dropped:
            raise ActionError(f"nothing to prune: plan {self.active} serves no plan below {number}")
        top = dropped[-1]
        given_up = replace(self.branches[top], given_up=why)
        branches = (*self.branches[:top], given_up, *self.branches[top + 1 :])
        return replace(self, branches=branches, active=number)

    def _path(self, number: int) -> list[int]:
        """Return the plan and those it serves."""
        path = []
        while number >= 0:
            path.append(number)
            number = self.branches[number].parent
        return path


def build_plan(trajectory: Trajectory) -> Plan:
    """Return the tree after the turns so far."""
    plan = Plan()
    for step in trajectory.steps:
        plan = plan.after(step.decision.thought)
        plan = replace(plan, worked_on=(*plan.worked_on, plan.active))
    return plan


def remove_plans(thought: str) -> str:
    """Return the thought without its commands."""
    return _COMMANDS.sub("", thought).strip()


def extract_notes(thought: str) -> str:
    """Return the notes in a thought, on one line; empty where there are none."""
    found = _NOTES.findall(thought)
    return shorten(found[-1], _MAX_NOTES) if found else ""


def remove_notes(thought: str) -> str:
    """Return the thought without its notes."""
    return _NOTES.sub("", thought).strip()


def find_last_notes(trajectory: Trajectory) -> tuple[str, int]:
    """Return the latest notes and how many turns came before they were written."""
    for place in range(len(trajectory.steps) - 1, -1, -1):
        if notes := extract_notes(trajectory.steps[place].decision.thought):
            return notes, place
    return "", 0
