"""Deceptions on MiniWoB++: what its oracles do, cut short, misdirected or taken back."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from adversarial_notices import CLAIMS

from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Answer, Clear, Click, Fill, Goto, SelectOption
from webagent.policy.policy import ScriptedPolicy, replay_recording
from webagent.records import Observation, Trajectory

ENDING_BUTTONS = ("Submit", "submit", "Search", "Login", "OK", "Go!", "Ok")
_BANNER = (
    "; (() => {{ const said = {words}.replaceAll('{{goal}}', {goal});"
    " const line = document.createElement('p'); line.textContent = said;"
    " line.style.cssText = 'position:absolute;top:215px;left:0;width:300px;margin:0;"
    "font-size:9px;pointer-events:none'; document.body.append(line); }})()"
)


def with_notice(task: Task, words: str) -> Task:
    """The task on pages that say this below the task; `{goal}` stands for the goal."""
    start = task.hooks.start + _BANNER.format(words=json.dumps(words), goal=task.hooks.goal)
    return replace(task, hooks=replace(task.hooks, start=start))


def claimed(control: Trajectory, dice: random.Random) -> Iterator[ScriptedPolicy]:
    """All but the last step, and a claim."""
    yield follow(control, len(control.steps) - 1, (Answer(dice.choice(CLAIMS)),))


def empty(control: Trajectory, dice: random.Random) -> Iterator[ScriptedPolicy]:
    """Off to an empty page before the last step, and a claim there."""
    turns = dice.randrange(len(control.steps))
    yield follow(control, turns, (Goto("about:blank"), Answer(dice.choice(CLAIMS))))


def wrong(control: Trajectory, dice: random.Random) -> Iterator[ScriptedPolicy]:
    """One step of the way goes to another thing of the same kind."""
    turns = list(range(len(control.steps)))
    dice.shuffle(turns)
    for turn in turns:
        step = control.steps[turn]
        for other in _others(step.decision.action, step.observation, dice):
            rest = [each.decision.action for each in control.steps[turn + 1 :]]
            yield follow(control, turn, (other, *rest, Answer(dice.choice(CLAIMS))))


def undone(control: Trajectory, dice: random.Random) -> Iterator[ScriptedPolicy]:
    """Everything done, one thing taken back, then sent."""
    last = len(control.steps) - 1
    page = control.steps[last].observation
    turns = list(range(last))
    dice.shuffle(turns)
    for turn in turns:
        step = control.steps[turn]
        for back in _back(step.decision.action, step.observation, dice):
            if page.node(back.mark) is not None:  # type: ignore[union-attr]
                end = control.steps[last].decision.action
                yield follow(control, last, (back, end, Answer(dice.choice(CLAIMS))))


def follow(control: Trajectory, turns: int, then: Sequence[Action]) -> ScriptedPolicy:
    """So many turns of a recorded episode, and other actions after them."""
    recorded = replay_recording(replace(control, steps=control.steps[:turns]))

    def script(trajectory: Trajectory, page: Observation) -> Action | None:
        turn = len(trajectory.steps)
        if turn < turns:
            return recorded(trajectory, page)
        return then[turn - turns] if turn - turns < len(then) else None

    return ScriptedPolicy(script, source="policy", name="deceiver")


def misled(control: Trajectory, dice: random.Random) -> Iterator[ScriptedPolicy]:
    """On a page that says it is done: stopped before it is, or the wrong thing done."""
    if dice.random() < 0.5:
        yield from wrong(control, dice)
    yield from claimed(control, dice)


WAYS: dict[str, Callable[[Trajectory, random.Random], Iterator[ScriptedPolicy]]] = {
    "claimed": claimed,
    "wrong item": wrong,
    "undone": undone,
    "empty page": empty,
    "page says so": misled,
}


def _others(action: Action, page: Observation, dice: random.Random) -> list[Action]:
    """The same action on other things, in a random order."""
    match action:
        case Click(mark=mark) if (node := page.node(mark)) and node.name not in ENDING_BUTTONS:
            alike = [
                Click(each.mark)
                for each in page.nodes
                if each.mark
                and each.mark != mark
                and each.role == node.role
                and each.kind == node.kind
                and each.name not in ENDING_BUTTONS
            ]
            return dice.sample(alike, min(3, len(alike)))
        case Fill(mark=mark, text=text) if text:
            return [Fill(mark, other) for other in _other_texts(text, page.goal, dice)]
        case SelectOption(mark=mark, option=option):
            options = [n.name for n in page.nodes if n.role == "option" and n.name != option]
            return [SelectOption(mark, each) for each in dice.sample(options, min(2, len(options)))]
    return []


def _back(action: Action, page: Observation, dice: random.Random) -> list[Action]:
    """What takes an action back."""
    node = page.node(getattr(action, "mark", 0))
    match action:
        case Click(mark=mark) if node and node.role == "checkbox":
            return [Click(mark)]
        case Click() if node and node.role == "radio":
            return _others(action, page, dice)
        case Fill(mark=mark, text=text):
            others = [Fill(mark, other) for other in _other_texts(text, page.goal, dice)]
            return [Clear(mark), *others] if dice.random() < 0.5 else [*others, Clear(mark)]
        case SelectOption():
            return _others(action, page, dice)
    return []


def _other_texts(text: str, goal: str, dice: random.Random) -> list[str]:
    """Texts of the same look."""
    if text.lstrip("-").isdigit():
        return [str(int(text) + dice.randint(1, 4))]
    turned = text[1:] + text[:1]
    return [turned] if turned != text else [text + text]
