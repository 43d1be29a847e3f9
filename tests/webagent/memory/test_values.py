"""Values without marks are found by what was done, by like goals and by what stands on pages."""

from pathlib import Path

import pytest

from tests.fakes.orders import episode, link, text
from webagent.action.actions import Answer, Click, Fill
from webagent.memory import Memory
from webagent.memory.pages import read_page
from webagent.memory.values import Reader
from webagent.records import Node, Trajectory

FIELD = Node(5, "textbox", "Search", kind="input:text")


def find(name: str, goal: str, wanted: str) -> Trajectory:
    page = (FIELD, Node(6, "button", "Go"))
    return episode(name, goal, (page, Fill(5, wanted)), ((link(7, wanted),), Click(7)))


def values(reader: Reader, goal: str, *nodes: Node) -> list[str]:
    page = episode("new", goal, ((nodes or (text("nothing"),)), Answer(""))).steps[0].observation
    return [slot.text for slot in reader.read(goal, [read_page(page)]).slots]


@pytest.fixture
def reader() -> Reader:
    found = Reader()
    found.remember(find("a", "find the blue garden chair for me", "blue garden chair"))
    return found


def test_what_was_typed_is_the_value_of_a_demonstrated_goal(reader: Reader) -> None:
    assert values(reader, "find the blue garden chair for me") == ["blue garden chair"]


@pytest.mark.parametrize("value", ["lamp", "a lamp that nobody has seen", '"Lamp of 1920"'])
def test_in_a_like_goal_the_value_stands_where_the_demonstrated_one_did(reader, value):
    assert values(reader, f"find the {value} for me") == [value.strip('"')]


def test_in_other_words_a_value_is_what_stood_alone_on_a_page(reader: Reader) -> None:
    assert values(reader, "is there a blue garden chair left?") == ["blue garden chair"]
    assert values(reader, "is there a green table left?") == []
    assert values(reader, "is there a green table left?", text("Green table")) == ["green table"]


def test_goals_with_and_without_marks_are_the_same_but_for_them(reader: Reader) -> None:
    goals = ('find the "blue garden chair" for me', "find the red chair for me")
    assert len({reader.read(goal).template for goal in goals}) == 1


def test_the_words_of_every_goal_of_a_task_are_no_values() -> None:
    reader = Reader()
    for product in ("lamp", "chair"):
        reader.note("task", f"open the tickets and find {product}")
    page = (link(1, "tickets"),)
    for name, product in (("a", "lamp"), ("b", "chair")):
        goal = f"open the tickets and find {product}"
        done = episode(name, goal, (page, Click(1)), ((FIELD,), Fill(5, product)))
        assert [slot.text for slot in reader.remember(done).slots] == [product]


def test_the_verb_that_names_what_was_pressed_is_no_value() -> None:
    reader = Reader()
    done = episode("a", "Delete the lamp.", ((link(1, "Delete"), link(2, "lamp")), Click(1)))
    assert [slot.text for slot in reader.remember(done).slots] == ["lamp"]


def test_a_part_of_a_path_is_no_value(reader: Reader) -> None:
    lamp = text("lamp")
    assert values(reader, "is there a lamp?", lamp) == ["lamp"]
    assert values(reader, "is there a garden/lamp.txt?", lamp) == []


def recalled(memory: Memory, goal: str, *nodes: Node) -> tuple[str, list[str]]:
    """The goal that is nearest, and the values of this one."""
    scene = memory.scene(episode("new", goal, (nodes, Answer(""))).steps[0].observation, ())
    return memory.recall(scene)[0][1].episode, [slot.text for slot in scene.goal.slots]


def test_a_goal_with_as_many_values_is_closer() -> None:
    memory = Memory()
    page = (link(1, "Go"),)
    shown = {"move": 'carry "Lamp" to "Attic"', "drop": 'never carry "Lamp"'}
    memory.remember_all([episode(name, goal, (page, Click(1))) for name, goal in shown.items()])
    for goal, name in (('put "Chair" by "Door"', "move-1"), ('put "Chair" down', "drop-1")):
        found = memory.index.closeness(memory.read(goal), lambda text, pages=(): ())
        assert memory.index.cases[int(found.argmax())].episode == name


def test_a_goal_whose_value_stands_at_such_a_place_is_nearer() -> None:
    memory = Memory()
    shelf, people = (link(1, "Lamp"), link(2, "Chair")), (text("Mara"), text("Piet"))
    shown = [episode("thing", 'look for "Lamp" there', (shelf, Click(1)))]
    shown.append(episode("person", 'talk with "Mara" soon', (people, Answer("yes"))))
    memory.remember_all(shown)
    assert recalled(memory, 'how is "Chair"', *shelf)[0] == "thing-1"
    assert recalled(memory, 'how is "Piet"', *people)[0] == "person-1"


def test_what_stands_on_a_page_is_no_value_where_no_remembered_goal_has_one_more() -> None:
    memory = Memory()
    page = (link(1, "Notes"), link(2, "Tasks"), link(3, "file"))
    memory.remember_all([episode("a", 'open the page "Notes"', (page, Click(1)))])
    goal = 'see the file of the page "Tasks"'
    assert values(memory.reader, goal, *page) == ["file", "Tasks"]
    assert recalled(memory, goal, *page)[1] == ["Tasks"]


def test_a_loaded_memory_reads_goals_as_the_saved_one_did(tmp_path: Path) -> None:
    memory = Memory()
    memory.remember_all([find("a", "find the lamp for me", "lamp")])
    memory.save(tmp_path)
    loaded = Memory.load(tmp_path)
    assert loaded.reader.constants == memory.reader.constants
    for goal in ("find the lamp for me", "find the red chair for me", "is there a lamp?"):
        assert loaded.read(goal).text == memory.read(goal).text


def test_a_value_is_not_cut_short_by_a_known_text_inside_it() -> None:
    reader = Reader()
    reader.texts["box office"] = set()
    for name, wanted in (("a", "torn carpet"), ("b", "cold stage")):
        reader.note("task", f"Report {wanted} as an issue.")
        reader.remember(find(name, f"Report {wanted} as an issue.", wanted))
    assert values(reader, "Report Box office smells of gas as an issue.") == [
        "Box office smells of gas"
    ]


@pytest.mark.parametrize("typed", ["Nils Larsson", "0151 223 154"])
def test_words_that_look_together_like_something_typed_are_one_value(typed: str) -> None:
    reader = Reader()
    reader.remember(find("a", f"book a seat for {typed}", typed))
    other = "0152 888 999" if typed[0].isdigit() else "Kaya Hoxha"
    assert values(reader, f"{other} wants to come") == [other]
    assert values(reader, "Kaya 3 Hoxha wants to come") != ["Kaya 3 Hoxha"]


def test_a_demonstrated_value_may_begin_a_sentence(reader: Reader) -> None:
    reader.remember(find("b", "ask for anna today", "anna"))
    assert values(reader, "anna needs a phone") == ["anna"]
    assert values(reader, "search a phone", link(8, "search")) == []


def test_a_value_ends_where_a_sentence_does_and_not_behind_an_abbreviation() -> None:
    reader = Reader()
    reader.learn("Invite “Brian Murphy” today. He waits.")
    assert reader.read("Invite Megan Burke today. He waits.").slots[0].text == "Megan Burke"
    assert all("She" not in s.text for s in reader.read("Invite Megan Burke. She waits.").slots)
    assert reader.read("Invite Dr. Megan Burke today. He waits.").slots[0].text.endswith("Burke")
