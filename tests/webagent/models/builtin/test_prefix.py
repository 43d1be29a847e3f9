"""What a prompt tells the network of a page, beyond its words."""

from dataclasses import replace

import numpy as np

from tests.fakes.lessons import node, page
from webagent.action import Action
from webagent.action.actions import Click, DragAndDrop, Fill
from webagent.models.builtin.layout import PLACES, PromptField
from webagent.models.builtin.prefix import (
    FEATURES,
    MAX_TOKENS,
    Feature,
    Prefix,
    encode,
    past_action_of,
)
from webagent.models.builtin.relations import Relation, ordinal
from webagent.models.builtin.vocabulary import FIXED, Vocabulary
from webagent.records import Decision, Node, Observation, Step

VOCABULARY = Vocabulary(FIXED)


def read(observation: Observation, *done: tuple[Observation, Action]) -> Prefix:
    """The policy's prompt after what was done."""
    steps = [Step(seen, Decision(action)) for seen, action in done]
    return encode(VOCABULARY, "policy", observation, steps)


def head(prefix: Prefix, mark: int) -> int:
    """Position of the first token of this element's line."""
    return int(np.flatnonzero(prefix.marks == mark)[0])


def goal_word(prefix: Prefix, text: str) -> int:
    """Position of a word in the goal."""
    places = [i for i, word in enumerate(prefix.words) if word and word.text == text]
    return next(i for i in places if prefix.fields[i] == PromptField.GOAL)


def related(prefix: Prefix, relation: Relation, one: int, other: int) -> bool:
    """Whether `one` stands in the relation to `other`."""
    return bool(prefix.relations[one, other] >> relation & 1)


def feature(prefix: Prefix, column: Feature, mark: int) -> float:
    """What is said of an element's line."""
    return float(prefix.features[head(prefix, mark), column])


def test_the_parts_come_in_order_goal_history_lines() -> None:
    before = page("Say hi", node(1, "textbox", "Greeting"))
    prefix = read(
        page("Say hi", node(1, "textbox", "Greeting", value="hi")), (before, Fill(1, "hi"))
    )
    parts = [PromptField(int(field)) for field in prefix.fields]
    assert parts == [
        *(PromptField.ROLE, PromptField.GOAL, PromptField.GOAL),
        *(PromptField.HISTORY, PromptField.HISTORY, PromptField.HISTORY),
        *(PromptField.HEAD, PromptField.NAME, PromptField.VALUE),
    ]
    assert prefix.features.shape == (9, FEATURES)


def test_a_word_is_related_to_itself_elsewhere_whatever_its_capitals() -> None:
    prefix = read(page("press submit .", node(1, "button", "Submit .")))
    one, other = goal_word(prefix, "submit"), head(prefix, 1) + 1
    assert related(prefix, Relation.SAME_WORD, one, other)
    assert related(prefix, Relation.SAME_WORD, other, one)
    assert not related(prefix, Relation.SAME_WORD, one, one)
    assert not related(prefix, Relation.SAME_WORD, goal_word(prefix, "."), other + 1)


def test_the_beginning_and_the_end_of_a_word_are_recognised() -> None:
    prefix = read(page('starts with "Ita" ends with "nia"', node(1, "link", "Italy Albania")))
    italy, albania = head(prefix, 1) + 1, head(prefix, 1) + 2
    assert related(prefix, Relation.PREFIX, goal_word(prefix, "Ita"), italy)
    assert related(prefix, Relation.SUFFIX, albania, goal_word(prefix, "nia"))
    assert not related(prefix, Relation.PREFIX, goal_word(prefix, "nia"), albania)


def test_a_line_points_at_the_stretch_of_the_goal_that_its_whole_name_repeats() -> None:
    prefix = read(
        page("open New York now", node(1, "link", "New York"), node(2, "link", "York pie"))
    )
    new, york = goal_word(prefix, "New"), goal_word(prefix, "York")
    assert related(prefix, Relation.SPAN, head(prefix, 1), new)
    assert related(prefix, Relation.SPAN, head(prefix, 1), york)
    assert not related(prefix, Relation.SPAN, head(prefix, 1), goal_word(prefix, "now"))
    assert not related(prefix, Relation.SPAN, head(prefix, 2), york)
    assert feature(prefix, Feature.REPEATS_GOAL, 1) == 1
    assert feature(prefix, Feature.REPEATS_GOAL, 2) == 0
    assert feature(prefix, Feature.GOAL_SHARE, 2) == 0.5


