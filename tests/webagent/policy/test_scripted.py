"""Scripts: fixed lists of actions, and recordings played again."""

from dataclasses import replace

import pytest

from tasks.task import Task
from webagent.action import Action, GiveUp
from webagent.action.actions import Click, DragAndDrop, Fill
from webagent.policy.policy import ScriptedPolicy, play_actions, replay_recording
from webagent.records import Decision, Node, Observation, Step, Trajectory

TASK = Task("fake/form@1", "http://fake.test/")


def page(*names: str) -> Observation:
    """A page of buttons, marked from 1 in this order."""
    nodes = tuple(Node(mark, "button", name) for mark, name in enumerate(names, start=1))
    return Observation("", TASK.start_url, "", nodes)


def recording(action: Action, seen: Observation) -> Trajectory:
    """An episode in which one action was done on this page."""
    return Trajectory("r", TASK, steps=(Step(seen, Decision(action)),))


async def test_a_list_is_played_in_order_and_given_up_at_its_end():
    policy = ScriptedPolicy(play_actions([Click(1), Fill(2, "x")]))
    trajectory, seen = Trajectory("e", TASK), page("A", "B")

    played = []
    for _ in range(3):
        decision = await policy.act(trajectory, seen)
        played.append(decision.action)
        trajectory = replace(trajectory, steps=(*trajectory.steps, Step(seen, decision)))

    assert played == [Click(1), Fill(2, "x"), GiveUp("the script has ended")]


async def test_a_decision_says_which_script_made_it_and_for_what():
    policy = ScriptedPolicy(play_actions([Click(1)]), source="explore", name="oracle-7")

    decision = await policy.act(Trajectory("e", TASK), page("A"))

    assert (decision.source, decision.weights) == ("explore", "oracle-7")


async def test_a_script_proposes_its_one_action_with_certainty():
    (proposal,) = await ScriptedPolicy(play_actions([Click(1)])).propose(
        Trajectory("e", TASK), page("A"), 5
    )

    assert proposal.action == Click(1)
    assert (proposal.candidates[0].action, proposal.candidates[0].log_prob) == ("click(1)", 0.0)


@pytest.mark.parametrize(
    ("recorded", "now", "played"),
    [
        (page("Save", "Send"), page("Save", "Send"), Click(2)),
        (page("Save", "Send"), page("Send", "Save"), Click(1)),
        (page("Save", "Send"), page("New", "Old", "Send"), Click(3)),
        (page("Save", "Send"), page("Gone", "Other"), Click(2)),
        (page("Save", "Send"), page("Send", "Other", "Send"), Click(2)),
    ],
    ids=["unchanged", "swapped", "pushed down", "vanished", "ambiguous"],
)
async def test_a_replayed_action_follows_its_element(recorded, now, played):
    assert replay_recording(recording(Click(2), recorded))(Trajectory("e", TASK), now) == played


async def test_both_ends_of_a_replayed_drag_follow_their_elements():
    script = replay_recording(recording(DragAndDrop(1, 2), page("Card", "Bin")))

    assert script(Trajectory("e", TASK), page("Bin", "New", "Card")) == DragAndDrop(3, 1)


async def test_a_replay_ends_where_the_recording_does():
    script = replay_recording(recording(Click(1), page("A")))

    assert script(recording(Click(1), page("A")), page("A")) is None
