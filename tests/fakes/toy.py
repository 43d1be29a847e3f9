"""A toy world for world models: boxes to tick, a field to type into, a button that ends it."""

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from tests.fakes.lessons import SMALL, WORDS, episode, node, page
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import PrefixLMConfig
from webagent.records import Observation, Trajectory
from webagent.training.fit import FitConfig, fit
from webagent.training.rows import grow_vocabulary
from worldmodel.network import NetworkWorld
from worldmodel.transitions import transitions

BOXES = (1, 2, 3)
TITLE, FIELD, SUBMIT = 4, 5, 6
"""Marks; clicking the title does nothing."""


def toy_page(dice: random.Random) -> Observation:
    """Three boxes of which the goal names one."""
    names = dice.sample(WORDS, 3)
    boxes = [
        node(m, "checkbox", n, states=("unchecked",)) for m, n in zip(BOXES, names, strict=True)
    ]
    rest = [node(TITLE, "heading", "Boxes"), node(FIELD, "textbox", "Note")]
    return page(f'Tick "{dice.choice(names)}".', *boxes, *rest, node(SUBMIT, "button", "Submit"))


def toy_step(seen: Observation, action: Action) -> Observation:
    """What the page does: ticks, types or ends; anything else has no effect."""
    match action:
        case Click(mark=mark) if mark == SUBMIT:
            return replace(seen, over=True, outcome="")
        case Click(mark=mark) if mark in BOXES:
            nodes = [replace(n, states=("checked",)) if n.mark == mark else n for n in seen.nodes]
        case Fill(mark=mark, text=text) if mark == FIELD:
            nodes = [replace(n, value=text) if n.mark == mark else n for n in seen.nodes]
        case _:
            nodes = list(seen.nodes)
    outcome = "" if tuple(nodes) != seen.nodes else "no effect"
    return replace(seen, nodes=tuple(nodes), outcome=outcome)


def toy_episode(dice: random.Random, id: str) -> tuple[Trajectory, float]:
    """An episode of up to three random actions and Submit, with whether it succeeded."""
    seen = toy_page(dice)
    word = seen.goal.split('"')[1]
    turns: list[tuple[Observation, Action]] = []
    others: list[Action] = [Click(TITLE), Fill(FIELD, word)]
    ticks = [Click(dice.choice(BOXES))] if dice.random() < 0.8 else []
    for action in [*dice.sample(others, dice.randint(0, 2)), *ticks]:
        turns.append((seen, action))
        seen = toy_step(seen, action)
    turns.append((seen, Click(SUBMIT)))
    ticked = [n.name for n in seen.nodes if "checked" in n.states]
    return episode(*turns, last=toy_step(seen, Click(SUBMIT)), id=id, name="toy"), float(
        ticked == [word]
    )


def toy_episodes(count: int, seed: int) -> tuple[list[Trajectory], Mapping[str, float]]:
    """So many episodes and their scores."""
    dice = random.Random(seed)
    played = [toy_episode(dice, f"{seed}-{i}") for i in range(count)]
    return [t for t, _ in played], {t.id: score for t, score in played}


def blank_world(episodes: list[Trajectory]) -> NetworkWorld:
    """A world model that has read these episodes' words and learnt nothing."""
    model = BuiltinModel.create(0, PrefixLMConfig(capacity=512, **SMALL))  # type: ignore[arg-type]
    grow_vocabulary(model.vocabulary, episodes)
    return NetworkWorld(model)


@cache
def toy_world() -> NetworkWorld:
    """A world model that has learnt the toy; shared, so only to be read."""
    episodes, scores = toy_episodes(300, seed=1)
    world = blank_world(episodes)
    rows = world.rows(transitions(episodes, dict(scores)))
    config = FitConfig(tokens=330_000, learning_rate=3e-3, batch_tokens=400)
    fit(world.model.network, rows, config)
    return world
