"""Rules for all pages: the effects of typing, selecting and ticking, and what ends an episode."""

from dataclasses import replace

from webagent.action.actions import Answer, Check, Clear, Fill, GiveUp, SelectOption, Uncheck
from webagent.memory.scene import mark_of
from webagent.records import Ending, Node, Observation
from worldmodel.prediction import Effect, Outcome, Prediction, Source
from worldmodel.transitions import Situation

RULED = (Fill, Clear, SelectOption, Check, Uncheck)
"""Actions whose effect on their own element is always the same."""


def apply_rules(situation: Situation) -> Prediction | None:
    """Return the outcome that holds on every page; None if there is none."""
    page, action = situation.observation, situation.action
    if isinstance(action, Answer | GiveUp):
        ending = Ending.ANSWERED if isinstance(action, Answer) else Ending.GAVE_UP
        because = "an answer ends the episode" if ending is Ending.ANSWERED else "giving up ends it"
        outcome = Outcome(1.0, 0.0, 0.5)
        return Prediction(page, outcome, Effect.ENDS, ending, 1.0, Source.RULED, because)
    mark = mark_of(action, page)
    if mark > 0:
        node = page.node(mark)
        if node is None:
            return _idle(page, f"there is no element {mark}")
        if "disabled" in node.states:
            return _idle(page, f"element {mark} is disabled")
    return None


def limit_steps(situation: Situation, prediction: Prediction) -> Prediction:
    """Return the prediction, ended if the step was the last one allowed."""
    is_last = 0 < situation.max_steps <= len(situation.steps) + 1
    if not is_last or prediction.effect is Effect.ENDS:
        return prediction
    outcome = replace(prediction.outcome, ends=1.0, nothing=0.0)
    return replace(prediction, outcome=outcome, effect=Effect.ENDS, ending=Ending.STEP_LIMIT)


def touch(page: Observation, situation: Situation) -> Observation:
    """Return the page with the action's effect on its own element, as far as rules determine it."""
    action = situation.action
    if not isinstance(action, RULED):
        return page
    place = next((i for i, node in enumerate(page.nodes) if node.mark == action.mark), None)
    if place is None:
        return page
    nodes = list(page.nodes)
    node = nodes[place]
    match action:
        case Fill(text=text):
            nodes[place] = replace(node, value=text)
        case Clear():
            nodes[place] = replace(node, value="")
        case Check():
            nodes[place] = _with_state(node, "unchecked", "checked")
        case Uncheck():
            nodes[place] = _with_state(node, "checked", "unchecked")
        case SelectOption(option=option):
            nodes[place] = replace(node, value=option) if node.value else node
            for i in range(place + 1, len(nodes)):
                if nodes[i].role != "option":
                    break
                nodes[i] = _with_state(
                    nodes[i], "selected", *["selected"] * (nodes[i].name == option)
                )
    return replace(page, nodes=tuple(nodes))


def _with_state(node: Node, gone: str, *come: str) -> Node:
    return replace(node, states=(*(state for state in node.states if state != gone), *come))


def _idle(page: Observation, reason: str) -> Prediction:
    page = replace(page, outcome=reason)
    return Prediction(page, Outcome(0.0, 1.0, 0.5), Effect.STAYS, None, 1.0, Source.RULED, reason)
