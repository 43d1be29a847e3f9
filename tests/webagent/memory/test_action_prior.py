"""What is tried at a task that nothing was shown of: everything the page offers, weighed by what
other tasks teach."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.orders import episode, link, look_up, taught, text
from webagent.action import Action
from webagent.action.actions import Answer, Check, Click, Fill, GiveUp, SelectOption
from webagent.memory import Memory
from webagent.records import Node, Observation, Trajectory


def of_task(task: str, trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, task=replace(trajectory.task, id=f"test/{task}@1"))


def weighed(memory: Memory, goal: str, *nodes: Node) -> dict[Action, float]:
    seen = Observation(goal, "http://shop.test/new", "Shop", nodes)
    return {action: logit for action, logit, _ in memory.weigh_actions(seen, (), "new")}


def best(memory: Memory, goal: str, *nodes: Node) -> Action:
    found = weighed(memory, goal, *nodes)
    return max(found, key=found.__getitem__)


def test_elements_values_of_the_goal_and_endings_come_up_and_nothing_else() -> None:
    memory = taught(of_task("other", episode("a", "Go on.", ((link(1, "Next"),), Click(1)))))
    found = weighed(
        memory,
        'Call the "Lamp" a "Light".',
        link(1, "Lamp"),
        Node(2, "textbox", "Title", kind="input:text"),
        Node(3, "checkbox", "Public", kind="input:checkbox"),
        Node(4, "button", "Save", states=("disabled",)),
        Node(5, "combobox", "Kind", kind="select"),
        *(Node(0, "option", name) for name in ("Light", "Dark")),
    )
    ends = {Answer(""), GiveUp("it cannot be done")}
    fills = {Fill(2, "Lamp"), Fill(2, "Light")}
    options = {SelectOption(5, "Light"), SelectOption(5, "Dark")}
    texts = {each for each in found if isinstance(each, Answer) and each.text}
    assert found.keys() - texts == {Click(1), Check(3), *fills, *options, *ends}


def test_texts_of_the_page_are_answers_to_what_other_questions_are_like() -> None:
    memory = taught(*(of_task(task, look_up(task, "10056", 1)) for task in ("one", "two")))
    for task in ("three", "four", "five", "six"):
        done = episode(task, "Delete it.", ((link(1, "Delete"),), Click(1)), ((), Answer("")))
        memory.remember(of_task(task, done))
    page = (text("Price"), text("£12.00"))
    assert Answer("£12.00") in weighed(memory, "What did the lamp come to?", *page)
    assert Answer("£12.00") not in weighed(memory, "Delete the lamp.", *page)


def test_what_the_goal_speaks_of_is_likelier_before_anything_is_learnt() -> None:
    memory = taught(of_task("other", episode("a", "Go on.", ((link(1, "Next"),), Click(1)))))
    page = [Node(i, "button", name) for i, name in enumerate(("Print", "Archive", "Help"), 1)]
    assert best(memory, "Archive the note.", *page) == Click(2)


def test_other_tasks_teach_what_is_done_first() -> None:
    def opened(task: str, verb: str, thing: str) -> Trajectory:
        page = (Node(1, "button", verb), link(2, thing, 20), link(3, "Help", 40))
        opens = episode(task, f'{verb} the "{thing}".', (page, Click(2)), ((), Answer("")))
        return of_task(task, opens)

    tasks = [("Delete", "Lamp"), ("Print", "Kettle"), ("Archive", "Mug"), ("Send", "Pan")]
    shown = [opened(verb, verb, thing) for verb, thing in tasks]
    memory = taught(*shown)
    page = (Node(1, "button", "Rename"), link(2, "Pot", 20), link(3, "Help", 40))
    before = weighed(Memory(), 'Rename the "Pot".', *page)
    assert before[Click(1)] > before[Click(2)]
    assert not memory.has_prior
    memory.learn_prior(shown)
    assert memory.has_prior
    assert best(memory, 'Rename the "Pot".', *page) == Click(2)


def test_what_a_task_itself_taught_is_left_out_of_its_lessons() -> None:
    memory = taught(*(of_task(task, look_up(task, "10056", 1)) for task in ("one", "two")))
    page = look_up("new", "10050", 70).steps[1].observation
    assert memory.propose(page, (), 3, without="one")[0].recalled[0][1].task == "two"
    memory.remember(of_task("alone", episode("b", "Go on.", ((link(1, "Next"),), Click(1)))))
    only = Memory()
    only.remember(of_task("alone", episode("b", "Go on.", ((link(1, "Next"),), Click(1)))))
    assert only.propose(page, (), 3, without="alone") == []


def test_what_was_learnt_and_tried_is_kept(tmp_path: Path) -> None:
    shown = [of_task(task, look_up(task, "10056", 1)) for task in ("one", "two")]
    memory = taught(*shown)
    memory.learn_prior(shown)
    failed = of_task("new", look_up("failed", "10050", 3))
    memory.note_failure(failed, [0.5, 0.5])
    memory.save(tmp_path)
    again = Memory.load(tmp_path)
    page = failed.steps[1].observation
    for kept in (memory, again):
        assert kept.has_prior and kept.has_examples("one") and not kept.has_examples("new")
    found = again.weigh_actions(page, failed.steps[:1], "new")
    assert min(left for _, _, left in found) < 0.02
    for ours, theirs in zip(
        found, memory.weigh_actions(page, failed.steps[:1], "new"), strict=True
    ):
        assert ours[0] == theirs[0] and ours[1:] == pytest.approx(theirs[1:])
