"""From a mistake to what was right."""

from dataclasses import replace

import pytest

from tests.fakes.lessons import episode, node, page
from tests.webagent.training.language.episodes import sampled
from webagent.action.actions import Click, GoBack
from webagent.records import Ending, Observation, Trajectory
from webagent.training.language.rows import Encoded
from webagent.training.language.splice import splice

REVISION = "That was wrong."


def place(name: str) -> Observation:
    """A page that looks like no other."""
    return page("Go", node(1, "button", name))


def through(*names: str, id: str, last: str | None = None, policy: bool = False) -> Trajectory:
    """An episode over the pages of these names."""
    turns = [(place(name), Click(1)) for name in names]
    trajectory = episode(*turns, last=place(last) if last else None, id=id)
    steps = tuple(
        replace(
            step,
            decision=sampled((i,), (50 + i,))
            if policy
            else replace(step.decision, thought=f"on {names[i]}"),
        )
        for i, step in enumerate(trajectory.steps)
    )
    return replace(trajectory, steps=steps)


FAILED = through("start", "wrong", "worse", id="f", last="lost", policy=True)
FAILED = replace(FAILED, ending=Ending.STEP_LIMIT)
GOOD = through("start", "right", "goal", id="g", last="done")


def names(trajectory: Trajectory) -> list[str]:
    """The pages in order."""
    return [step.observation.nodes[0].name for step in trajectory.steps]


def written(trajectory: Trajectory, index: int) -> Encoded:
    """The step as its thought and its place."""
    return Encoded((200 + index,), (len(trajectory.steps[index].decision.thought),))


def test_they_are_joined_on_a_page_that_both_had_after_the_error() -> None:
    failed = through("start", "wrong", "right", "worse", id="f", policy=True)
    spliced = splice(failed, GOOD, error=1, revision=REVISION)
    assert spliced is not None and spliced.turn == 2
    made = spliced.trajectory
    assert names(made) == ["start", "wrong", "right", "goal"]
    assert made.steps[:2] == failed.steps[:2]
    assert made.steps[2].decision.thought == f"{REVISION} on right"
    assert made.steps[3].decision.thought == "on goal"
    assert (made.id, made.last, made.ending) == ("f+g", GOOD.last, GOOD.ending)


def test_otherwise_a_step_back_leads_to_the_page_of_the_error() -> None:
    spliced = splice(FAILED, GOOD, error=0, revision=REVISION, back=GoBack())
    assert spliced is not None and spliced.turn == 1
    made = spliced.trajectory
    assert names(made) == ["start", "wrong", "start", "right", "goal"]
    turn = made.steps[1].decision
    assert (turn.action, turn.thought, turn.source) == (GoBack(), REVISION, "demonstration")
    assert made.steps[2].decision.thought == "on start"


def test_without_a_shared_page_or_a_way_back_nothing_is_made_up() -> None:
    assert splice(FAILED, GOOD, error=0, revision=REVISION) is None
    assert splice(FAILED, GOOD, error=1, revision=REVISION, back=GoBack()) is None
    over = replace(FAILED, steps=FAILED.steps[:1], last=replace(place("x"), over=True))
    assert splice(over, GOOD, error=0, revision=REVISION, back=GoBack()) is None
    with pytest.raises(ValueError, match="none of the 3"):
        splice(FAILED, GOOD, error=3, revision=REVISION)


def test_the_error_is_masked_and_the_revision_and_what_follows_are_learnt() -> None:
    failed = through("start", "wrong", "detour", "right", id="f", policy=True)
    spliced = splice(failed, GOOD, error=1, revision=REVISION)
    assert spliced is not None
    rows = spliced.rows(written)
    assert [row.steps for row in rows] == [(0,), (3,), (4,)]
    assert rows[0].ids == (0, 50)
    assert rows[1].ids == (203, len(f"{REVISION} on right"))
    assert not any(row.has_behaviour for row in rows)
    assert {row.episode for row in rows} == {"f+g"}


def test_a_step_back_is_learnt_right_after_the_error() -> None:
    spliced = splice(FAILED, GOOD, error=0, revision=REVISION, back=GoBack())
    assert spliced is not None
    rows = spliced.rows(written)
    assert [row.steps for row in rows] == [(1,), (2,), (3,), (4,)]


def test_actions_name_marks_of_the_pages_they_are_shown_with() -> None:
    failed = through("start", "wrong", "right", "worse", id="f", policy=True)
    renumbered = replace(GOOD.steps[1].observation, nodes=(node(9, "button", "right"),))
    decision = replace(GOOD.steps[1].decision, action=Click(9))
    step = replace(GOOD.steps[1], observation=renumbered, decision=decision)
    good = replace(GOOD, steps=(GOOD.steps[0], step, GOOD.steps[2]))
    spliced = splice(failed, good, error=1, revision=REVISION)
    assert spliced is not None
    turn = spliced.trajectory.steps[spliced.turn]
    assert turn.decision.action == Click(9) and turn.observation.node(9) is not None


def test_a_splice_with_a_dream_is_a_dream() -> None:
    failed = through("start", "wrong", "right", id="f", policy=True)
    dreamt = replace(GOOD, provenance=replace(GOOD.provenance, world="imagined"))
    for one, other in ((failed, dreamt), (replace(failed, provenance=dreamt.provenance), GOOD)):
        spliced = splice(one, other, error=1, revision=REVISION)
        assert spliced is not None and spliced.trajectory.provenance.imagined
    spliced = splice(failed, GOOD, error=1, revision=REVISION)
    assert spliced is not None and not spliced.trajectory.provenance.imagined
