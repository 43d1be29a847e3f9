"""Oracles: scripts that show how tasks are done, from what the agent itself can see."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from benchmarks.catalogue import Registry, import_parts
from webagent.action import Action, Answer
from webagent.action.actions import Click, Fill, Wait
from webagent.errors import PolicyError, unknown_name
from webagent.policy.policy import propose_certain
from webagent.records import Decision, Node, Observation, Trajectory

ORDINALS = {"1st": 0, "2nd": 1, "3rd": 2}
"""Places as goals name them, counted from 0."""


@dataclass(frozen=True, slots=True)
class View:
    """An episode so far, with the questions that oracles ask of it."""

    goal: str
    page: Observation
    past: tuple[Observation, ...] = ()
    """The earlier observations, oldest first."""
    done: tuple[Action, ...] = ()
    """The action taken on each of them."""

    @classmethod
    def of(cls, trajectory: Trajectory, observation: Observation) -> "View":
        """Return the view of an episode under way."""
        return cls(
            goal=observation.goal or trajectory.goal,
            page=observation,
            past=tuple(step.observation for step in trajectory.steps),
            done=tuple(step.decision.action for step in trajectory.steps),
        )

    @property
    def start(self) -> "View":
        """The same episode as it looked before the first action."""
        return View(self.goal, self.past[0]) if self.past else self

    @property
    def steps(self) -> list[tuple[Observation, Action, Observation]]:
        """What was seen, done and seen then, oldest first."""
        after = (*self.past[1:], self.page)
        return list(zip(self.past, self.done, after, strict=False))

    def read(self, pattern: str) -> tuple[str, ...]:
        """Return the groups of a pattern in the goal; a group that took no part is empty.

        Raises `PolicyError` when the goal is not of this form.
        """
        found = re.search(pattern, self.goal)
        if found is None:
            raise PolicyError(f"expected a goal like {pattern!r}, found {self.goal!r}")
        return tuple(group or "" for group in found.groups())

    def read_one(self, pattern: str) -> str:
        """Return the first group of a pattern in the goal."""
        return self.read(pattern)[0]

    def all(self, *roles: str, name: str | None = None, kind: str = "") -> list[Node]:
        """Return the elements with one of these roles, this name and this kind, in page order."""
        return [
            node
            for node in self.page.nodes
            if node.mark
            and (not roles or node.role in roles)
            and (name is None or node.name == name)
            and (not kind or node.kind == kind)
        ]

    def find(self, *roles: str, name: str | None = None, kind: str = "") -> Node:
        """Return the first such element. Raises `PolicyError` when there is none."""
        found = self.all(*roles, name=name, kind=kind)
        if not found:
            wanted = " ".join(filter(None, ["/".join(roles), repr(name) if name else "", kind]))
            raise PolicyError(f"expected an element {wanted or 'of any kind'}, found none")
        return found[0]

    def click(self, *roles: str, name: str | None = None, kind: str = "") -> Click:
        """Click the first such element. Raises `PolicyError` when there is none."""
        return Click(self.find(*roles, name=name, kind=kind).mark)

    def first(self, nodes: Sequence[Node], wanted: str) -> Node:
        """Return the first of some nodes. Raises `PolicyError` with what was wanted if none."""
        if not nodes:
            raise PolicyError(f"expected {wanted}, found none")
        return nodes[0]

    def after(self, node: Node) -> "View":
        """Return the same episode with only the part of the page below a node."""
        return self._with(self.page.nodes[self.page.nodes.index(node) + 1 :])

    def before(self, node: Node) -> "View":
        """Return the same episode with only the part of the page above a node."""
        return self._with(self.page.nodes[: self.page.nodes.index(node)])

    def search(self, pattern: str) -> tuple[str, ...]:
        """Return the groups of a pattern in the first line that has it. Raises `PolicyError`."""
        for node in self.page.nodes:
            if found := re.search(pattern, node.name):
                return tuple(group or "" for group in found.groups())
        raise PolicyError(f"expected a line like {pattern!r}, found none")

    def line_with(self, word: str) -> Node:
        """Return the first line, element or static, that holds a word. Raises `PolicyError`."""
        for node in self.page.nodes:
            if word in node.name.split():
                return node
        raise PolicyError(f"expected a line with {word!r}, found none")

    def next_of(self, *plan: Action) -> Action:
        """The first action of a plan that has not been taken yet; repeats count.

        Raises `PolicyError` when the whole plan has been carried out and the page goes on.
        """
        taken = list(self.done)
        for action in plan:
            if action not in taken:
                return action
            taken.remove(action)
        raise PolicyError(f"the plan of {len(plan)} actions is finished, but the task is not over")

    def _with(self, nodes: Sequence[Node]) -> "View":
        page = Observation(self.page.goal, self.page.url, self.page.title, tuple(nodes))
        return View(self.goal, page, self.past, self.done)


Oracle: TypeAlias = Callable[[View], Action]
"""Chooses the next action; raises `PolicyError` when the view offers none."""

_registered: dict[str, Oracle] = {}


def _load_oracles() -> dict[str, Oracle]:
    import_parts("oracles")
    return _registered


ORACLES: Registry[Oracle] = Registry(_load_oracles)
"""Task name, as `click-test-2`, to its oracle; benchmarks' scripts are imported on first use."""


