"""A toy world for world models: boxes to tick, a field to type into, a button that ends it."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tests.fakes.lessons import WORDS, episode, node, page
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.records import Ending, Observation, Trajectory
from worldmodel.prediction import Effect, Outcome, Prediction, Source
from worldmodel.transitions import Situation, Transition

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


class ToyWorld:
    """A world model that is right about the toy and nearly sure of it. Implements `WorldModel`."""

    def learn(self, transitions: Iterable[Transition]) -> None:
        """Know everything already."""

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return what the toy does next; success is a tick at the box that the goal names."""
        found = []
        for situation in situations:
            before = situation.observation
            page = toy_step(before, situation.action)
            word = before.goal.split('"')[1]
            ticked = [node.name for node in page.nodes if "checked" in node.states]
            outcome = Outcome(
                0.98 if page.over else 0.02,
                0.98 if page.outcome else 0.02,
                0.95 if ticked == [word] else 0.05,
            )
            effect = Effect.ENDS if page.over else Effect.STAYS
            ending = Ending.TASK_OVER if page.over else None
            found.append(Prediction(page, outcome, effect, ending, 0.95, Source.MODELLED))
        return found
