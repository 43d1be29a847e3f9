"""Variations of demonstrations: the same form with other values, beginnings put together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from loop.proposers.backward import Submitted
from loop.proposers.exploration import plausible_value, words_of
from loop.proposers.explore_pages import field_of, is_typed
from loop.proposers.label import Candidate, Pruning, candidates
from webagent.action import Action, is_final
from webagent.action.actions import Fill, Goto, SelectOption
from webagent.records import Decision, Node, Step, Trajectory


def variations(
    demonstrations: Sequence[Trajectory],
    seed: int = 0,
    each: int = 2,
    pruning: Pruning | None = None,
) -> list[Candidate]:
    """Candidates made of demonstrations: every beginning that describes something new, `each` of
    them with other values, and ones that end with a form sent followed by another.

    None of them has been played: rehearsing says which can be. All begin where the first does.
    """
    pruning = pruning or Pruning()
    found: list[Candidate] = []
    for index, episode in enumerate(demonstrations):
        rng = np.random.default_rng([seed, index])
        told = _without_answer(episode)
        begun = [c for c in candidates(told, pruning, rng) if isinstance(c.deeds[-1], Submitted)]
        for candidate in begun:
            made = [varied(candidate, rng) for _ in range(each)]
            found.extend(other for other in made if other is not None)
        found.extend(begun)
    return [*found, *recombined(found, np.random.default_rng([seed, 1_000]), each)]


def varied(candidate: Candidate, rng: np.random.Generator) -> Candidate | None:
    """The same with other values typed and chosen; None where nothing can be."""
    steps = tuple(_other(step, rng) for step in candidate.steps)
    if steps == candidate.steps:
        return None
    values = {
        _value(old.decision.action): _value(new.decision.action)
        for old, new in zip(candidate.steps, steps, strict=True)
        if old != new
    }
    steps = tuple(_shown(step, values) for step in steps)
    deeds = tuple(_retold(d, values) if isinstance(d, Submitted) else d for d in candidate.deeds)
    return replace(candidate, steps=steps, deeds=deeds, whole=len(steps))


def recombined(found: Sequence[Candidate], rng: np.random.Generator, count: int) -> list[Candidate]:
    """Pairs that begin on the same page, one after the other: the second gone to by its address."""
    made = []
    single = [c for c in found if len(c.deeds) == 1]
    for _ in range(count if len(single) > 1 else 0):
        first, second = (single[int(i)] for i in rng.choice(len(single), 2, replace=False))
        home = second.steps[0].observation.url
        if first.episode.task.start_url != second.episode.task.start_url:
            continue
        back = Step(first.last, Decision(Goto(home), source="demonstration"))
        steps = (*first.steps, back, *second.steps)
        deeds = (*first.deeds, *second.deeds)
        made.append(replace(second, steps=steps, deeds=deeds, whole=len(steps)))
    return made


def _without_answer(episode: Trajectory) -> Trajectory:
    steps = episode.steps
    if steps and is_final(steps[-1].decision.action):
        return replace(episode, steps=steps[:-1], last=steps[-1].observation)
    return episode


def _other(step: Step, rng: np.random.Generator) -> Step:
    """A step that types or chooses something else of the same kind."""
    action, page = step.decision.action, step.observation
    entry = field_of(page, getattr(action, "mark", 0))
    if entry is None:
        return step
    changed: Action = action
    if isinstance(action, Fill) and is_typed(entry.node) and "password" not in entry.node.kind:
        words = words_of([n.name for n in page.nodes if n.role in ("text", "link")])
        changed = Fill(action.mark, plausible_value(entry.label, entry.node.kind, words, rng))
    elif isinstance(action, SelectOption):
        others = [o for o in entry.options if o.strip(" -") and o != action.option]
        if others:
            changed = SelectOption(action.mark, others[int(rng.integers(len(others)))])
    return replace(step, decision=replace(step.decision, action=changed))


def _value(action: Action) -> str:
    match action:
        case Fill(text=text):
            return text
        case SelectOption(option=option):
            return option
    return ""


def _shown(step: Step, values: Mapping[str, str]) -> Step:
    """The page as it would name things by their new values, so that a replay finds them."""
    page = step.observation
    nodes = tuple(
        replace(node, name=values.get(node.name, node.name)) if _is_thing(node) else node
        for node in page.nodes
    )
    return replace(step, observation=replace(page, nodes=nodes))


def _is_thing(node: Node) -> bool:
    return node.role not in ("option", "button", "combobox", "textbox")


def _retold(deed: Submitted, values: Mapping[str, str]) -> Submitted:
    fields = tuple(replace(f, value=values.get(f.value, f.value)) for f in deed.fields)
    return replace(deed, fields=fields, subject=values.get(deed.subject, deed.subject))
