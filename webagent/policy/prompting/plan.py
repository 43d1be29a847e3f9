"""A tree of plans that a model branches and prunes while it acts.

After "AgentOccam: A Simple Yet Strong Baseline for LLM-Based Web Agents" (Yang et al. 2024, arXiv
2410.13825), section on planning via generation: `branch` divides a plan, `prune` goes back to an
earlier one, and what was done under pruned plans leaves the history. There each is an action that
takes a turn; here it stands beside an action and costs none. Only the thoughts of a trajectory
hold the plans, so nothing else has to be kept.
"""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from webagent.errors import ActionError
from webagent.models.prompt import load_prompt
from webagent.policy.prompting.wording import line
from webagent.records import Trajectory

PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "plan.md")
_COMMAND = (
    r"(branch|prune)\(\s{0,3}(\d{1,4})\s{0,3},"
    r"(\s{0,3}\"[^\"\n]{0,999}\"\s{0,3}|\s{0,3}'[^'\n]{0,999}'\s{0,3}|[^)\n]{0,999})\)"
)
_PARTS = re.compile(_COMMAND, re.IGNORECASE)
_SAID = re.compile(
    rf"[*_]{{0,4}}\bplan[*_]{{0,4}}:[*_`\s]{{0,4}}(?:{_COMMAND}[`,;\s]{{0,4}})+", re.IGNORECASE
)
"""Every repetition is bounded: what a model wrote may be made to be slow to search."""
_LONGEST = 200
_MOST = 60
"""Plans; further ones are refused, so that the tree stays short."""


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
        """The tree once the commands of a thought are carried out; impossible ones are noted."""
        plan = replace(self, objections=())
        said = "\n".join(match[0] for match in _SAID.finditer(thought))
        for verb, number, text in _PARTS.findall(said):
            words = line(text.strip().strip("\"'"), _LONGEST)
            try:
                plan = plan._branched(int(number), words, verb.lower())
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
        """The plans as indented lines."""
        lines: list[str] = []
        self._write(0, 0, lines)
        return "\n".join(lines)

    def _branched(self, number: int, words: str, verb: str) -> "Plan":
        """One command carried out. Raises `ActionError` where it cannot be."""
        if number >= len(self.branches) or self.is_given_up(number):
            raise ActionError(
                f"no plan {number} to {verb} from; the plans are"
                f" {', '.join(str(n) for n in self._open())}"
            )
        if verb == "branch":
            if len(self.branches) >= _MOST:
                raise ActionError(f"there are {_MOST} plans already; go on with one of them")
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

    def _open(self) -> list[int]:
        return [n for n in range(len(self.branches)) if not self.is_given_up(n)]

    def _path(self, number: int) -> list[int]:
        """The plan and those it serves."""
        path = []
        while number >= 0:
            path.append(number)
            number = self.branches[number].parent
        return path

    def _write(self, number: int, depth: int, lines: list[str]) -> None:
        branch = self.branches[number]
        end = f" (given up: {branch.given_up})" if branch.given_up else ""
        lines.append(f"{'  ' * depth}{number}. {branch.intent}{end}")
        if not branch.given_up:
            for child, other in enumerate(self.branches):
                if other.parent == number:
                    self._write(child, depth + 1, lines)


def plan_of(trajectory: Trajectory) -> Plan:
    """The tree after the turns so far."""
    plan = Plan()
    for step in trajectory.steps:
        plan = plan.after(step.decision.thought)
        plan = replace(plan, worked_on=(*plan.worked_on, plan.active))
    return plan


def without_plans(thought: str) -> str:
    """The thought without its commands."""
    return _SAID.sub("", thought).strip()