def oracle(*names: str) -> Callable[[Oracle], Oracle]:
    """Register a function as the oracle of these tasks."""

    def register(function: Oracle) -> Oracle:
        for name in names:
            if name in _registered:
                raise ValueError(f"two oracles for {name}")
            # Also where the table was looked at before a program registers its own.
            ORACLES[name] = _registered[name] = function
        return function

    return register


Script: TypeAlias = Generator[Action, View, Any]
"""Yields actions and is sent what is seen then; returns the answer, or nothing."""
Part: TypeAlias = Generator[Action, View, View]
"""The same for a part of a script; returns what is seen in the end."""
Move: TypeAlias = Callable[[View], Action | None]
"""The next action from what is seen, None where none is needed."""
Moves: TypeAlias = tuple[Move, ...]

_PATIENCE = 3
"""Seconds that a move waits for what it needs: a busy site may be slow."""


def scripted(*names: str) -> Callable[[Callable[[View], Script]], Callable[[View], Script]]:
    """Register a script as the oracle of these tasks.

    An oracle keeps nothing: at each step the script runs again over all that was seen, which leads
    to the same place because a script draws nothing.
    """

    def register(script: Callable[[View], Script]) -> Callable[[View], Script]:
        @oracle(*names)
        def choose(view: View) -> Action:
            seen = [View(view.goal, page) for page in (*view.past, view.page)]
            played = script(seen[0])
            try:
                action = next(played)
                for after in seen[1:]:
                    action = played.send(after)
            except StopIteration as end:
                return Answer(end.value or "")
            return action

        return script

    return register


def play(view: View, *moves: Move) -> Part:
    """Make the moves; one that raises `PolicyError` is tried again on the page a moment later."""
    for move in moves:
        for _ in range(_PATIENCE):
            try:
                action = move(view)
                break
            except PolicyError:
                view = yield Wait(1000)
        else:
            action = move(view)
        if action is not None:
            view = yield action
    return view


def planned(*names: str) -> Callable[[Callable[[View], Moves]], Callable[[View], Moves]]:
    """Register a function that returns all moves at once as the oracle of these tasks."""

    def register(plan: Callable[[View], Moves]) -> Callable[[View], Moves]:
        @scripted(*names)
        def run(view: View) -> Script:
            yield from play(view, *plan(view))

        return plan

    return register


def register_plans(plans: Mapping[str, Callable[..., Moves]]) -> None:
    """Register oracles by task name, each a function of what the goal has in quotation marks."""
    for name, plan in plans.items():

        @planned(name)
        def play_quoted(view: View, plan: Callable[..., Moves] = plan) -> Moves:
            return plan(*quoted(view))


def quoted(view: View) -> list[str]:
    """Return what the goal has between quotation marks, in order."""
    return re.findall(r'"([^"]*)"', view.goal)


def press(name: str, role: str = "link") -> Move:
    """Click the first element of this name and role."""
    return lambda view: view.click(role, name=name)


def push(name: str) -> Move:
    """Click a button."""
    return press(name, "button")


def fill(name: str, text: str) -> Move:
    """Fill the first field of this name."""
    roles = ("textbox", "searchbox", "spinbutton")
    return lambda view: Fill(view.find(*roles, name=name).mark, text)


class OraclePolicy:
    """Plays as the oracle of one task, or of whichever task is played; one that was made from a
    template's task as that one's oracle. Raises `SetupError` for a named task without one."""

    def __init__(self, task: str = "") -> None:
        if task and task not in ORACLES:
            raise unknown_name("oracle", task, ORACLES)
        self._task = task

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the oracle's action. Raises `PolicyError` without one, or with nothing to do."""
        played = trajectory.task
        name = self._task or played.name
        if name not in ORACLES and played.parent:
            name = played.parent.rsplit("/", 1)[-1].split("@", 1)[0]
        if name not in ORACLES:
            raise PolicyError(f"no oracle exists for {name}")
        try:
            action = ORACLES[name](View.of(trajectory, observation))
        # A script that takes the next of nothing ends as a RuntimeError, as generators have it.
        except (LookupError, StopIteration, RuntimeError, ValueError) as error:
            raise PolicyError(f"the oracle of {name} failed: {error!r}") from error
        return Decision(action, source="demonstration")

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the one action an oracle knows."""
        return propose_certain(await self.act(trajectory, observation), n)