def test_a_value_that_the_goal_asks_for_is_noticed() -> None:
    prefix = read(page('Type "red fox"', node(1, "textbox", "Animal", value="red fox")))
    assert feature(prefix, Feature.VALUE_REPEATS_GOAL, 1) == 1
    assert related(prefix, Relation.VALUE_SPAN, head(prefix, 1), goal_word(prefix, "fox"))


def test_a_name_in_quotation_marks_is_told_from_one_in_passing() -> None:
    prefix = read(page('Click on "No" not yes', node(1, "button", "No"), node(2, "button", "yes")))
    assert feature(prefix, Feature.REPEATS_QUOTE, 1) == 1
    assert feature(prefix, Feature.REPEATS_QUOTE, 2) == 0
    assert np.flatnonzero(prefix.features[:, Feature.QUOTED]).tolist() == [goal_word(prefix, "No")]


def test_beginning_and_end_of_a_hidden_name_are_compared_with_the_quotes() -> None:
    links = (node(1, "link", "Bolivia"), node(2, "link", "Bonn"))
    prefix = read(page('starts with "Bo" and ends with "a"', *links))
    assert feature(prefix, Feature.STARTS_AND_ENDS_WITH_QUOTES, 1) == 1
    assert feature(prefix, Feature.STARTS_WITH_QUOTE, 2) == 1
    assert feature(prefix, Feature.ENDS_WITH_QUOTE, 2) == 0


def test_a_line_below_the_one_the_goal_speaks_of_belongs_to_it() -> None:
    likes = [node(mark, "button", "Like") for mark in (2, 4, 5)]
    posts = [node(1, "link", "Ann"), likes[0], node(3, "link", "Bob"), *likes[1:]]
    prefix = read(page("Like the post by Bob", *posts))
    assert related(prefix, Relation.UNDER, head(prefix, 4), head(prefix, 3))
    assert not (prefix.relations[head(prefix, 2)] >> Relation.UNDER & 1).any()
    assert feature(prefix, Feature.ANCHOR_NEARNESS, 4) == 0.5
    assert feature(prefix, Feature.FIRST_UNDER_ANCHOR, 4) == 1
    assert feature(prefix, Feature.FIRST_UNDER_ANCHOR, 5) == 0


def test_an_ordinal_in_the_goal_points_at_the_line_of_that_number_of_each_kind() -> None:
    roles = ("link", "button", "link", "link")
    nodes = [node(mark, role, "axbc"[mark - 1]) for mark, role in enumerate(roles, start=1)]
    prefix = read(page("Click on the 2nd link", *nodes))
    second = goal_word(prefix, "2nd")
    marks = [m for m in (1, 2, 3, 4) if related(prefix, Relation.ORDINAL, second, head(prefix, m))]
    assert marks == [3]
    assert [ordinal(word) for word in ("3rd", "tenth", "22nd", "three", "rd")] == [3, 10, 22, 0, 0]


def test_a_kind_named_in_the_goal_points_at_the_lines_of_that_kind() -> None:
    prefix = read(page("tick the checkbox", node(1, "checkbox", "a"), node(2, "button", "b")))
    assert related(prefix, Relation.KIND, head(prefix, 1), goal_word(prefix, "checkbox"))
    assert not related(prefix, Relation.KIND, head(prefix, 2), goal_word(prefix, "checkbox"))


def test_lines_know_their_neighbours_parents_rows_and_columns() -> None:
    nodes = (
        Node(1, "list", "", box=(0, 0, 100, 60), depth=0),
        Node(2, "link", "a", box=(0, 0, 20, 10), depth=1),
        Node(3, "link", "b", box=(80, 0, 20, 10), depth=1),
        Node(4, "link", "c", box=(0, 40, 20, 10), depth=1),
    )
    prefix = read(page("", *nodes))
    one, a, b, c = (head(prefix, mark) for mark in (1, 2, 3, 4))
    assert related(prefix, Relation.PARENT, c, one) and related(prefix, Relation.CHILD, one, c)
    assert not related(prefix, Relation.PARENT, c, b)
    assert related(prefix, Relation.LINE_BEFORE, b, a) and related(
        prefix, Relation.LINE_AFTER, a, b
    )
    assert related(prefix, Relation.ROW, a, b) and not related(prefix, Relation.ROW, a, c)
    assert related(prefix, Relation.COLUMN, a, c) and not related(prefix, Relation.COLUMN, a, b)


