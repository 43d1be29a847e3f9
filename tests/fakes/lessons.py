"""Small made-up pages with what is right to do on them."""

import random

from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.records import Decision, Ending, Node, Observation, Provenance, Step, Trajectory

WORDS = (
    *("alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta", "iota", "kappa", "lam"),
    *("mu", "nu", "xi", "omi", "pi", "rho", "sigma", "tau", "ups", "phi", "chi", "psi", "omega"),
)
FIELD = 20
"""Mark of the text field; the marks below it are buttons and links."""


def node(mark: int, role: str, name: str, **fields: object) -> Node:
    """A line of a page, below the one with the mark before."""
    kind = {"textbox": "input:text", "checkbox": "input:checkbox", "text": ""}.get(role, role)
    return Node(mark, role, name, kind=kind, box=(0, 20 * mark, 50, 18), **fields)  # type: ignore[arg-type]


def page(goal: str, *nodes: Node, **fields: object) -> Observation:
    """An observation of these lines."""
    return Observation(goal, "file:///page.html", "Page", nodes, **fields)  # type: ignore[arg-type]


def lesson(dice: random.Random) -> tuple[Observation, Action]:
    """A page whose goal asks for a click or for two words to be typed, and the right action."""
    names = dice.sample(WORDS, 8)
    nodes = [node(i, dice.choice(["button", "link"]), name) for i, name in enumerate(names, 1)]
    nodes.append(node(FIELD, "textbox", "name"))
    if dice.random() < 0.5:
        wanted = dice.choice(names)
        return page(f'Click on "{wanted}".', *nodes), Click(names.index(wanted) + 1)
    text = " ".join(dice.sample(WORDS, 2))
    return page(f'Type "{text}" into the field.', *nodes), Fill(FIELD, text)


def task(name: str = "lesson", seed: int = 0) -> Task:
    """A task of that name without a page of its own."""
    return Task(f"fake/{name}@1", "file:///page.html", seed=seed, viewport=(160, 210))


def episode(
    *turns: tuple[Observation, Action],
    last: Observation | None = None,
    id: str = "e",
    name: str = "lesson",
    **provenance: object,
) -> Trajectory:
    """A finished trajectory of these turns."""
    steps = tuple(Step(seen, Decision(done, source="demonstration")) for seen, done in turns)
    origin = Provenance(**provenance)  # type: ignore[arg-type]
    return Trajectory(
        id, task(name), steps=steps, last=last, ending=Ending.TASK_OVER, provenance=origin
    )


def demonstrations(count: int, seed: int = 0) -> list[Trajectory]:
    """So many episodes of one lesson each."""
    dice = random.Random(seed)
    return [episode(lesson(dice), id=str(i)) for i in range(count)]
