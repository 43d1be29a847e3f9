"""Small made-up pages with what is right to do on them, for models that learn within seconds."""

import random
from collections.abc import Sequence
from functools import cache

import torch

from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import PrefixLMConfig
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.records import Decision, Ending, Node, Observation, Provenance, Step, Trajectory
from webagent.training.fit import FitConfig, fit
from webagent.training.rows import grow_vocabulary, make_policy_rows

torch.set_num_threads(1)  # others use the machine too, and one thread gives the same sums always

WORDS = (
    *("alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta", "iota", "kappa", "lam"),
    *("mu", "nu", "xi", "omi", "pi", "rho", "sigma", "tau", "ups", "phi", "chi", "psi", "omega"),
)
FIELD = 20
"""Mark of the text field; the marks below it are buttons and links."""
SMALL = {"width": 64, "depth": 2, "heads": 2, "dropout": 0.0}


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


def untrained(episodes: Sequence[Trajectory] | None = None, seed: int = 0) -> BuiltinModel:
    """A small model that has read these episodes' words and learnt nothing."""
    model = BuiltinModel.create(seed, PrefixLMConfig(capacity=512, **SMALL))  # type: ignore[arg-type]
    grow_vocabulary(model.vocabulary, demonstrations(60) if episodes is None else episodes)
    return model


@cache
def trained() -> BuiltinModel:
    """A small model that has learnt the lessons; shared, so only to be read."""
    episodes = demonstrations(400)
    model = untrained(episodes)
    grammar = ActionGrammar(Codec(model.vocabulary))
    rows = [row for each in episodes for row in make_policy_rows(grammar, each)]
    fit(model.network, rows, FitConfig(tokens=120_000, learning_rate=3e-3, batch_tokens=800))
    return model