def test_what_was_done_is_tied_to_the_line_it_was_done_to() -> None:
    before = page("go", node(1, "button", "One"), node(2, "button", "Two"))
    prefix = read(before, (before, Click(2)))
    action = int(np.flatnonzero(prefix.fields == PromptField.HISTORY)[0])
    assert related(prefix, Relation.ACTED, action, head(prefix, 2))
    assert feature(prefix, Feature.ACTED_LAST, 2) == 1
    assert feature(prefix, Feature.ACTED_LAST, 1) == 0
    assert feature(prefix, Feature.NAME_ACTED, 2) == 1
    assert prefix.features[0, Feature.STEPS_DONE] == np.float32(0.1)


def test_what_the_last_action_changed_or_brought_up_is_marked() -> None:
    before = page("go", node(1, "textbox", "Name"), node(2, "button", "More"))
    after = page("go", node(1, "textbox", "Name", value="x"), node(2, "button", "More"))
    after = page("go", *after.nodes, node(3, "link", "New"))
    prefix = read(after, (before, Click(2)))
    assert [feature(prefix, Feature.CHANGED, mark) for mark in (1, 2, 3)] == [1, 0, 0]
    assert [feature(prefix, Feature.APPEARED, mark) for mark in (1, 2, 3)] == [0, 0, 1]


def test_a_page_without_goal_and_lines_can_still_be_read() -> None:
    prefix = read(page(""))
    assert len(prefix) == 1
    assert prefix.relations.tolist() == [[0]]


def test_a_page_too_long_keeps_the_lines_that_match_the_goal() -> None:
    long = " ".join(f"filler{i}" for i in range(12))
    nodes = [node(i, "link", f"{long} {i}") for i in range(1, 91)]
    nodes[55] = node(56, "link", f"{long} wanted treasure")
    prefix = read(page("find the treasure", *nodes))
    assert len(prefix) <= MAX_TOKENS
    assert "treasure" in [word.text for word in prefix.words[head(prefix, 56) :] if word]
    kept = [int(mark) for mark in prefix.marks if mark]
    assert kept == sorted(kept) and 40 < len(kept) < 70


def test_a_page_too_long_keeps_what_stands_beside_the_line_that_the_goal_speaks_of() -> None:
    """A list names its tickets beside their numbers, and shares small words with every goal."""
    rows = []
    for i in range(1, 91):
        rows += [node(i, "link", f"{i:06x}"), node(0, "text", f"The {i} of the sails is not here")]
    rows[140] = node(71, "link", "9f3c1a")
    rows[141] = node(0, "text", "The torn spinnaker of the regatta")
    assert 71 in read(page('Close the ticket "The torn spinnaker of the regatta".', *rows)).marks


def test_a_page_too_long_keeps_the_button_at_the_end_of_a_form() -> None:
    boxes = [node(i, "checkbox", f"Right {i}") for i in range(1, 41)]
    about = "Whoever may write to the wiki may also read what the others have written there"
    texts = [node(0, "text", f"{about} {i}") for i in range(20)]
    prefix = read(page("Let Ann write to the wiki", *boxes, node(41, "button", "Save"), *texts))
    assert {*range(1, 42)} <= {int(mark) for mark in prefix.marks}


def test_a_page_too_long_drops_text_before_elements() -> None:
    nodes = [node(0, "text", f"word{i} and more of it") for i in range(80)]
    nodes += [node(i, "button", f"b{i}") for i in range(1, 51)]
    assert set(range(1, 51)) <= set(read(page("x", *nodes)).marks.tolist())


def test_an_action_is_remembered_by_name_and_text() -> None:
    seen = page("", node(1, "button", "Box"), node(2, "button", "Bin"))
    assert past_action_of(DragAndDrop(1, 2), seen) == ("drag_and_drop", 1, "Box", "Bin")
    assert past_action_of(Fill(9, "hello"), seen) == ("fill", 9, "", "hello")


def test_positions_stay_within_what_is_told_apart_whatever_a_page_says() -> None:
    deep = replace(node(1, "button", "Deep"), depth=1000)
    shallow = replace(node(2, "button", "Shallow"), depth=-1)
    busy = replace(node(3, "button", "Busy"), states=("busy",) * 100)
    prefix = read(page("Press it.", deep, shallow, busy))
    assert prefix.places.min() >= 0 and prefix.places.max() == PLACES - 1
    assert prefix.places[head(prefix, 1)] == PLACES - 1 and prefix.places[head(prefix, 2)] == 0
