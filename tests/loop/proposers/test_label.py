import json
from collections import Counter

import numpy as np
import pytest

from loop.proposers.goals import (
    CompletedActions,
    FilledField,
    FormSubmission,
    ModelWriter,
    PageFact,
    PageVisit,
)
from loop.proposers.labelled_tasks import rehearse
from loop.proposers.labelling import (
    TaskCandidate,
    find_candidates,
    find_page_actions,
    remove_detours,
)
from loop.proposers.verification import EpisodePlayer
from tests.fakes.desk import TERRITORY, Desk
from webagent.action import Action
from webagent.action.actions import Answer, Click, Fill, SelectOption
from webagent.models.canned import CannedModel
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.records import Decision, Node, Observation, Step, Trajectory
from webagent.rollout import World, run_episode

OPEN = (Click(3), Fill(11, "Torn sail 7"), Fill(11, "Torn sail 8"), Click(14))


async def played(*actions: Action) -> Trajectory:
    task = TERRITORY.task("explore", "Explore.", 0, 20)
    return await run_episode(task, ScriptedPolicy(play_actions([*actions, Answer()])), Desk())


def found_in(episode: Trajectory) -> list[TaskCandidate]:
    return find_candidates(episode, Counter(), np.random.default_rng(0))


async def world() -> World:
    return Desk()


async def test_an_episode_is_told_as_the_forms_that_were_sent_and_the_pages_gone_to() -> None:
    episode = await played(*OPEN)
    page_actions = [told.page_action for told in find_page_actions(episode.steps, episode.last)]
    assert page_actions == [
        PageVisit("New ticket", "Desk: New ticket", "/new"),
        FormSubmission(
            "Submit", "Open a new ticket", (FilledField("Title", "textbox", "Torn sail 8"),)
        ),
    ]


async def test_a_change_is_told_with_the_thing_it_was_done_to() -> None:
    episode = await played(Click(2), Click(12), SelectOption(13, "Open"), Click(14))
    last = find_page_actions(episode.steps, episode.last)[-1].page_action
    assert isinstance(last, FormSubmission)
    assert (last.subject, last.is_particular) == ("Copper harbour map", True)


async def test_a_button_that_changed_nothing_is_no_deed() -> None:
    episode = await played(Click(3), Click(14))
    assert [type(told.page_action) for told in find_page_actions(episode.steps, episode.last)] == [
        PageVisit
    ]


async def test_detours_and_overwritten_values_are_cut_out() -> None:
    episode = await played(Click(2), Click(11), Click(1), *OPEN)
    assert episode.last is not None
    kept = [step.decision.action for step in remove_detours(episode.steps[:-1], episode.last)]
    assert kept == [Click(3), Fill(11, "Torn sail 8"), Click(14)]


async def test_a_walk_to_a_link_of_the_menu_is_cut_to_that_link() -> None:
    episode = await played(Click(2), Click(11), Click(3), Fill(11, "Torn sail 8"), Click(14))
    assert episode.last is not None
    kept = [step.decision.action for step in remove_detours(episode.steps[:-1], episode.last)]
    assert kept == [Click(3), Fill(11, "Torn sail 8"), Click(14)]


async def test_each_prefix_that_describes_something_new_is_a_candidate() -> None:
    found = found_in(await played(*OPEN, Click(1), Click(3)))
    assert [type(candidate.page_actions[-1]) for candidate in found] == [PageVisit, FormSubmission]


async def test_values_that_stand_on_pages_are_asked_for() -> None:
    found = found_in(await played(Click(2), Click(12)))
    reads = [c.page_actions[-1] for c in found if isinstance(c.page_actions[-1], PageFact)]
    assert [(read.subject, read.value) for read in reads] in (
        [("Copper harbour map", "Closed")],
        [("Copper harbour map", "Wish")],
    )


async def test_a_cut_solution_that_does_not_come_to_the_same_is_objected_to() -> None:
    episode = await played(*OPEN)
    [candidate] = [c for c in found_in(episode) if isinstance(c.page_actions[-1], FormSubmission)]
    worse = TaskCandidate(episode, candidate.steps[1:], candidate.last, candidate.page_actions)
    good, bad = await rehearse([candidate, worse], TERRITORY, EpisodePlayer(world), "rehearse")
    assert good.objection == ""
    assert "does not come to the same" in bad.objection


STORY = CompletedActions(
    (
        FormSubmission(
            "Submit", "Open a new ticket", (FilledField("Title", "textbox", "Torn sail"),)
        ),
    ),
    {"ticket": {"added": [{}]}},
)


async def test_a_models_task_is_taken_when_it_says_what_was_typed() -> None:
    model = CannedModel([json.dumps({"task": 'File a ticket called "Torn sail".'})])
    written = await ModelWriter(model).write(STORY)
    assert written.goal == 'File a ticket called "Torn sail".'
    assert "Torn sail" in model.requests[0].messages[1].text


@pytest.mark.parametrize(
    "reply",
    [
        "A ticket, please.",
        '{"task": "File a ticket."}',
        '{"task": 3}',
        '{"task": "Torn sail", "more": 1}',
        '["Torn sail"]',
    ],
)
async def test_a_reply_that_cannot_be_used_is_asked_again_once(reply: str) -> None:
    model = CannedModel([reply, reply])
    assert await ModelWriter(model).write(STORY) is None
    assert len(model.requests) == 2
    assert "cannot be used" in model.requests[1].messages[-1].text


async def test_a_model_may_say_that_there_is_no_task() -> None:
    model = CannedModel(['{"task": null}'])
    assert await ModelWriter(model).write(STORY) is None
    assert len(model.requests) == 1


async def test_a_question_that_gives_its_answer_away_is_not_taken() -> None:
    story = CompletedActions((PageFact("Torn sail", "Status", "Fixed", "Tickets"),))
    away = json.dumps({"task": 'Is the status of "Torn sail" Fixed?'})
    good = json.dumps({"task": 'What is the status of "Torn sail"?'})
    written = await ModelWriter(CannedModel([away, good])).write(story)
    assert (written.goal, written.answer) == ('What is the status of "Torn sail"?', "Fixed")


def test_a_button_of_a_list_is_told_with_the_thing_above_it() -> None:
    def line(mark: int, role: str, name: str) -> Node:
        return Node(mark, role, name, kind="a" if role == "link" else "button")

    nodes = (
        line(1, "link", "Pebble Lamp"),
        line(2, "button", "Add to basket"),
        line(3, "link", "Heron Pen"),
        line(4, "button", "Add to basket"),
    )
    page = Observation("", "http://shop.test/lamps", "Lamps", nodes)
    after = Observation("", "http://shop.test/basket", "Basket", ())
    [told] = find_page_actions([Step(page, Decision(Click(4)))], after)
    assert isinstance(told.page_action, FormSubmission)
    assert (told.page_action.subject, told.page_action.is_particular) == ("Heron Pen", True)
