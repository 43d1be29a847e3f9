"""What stored steps teach."""

import random
from dataclasses import replace

from tests.fakes.lessons import demonstrations, episode, lesson, node, page
from tests.fakes.networks import untrained
from webagent.action.actions import Answer, Click, Goto
from webagent.models.builtin.network import SLOT_INDEX
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.models.builtin.vocabulary import Vocabulary
from webagent.records import Trajectory
from webagent.training.rows import grow_vocabulary, make_policy_rows

GRAMMAR = ActionGrammar(Codec(untrained().vocabulary))
PAGE = page("Click", node(1, "button", "Go"))


def with_decision(trajectory: Trajectory, **fields: object) -> Trajectory:
    """The trajectory with its first decision changed."""
    first = trajectory.steps[0]
    step = replace(first, decision=replace(first.decision, **fields))  # type: ignore[arg-type]
    return replace(trajectory, steps=(step, *trajectory.steps[1:]))


def test_a_row_feeds_in_its_target_one_place_late() -> None:
    [row] = make_policy_rows(GRAMMAR, demonstrations(1)[0])
    assert row.inputs == (GRAMMAR.start, *row.targets[:-1])
    assert row.slots[0] == SLOT_INDEX["op"]
    assert len(row.slots) == len(row.targets) == len(row.inputs)
    assert row.tokens == len(row.prefix) + len(row.targets)


def test_steps_without_effect_are_left_out() -> None:
    turns = ((PAGE, Click(1)), (replace(PAGE, outcome="no effect"), Click(1)), (PAGE, Click(1)))
    assert len(make_policy_rows(GRAMMAR, episode(*turns, last=PAGE))) == 2


def test_the_last_step_counts_when_the_page_is_over() -> None:
    over = replace(PAGE, outcome="page is gone", over=True)
    assert len(make_policy_rows(GRAMMAR, episode((PAGE, Click(1)), last=over))) == 1


def test_tasks_are_the_groups() -> None:
    pair = [episode((PAGE, Click(1)), name=name) for name in ("one", "two")]
    rows = [row for each in pair for row in make_policy_rows(GRAMMAR, each, weight=0.5)]
    assert [(row.group, row.weight) for row in rows] == [("one", 0.5), ("two", 0.5)]


def test_what_cannot_be_said_gives_no_row() -> None:
    turns = ((PAGE, Goto("https://example.org")), (PAGE, Click(1)))
    assert len(make_policy_rows(GRAMMAR, episode(*turns))) == 1


def test_what_the_built_in_policy_sampled_is_not_encoded_again() -> None:
    sampled = (GRAMMAR.vocabulary.id("op:go_back"),)
    played = with_decision(
        episode((PAGE, Click(1))), sampled_ids=sampled, allowed=GRAMMAR.name, source="policy"
    )
    assert make_policy_rows(GRAMMAR, played)[0].targets == sampled


def test_ids_of_another_model_are_not_taken_for_its_own() -> None:
    plain = episode((PAGE, Click(1)))
    foreign = with_decision(plain, sampled_ids=(9906, 11, 1917), allowed="click fill; marks 1")
    assert (
        make_policy_rows(GRAMMAR, foreign)[0].targets == make_policy_rows(GRAMMAR, plain)[0].targets
    )


def test_random_actions_can_be_left_out() -> None:
    gone = page("Click", node(1, "button", "Gone"))
    strayed = with_decision(episode((PAGE, Click(1)), (gone, Answer())), source="explore")
    assert len(make_policy_rows(GRAMMAR, strayed)) == 2
    assert len(make_policy_rows(GRAMMAR, strayed, imitate_random=False)) == 1


def test_a_detour_is_imitated_only_when_it_was_shown() -> None:
    there_and_back = episode((PAGE, Click(1)), (page("Click", node(2, "link", "Back")), Click(2)))
    round_trip = replace(there_and_back, steps=(*there_and_back.steps, there_and_back.steps[0]))
    assert len(make_policy_rows(GRAMMAR, round_trip)) == 3
    steps = tuple(
        replace(step, decision=replace(step.decision, source="policy")) for step in round_trip.steps
    )
    assert len(make_policy_rows(GRAMMAR, replace(round_trip, steps=steps))) == 1


def test_the_page_after_a_step_is_the_next_ones_or_the_last() -> None:
    second, last = page("second"), page("last")
    trajectory = episode((PAGE, Click(1)), (second, Click(1)), last=last)
    assert trajectory.page_after(0) is second
    assert trajectory.page_after(1) is last


def test_kinds_and_states_are_learnt_at_once_and_words_when_they_recur() -> None:
    vocabulary = Vocabulary(())
    box = node(1, "checkbox", "rare", states=("checked",))
    seen = [lesson(random.Random(0))[0]] * 2
    episodes = [episode((each, Click(1))) for each in [*seen, seen[0], page("solo", box)]]
    grow_vocabulary(vocabulary, episodes)
    assert vocabulary.id("checkbox/input:checkbox") and vocabulary.id("state:checked")
    assert vocabulary.id("name") and not vocabulary.id("rare") and not vocabulary.id("solo")
