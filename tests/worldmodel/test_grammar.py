"""What the world model writes: transitions as ids and back, and nothing that cannot be read."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.lessons import node, page
from tests.fakes.toy import blank_world, toy_episodes, toy_page
from webagent.action.actions import Click
from webagent.models.builtin.prefix import Prefix
from webagent.records import Node, Observation
from worldmodel.delta import apply
from worldmodel.grammar import MAX_DELTA
from worldmodel.transitions import Situation, Transition, transitions

EPISODES, SCORES = toy_episodes(40, seed=1)
MENU = page("Open", node(1, "button", "Menu", states=("collapsed",)), node(9, "text", "alpha beta"))
OPEN = page(
    "Open",
    node(1, "button", "Menu", states=("expanded",)),
    *(node(2, "menuitem", "alpha"), node(3, "checkbox", "beta", states=("unchecked",))),
    node(0, "text", "Menu beta"),
    node(9, "text", "alpha"),
)
WORLD = blank_world([*EPISODES, *(replace(EPISODES[0], last=each) for each in (MENU, OPEN))])
GRAMMAR = WORLD.grammar


def transition(before: Observation, after: Observation, succeeded: bool = True) -> Transition:
    """What a click came to."""
    return Transition((), before, Click(1), after, succeeded, "menu", "e")


def prompt(t: Transition) -> Prefix:
    """What the network reads before it tells of the transition."""
    return WORLD.prompt(Situation(t.before, t.steps, t.action))


def look(nodes: tuple[Node, ...]) -> list[tuple[object, ...]]:
    """What of the lines is told."""
    return [(n.role, n.kind, n.name, n.value, n.states) for n in nodes]


@pytest.mark.parametrize(
    "told",
    [
        transition(MENU, OPEN),
        transition(OPEN, MENU, False),
        *list(transitions(EPISODES, SCORES))[:30],
    ],
)
def test_a_transition_reads_back_as_it_was(told: Transition) -> None:
    prefix = prompt(told)
    ids = GRAMMAR.encode(told, prefix)
    read = GRAMMAR.decode(ids, prefix, told.before)
    assert (read.ends, read.succeeds) == (told.after.over, told.succeeded)
    assert look(apply(read.edits, told.before)) == look(told.after.nodes)
    assert all(GRAMMAR.allowed(ids[:i], prefix)[token] for i, token in enumerate(ids))
    assert GRAMMAR.slot(ids) == "done"


def test_an_ended_or_unchanged_page_takes_two_ids() -> None:
    ended = transition(MENU, replace(OPEN, over=True))
    same = transition(MENU, MENU)
    assert len(GRAMMAR.encode(ended, prompt(ended))) == len(GRAMMAR.encode(same, prompt(same))) == 2


def test_a_change_too_large_to_tell_is_told_as_far_as_it_fits() -> None:
    names = [f"{a} {b}" for a in ("alpha", "beta") for b in ("Menu", "alpha", "beta")] * 6
    large = page("Open", *(node(i, "link", name) for i, name in enumerate(names, 2)))
    told = transition(MENU, large)
    prefix = prompt(told)
    ids = GRAMMAR.encode(told, prefix)
    assert MAX_DELTA / 2 < len(ids) <= MAX_DELTA
    assert GRAMMAR.slot(ids) == "done"
    assert 5 < len(GRAMMAR.decode(ids, prefix, MENU).edits) < len(names)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([MENU, OPEN, toy_page(random.Random(0)), page("x")])
)
def test_any_walk_through_what_is_allowed_can_be_read(seed: int, seen: Observation) -> None:
    dice = random.Random(seed)
    prefix = prompt(transition(seen, seen))
    ids: list[int] = []
    while GRAMMAR.slot(ids) != "done" and len(ids) < MAX_DELTA:
        ids.append(dice.choice(np.flatnonzero(GRAMMAR.allowed(ids, prefix)).tolist()))
    read = GRAMMAR.decode(ids, prefix, seen)
    lines = apply(read.edits, seen)
    assert all(edit.line < len(seen.nodes) for edit in read.edits)
    for added in (edit.node for edit in read.edits if edit.kind == "add"):
        assert not added.mark or f"{added.role}/{added.kind}" in GRAMMAR.vocabulary.words
    marks = [each.mark for each in lines if each.mark]
    assert len(set(marks)) == len(marks)
