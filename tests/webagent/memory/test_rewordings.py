"""Goals in other words: their values stay, and what was shown is remembered in all of them."""

from pathlib import Path

import pytest

from tests.fakes.orders import ORDERS, look_up, orders
from webagent.action.actions import Answer
from webagent.errors import StoreError
from webagent.memory import Memory
from webagent.memory.cases import view_of
from webagent.memory.rewordings import Rewording, Rewordings
from webagent.memory.scene import scene_of
from webagent.records import Observation

GOAL = 'What did my order "10056" come to?'
STRANGE = "Kindly dig out 10056 and tell its sum"


def test_a_wording_of_one_goal_is_one_of_all_of_its_kind() -> None:
    known = Rewordings()
    assert known.add(GOAL, [STRANGE]) == []
    assert STRANGE.replace("10056", "10050") in known.reword('What did my order "10050" come to?')
    assert known.reword("What is the time?") == []


def test_names_and_numbers_are_also_known_without_quotation_marks() -> None:
    known = Rewordings()
    assert known.reword(GOAL) == ["What did my order 10056 come to?"]
    assert known.reword('Call it "Red Mug" and write "so nice"') == [
        'Call it Red Mug and write "so nice"'
    ]
    assert known.reword('Reply with "Done."') == []


@pytest.mark.parametrize(
    "other",
    ["Dig it out", "Dig out 100561", 'What did my order "10055" come to?', GOAL],
    ids=["no value", "part of a number", "another value", "the same"],
)
def test_wordings_without_the_values_are_refused(other: str) -> None:
    known = Rewordings()
    assert known.add(GOAL, [other, STRANGE]) == [other]
    assert len(known) == 1


def test_values_within_values_and_braces_are_kept_apart() -> None:
    known = Rewordings()
    assert known.add('Set "Ada" to "Ada Lovelace"', ["Make Ada Lovelace {of} Ada"]) == []
    assert known.reword('Set "Bo" to "Bo Peep"')[0] == "Make Bo Peep (of) Bo"


def test_equal_values_stand_in_the_order_of_the_goal() -> None:
    known = Rewordings()
    goal = "Book the room from 1 May 09:00 to 3 May 09:00"
    others = ["Room: 1 May 09:00 until 3 May 09:00", "Room from 09:00 on 1 May to 3 May"]
    assert known.add(goal, others) == others[1:]
    later = "Book the room from 2 May 08:00 to 4 May 10:30"
    assert known.reword(later) == ["Room: 2 May 08:00 until 4 May 10:30"]


def test_a_file_is_read_and_bad_lines_are_named(tmp_path: Path) -> None:
    file = tmp_path / "rewordings.jsonl"
    file.write_text(Rewording(GOAL, (STRANGE, "Dig it out")).to_line(), encoding="utf-8")
    assert Rewordings.read(file).reword(GOAL)[0] == STRANGE
    file.write_text('{"goal": 3}\n', encoding="utf-8")
    with pytest.raises(StoreError, match="line 1: expected"):
        Rewordings.read(file)
    with pytest.raises(StoreError, match="cannot be read"):
        Rewordings.read(tmp_path)


def test_what_was_shown_is_known_in_other_words_and_still_as_one_episode(tmp_path: Path) -> None:
    memory = Memory()
    memory.rewordings.add(GOAL, [STRANGE, "10056: find its sum please"])
    shown = [look_up(f"e{i}", order, 10 * i + 1) for i, order in enumerate(ORDERS)]
    assert [memory.remember(episode) for episode in shown] == [2, 2, 2]
    memory.learn(shown)
    memory.save(tmp_path / "memory")
    memory = Memory.load(tmp_path / "memory")
    assert memory.rewordings.reword(GOAL)[0] == STRANGE
    page = Observation(STRANGE, "http://shop.test/1", "Shop", orders(7))
    [found] = memory.propose(page, shown[0].steps[:1])
    assert found.action == Answer(ORDERS["10056"][0])
    view = view_of(scene_of(page, ()))
    _, nearest, features = memory.index.nearest(view, 1)[0]
    assert nearest.goal.template == view["goal"].template and features[0] == 1.0
    steps = [(case.episode, case.step) for _, case, _ in memory.index.nearest(view, 20)]
    assert len(steps) == len(set(steps)) == 6
    assert len(memory.index.siblings(view["goal"], 20)) == 6
