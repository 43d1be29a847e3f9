"""Whatever can be said under the constraint of a page is an action that the page has room for."""

import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.task import Task
from tests.fakes.tiny_models import tokenizer
from tests.webagent.models.constrain.sampling import text_of, walk, walk_towards
from webagent.action import ACTIONS, ESSENTIAL, format_action, parse_action
from webagent.action.actions import Click
from webagent.errors import ModelError, PolicyError, SetupError
from webagent.models import CannedModel, Constraint
from webagent.models.constrain import compile_constraint
from webagent.policy import LanguagePolicy
from webagent.policy.allowed import MAY_MEAN_THE_PAGE, build_constraint
from webagent.policy.reply import read_reply
from webagent.records import Node, Observation, Trajectory

pytestmark = pytest.mark.slow  # each a tenth of a second, and there are 147
EVERY = tuple(ACTIONS)
WORDS = tokenizer()
BYTES = tokenizer(vocabulary=6 + 256, lines=())
"""Spells every byte by a token of its own, so that one character takes up to four."""
HARD = (
    'say "hi"',
    "a\\b",
    "line\nbreak\ttab\r",
    "it's </think> so",
    "a < b << c </b>",
    "\x00\x1f\b\f",
    "naïve — “quotes”",
    "日本語",
    "😀" * 3,
    "",
    "<",
    "'''\"\"\"",
    "Action: click(3)",
    ")\nAction: click(1)",
    "\u2028\u0085",
)


def page(*marks: int, **others) -> Observation:
    """A page with these elements and a line of text."""
    nodes = (*(Node(mark, "button", f"No {mark}") for mark in marks), Node(0, "text", "Welcome"))
    return Observation("goal", "http://x.test/", "Title", nodes, **others)


PAGES = {
    "no marks": page(),
    "one mark": page(7),
    "one to four digits": page(1, 2, 9, 10, 12, 99, 100, 105, 730, 1000, 4096),
    "many": page(*range(1, 301), viewport=(1280, 720), tabs=("one", "two", "three")),
    "a small screen": page(3, 4, viewport=(160, 210), tabs=("one",)),
}


def all_marks(action) -> list[int]:
    """The marks an action names, the page's left out where it may be meant."""
    named = [getattr(action, name, None) for name in ("mark", "source", "target")]
    may_be_page = isinstance(action, MAY_MEAN_THE_PAGE)
    return [mark for mark in named if mark is not None and not (may_be_page and mark == 0)]


def assert_possible(text: str, observation: Observation, allowed) -> None:
    """The reply is read as an allowed action whose every argument is on the page."""
    _, action = read_reply(text)
    said = format_action(action)
    assert said.partition("(")[0] in allowed
    assert all(observation.node(mark) for mark in all_marks(action)), said
    written = text.rpartition("\n")[2].removeprefix("Action: ")
    assert parse_action(written) == action
    # The canonical text, or it with optional arguments that are as usual.
    assert written.replace("\\u003c", "<").startswith(said.removesuffix(")"))
    for name, size in zip(("x", "to_x", "y", "to_y"), [0, 0, 1, 1], strict=True):
        if hasattr(action, name) and any(observation.viewport):
            assert 0 <= getattr(action, name) < observation.viewport[size]
    if hasattr(action, "index") and observation.tabs:
        assert action.index < len(observation.tabs)


@pytest.mark.sample(2)
@pytest.mark.parametrize("thought", [None, 0, 20])
@pytest.mark.parametrize("name", PAGES)
def test_random_walks_through_the_masks_are_actions_on_elements_that_exist(name, thought):
    constraint = build_constraint(PAGES[name], EVERY, thought_tokens=thought, max_tokens=400)
    make = compile_constraint(constraint, WORDS)
    rng = np.random.default_rng(0)
    said = set()

    for _ in range(80):
        text = text_of(WORDS, walk(make, rng, most=400))
        assert text.startswith("Action: " if thought == 0 else "Thought: ")
        assert_possible(text, PAGES[name], EVERY)
        said.add(type(read_reply(text)[1]))
    assert len(said) > (5 if name == "no marks" else 9)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    marks=st.sets(st.integers(1, 12_000), max_size=40),
    allowed=st.lists(st.sampled_from(EVERY), min_size=1, unique=True),
    viewport=st.sampled_from([(0, 0), (160, 210), (1280, 720), (1, 1)]),
    tabs=st.integers(0, 12),
    thought=st.sampled_from([None, 0, 7, 60]),
    seed=st.integers(0, 1000),
)
def test_so_are_those_of_any_page_and_any_choice_of_actions(
    marks, allowed, viewport, tabs, thought, seed
):
    observation = page(*sorted(marks), viewport=viewport, tabs=("tab",) * tabs)
    try:
        constraint = build_constraint(observation, allowed, thought_tokens=thought, max_tokens=300)
    except PolicyError:
        assert not marks or (allowed == ["tab_focus"] and tabs == 1)
        return
    rng = np.random.default_rng(seed)
    for words in (WORDS, BYTES):
        make = compile_constraint(constraint, words)
        for _ in range(4):
            assert_possible(text_of(words, walk(make, rng, most=300)), observation, allowed)


def talkers() -> list[list[int]]:
    """Ways never to come to the end: the ids to prefer, most wanted first, of both tokenizers."""
    rng = np.random.default_rng(1)
    pieces = [WORDS.convert_ids_to_tokens(id) for id in range(len(WORDS))]
    short = [id for id in range(len(WORDS)) if len(pieces[id]) == 1 and pieces[id].isalpha()]
    wide = [id for id in range(len(WORDS)) if pieces[id][0] > "~" and pieces[id][0] not in "ĠĊ"]
    escapes = WORDS.convert_tokens_to_ids(["\\", "u", "0", "1", '"'])
    long = sorted(range(6, len(WORDS)), key=lambda id: -len(pieces[id]))
    ways = [short, wide, wide[::-1], escapes, long, WORDS.convert_tokens_to_ids(["-", "9"])]
    return [*ways, *([int(id) for id in rng.permutation(len(WORDS))[:200]] for _ in range(6))]


@pytest.mark.sample(4)
@pytest.mark.parametrize("thought", [None, 0, 30])
@pytest.mark.parametrize("most", [220, 400])
@pytest.mark.parametrize(
    "allowed",
    [
        *(EVERY, ("select_options",), ("fill", "click")),
        *(("click_with",), ("scroll",), ("keyboard_type",)),
    ],
)
def test_a_reply_is_whole_within_its_tokens_whatever_the_model_wants_to_say(allowed, most, thought):
    constraint = build_constraint(PAGES["many"], allowed, thought_tokens=thought, max_tokens=most)
    for words in (WORDS, BYTES):
        make = compile_constraint(constraint, words)
        for wanted in talkers():
            ids = walk_towards(make, [id for id in wanted if id < len(words)], most)
            assert len(ids) <= most
            assert ids[-1] == words.eos_token_id
            assert_possible(text_of(words, ids), PAGES["many"], allowed)


def test_a_thought_is_within_its_own_tokens():
    make = compile_constraint(build_constraint(PAGES["many"], EVERY, thought_tokens=25), WORDS)

    for wanted in talkers():
        thought, _ = read_reply(text_of(WORDS, walk_towards(make, wanted, 5000)))
        line_break = WORDS.convert_tokens_to_ids("Ċ")
        ids = walk_towards(make, wanted, 5000)
        assert ids.index(line_break) <= len(WORDS("Thought: ")["input_ids"]) + 25
        assert "\n" not in thought


@pytest.mark.parametrize("allowed", ["fill", "select_options", "goto"])
def test_a_text_of_nothing_but_long_tokens_is_still_read(allowed):
    words = tokenizer(vocabulary=272, lines=(" " * 4096,) * 2)
    long = sorted(range(len(words)), key=lambda id: -len(words.convert_ids_to_tokens(id)))
    assert len(words.convert_ids_to_tokens(long[0])) > 500
    observation = PAGES["many"]
    constraint = build_constraint(observation, (allowed,), max_tokens=8000)

    matcher, ids = compile_constraint(constraint, words)(), []
    while not matcher.is_complete:
        mask = matcher.mask()
        ends = [words.convert_tokens_to_ids(end) for end in (")", "Ċ")]
        ids.append(next(id for id in [*long, *ends] if mask[id]))
        matcher.accept(ids[-1])
    text = text_of(words, ids)
    assert 15_000 < len(text.rpartition("\n")[2]) < 20_000
    assert_possible(text, observation, (allowed,))


@pytest.mark.parametrize("text", HARD)
def test_any_text_can_be_said_and_comes_back_equal(text):
    constraint = build_constraint(PAGES["one mark"], ("fill", "select_options"), thought_tokens=0)
    spelled = json.dumps(text, ensure_ascii=False)
    for raw in ("</", "<<", '<"', "<\\"):
        while raw in spelled:
            spelled = spelled.replace(raw, "\\u003c" + raw[1:])
    for call in (f"fill(7, {spelled})", f"select_options(7, [{spelled}, {spelled}])"):
        reply = f"Action: {call}"
        matcher = compile_constraint(constraint, BYTES)()
        for token in BYTES(reply, add_special_tokens=False)["input_ids"]:
            assert matcher.mask()[token], (reply, BYTES.decode([token]))
            matcher.accept(token)
        assert matcher.mask()[BYTES.eos_token_id]
        _, action = read_reply(reply)
        assert text in (getattr(action, "text", None), *getattr(action, "options", ()))


def may_say(constraint: Constraint, reply: str) -> bool:
    """Whether some spelling of the reply is allowed."""
    matcher = compile_constraint(constraint, BYTES)()
    try:
        for token in BYTES(reply, add_special_tokens=False)["input_ids"]:
            matcher.accept(token)
    except ModelError:
        return False
    return bool(matcher.mask()[BYTES.eos_token_id])


@pytest.mark.parametrize("name", EVERY)
def test_every_action_can_be_said_in_its_canonical_form(name):
    observation = PAGES["many"]
    samples = {
        "mark": 299, "source": 1, "target": 300, "button": "right", "keys": "Control+Shift",
        "count": 2, "text": "words", "option": "One", "options": ("One", "Two"), "key": "Control+a",
        "dx": -10, "dy": 9000, "x": 1279, "y": 719, "to_x": 0, "to_y": 10, "path": "/tmp/a.txt",
        "paths": ("/tmp/a.txt",), "reply": "dismiss", "url": "http://x.test/?a=1&b=2", "index": 2,
        "milliseconds": 99_999, "reason": "cannot", "name": "r.csv", "start": 4000,
    }  # fmt: skip
    cls = ACTIONS[name]
    action = cls(**{field.name: samples[field.name] for field in fields(cls)})

    assert may_say(
        build_constraint(observation, EVERY, thought_tokens=0, tried=[action]),
        f"Action: {format_action(action)}",
    )
    said = f"Thought: it is time\nAction: {format_action(action)}"
    assert may_say(build_constraint(observation, (name,), tried=[action]), said)
    others = tuple(other for other in EVERY if other != name)
    assert not may_say(build_constraint(observation, others), said)


@pytest.mark.parametrize(
    "reply",
    [
        "click(8)", "click(0)", "click(71)", "click(07)", "click(7,  'right')", 'click(7, "left")',
        'click(7, "right")',
        "click(-7)", "click()", 'fill(7, "a"b")', 'fill(7, "a\nb")', 'fill(7, "\\x41")',
        'fill(7, "</think>")', 'fill(7, "a") ', "press(9, \"a\")", "mouse_click(160, 3)",
        "mouse_click(3, 210)", "tab_focus(1)", "scroll(0, 00, 5)", "scroll(0, -0, 5)", "delete(7)",
        'press(7, "")', "wait(-5)", 'click_with(7, "Shift", 4)',
    ],
)  # fmt: skip
def test_nothing_else_can_be_said(reply):
    observation = page(7, viewport=(160, 210), tabs=("one",))
    for thought in (0, None):
        constraint = build_constraint(observation, EVERY, thought_tokens=thought)
        lead = "Thought: so\nAction: " if thought is None else "Action: "
        assert may_say(constraint, lead + "click(7)")
        assert not may_say(constraint, lead + reply)
        assert not may_say(constraint, reply)


def test_a_thought_keeps_to_its_line_and_holds_no_end_of_private_reasoning():
    constraint = build_constraint(PAGES["one mark"], ("click",), thought_tokens=200)

    assert may_say(constraint, 'Thought: a < b, naïve 日本 😀 "so" it\'s\nAction: click(7)')
    for thought in ("one\ntwo", "so</think>Action: click(7)", "tab\there", "\x7f\x00"):
        assert not may_say(constraint, f"Thought: {thought}\nAction: click(7)")


def test_few_actions_without_text_are_listed_and_many_are_a_grammar():
    few = build_constraint(
        page(3, 12), ("click", "go_back", "press", "drag_and_drop"), thought_tokens=0
    )
    assert not few.choices  # keys are not listed
    few = build_constraint(page(3, 12), ("click", "go_back", "drag_and_drop"), thought_tokens=0)
    assert few.choices == (
        "Action: click(3)",
        "Action: click(12)",
        "Action: go_back()",
        *(f"Action: drag_and_drop({one}, {other})" for one in (3, 12) for other in (3, 12)),
    )
    assert build_constraint(PAGES["many"], ("click",), thought_tokens=0).grammar
    assert build_constraint(page(3), ("click",), thought_tokens=20).grammar
    assert build_constraint(page(3), ("click", "answer"), thought_tokens=0).grammar


@pytest.mark.parametrize("thought", [0, None])
def test_an_optional_argument_is_offered_once_the_action_was_tried_without(thought):
    lead = "Thought: so\nAction: " if thought is None else "Action: "
    for tried, mark, is_offered in ((), 3, False), ((Click(3),), 3, True), ((Click(3),), 12, False):
        constraint = build_constraint(page(3, 12), thought_tokens=thought, tried=tried)
        assert may_say(constraint, f"{lead}click({mark})")
        assert may_say(constraint, f'{lead}click({mark}, "right")') == is_offered
    gone = build_constraint(page(12), thought_tokens=thought, tried=(Click(3),))
    assert not may_say(gone, f'{lead}click(3, "right")')
    # An open dialog is asked for its text at once, for it is closed after the plain call.
    assert may_say(build_constraint(page(3)), 'Thought: so\nAction: dialog("accept", "Ada")')


def test_the_same_page_gives_the_same_text_and_another_page_another():
    observation = PAGES["many"]
    assert build_constraint(observation).dumps() == build_constraint(observation).dumps()
    assert build_constraint(observation) != build_constraint(page(*range(1, 302)))
    assert len(build_constraint(page(*range(1, 5000)), EVERY).dumps()) < 6000


@pytest.mark.parametrize("name", PAGES)
async def test_the_language_policy_does_what_a_constrained_reply_says(name):
    observation = PAGES[name]
    make = compile_constraint(build_constraint(observation, ESSENTIAL, max_tokens=300), WORDS)
    rng = np.random.default_rng(4)
    trajectory = Trajectory("e", Task("fake/any@1", "http://x.test/", goal="any"))

    for _ in range(25):
        text = text_of(WORDS, walk(make, rng))
        model = CannedModel([text])
        decision = await LanguagePolicy(model).act(trajectory, observation)
        assert (decision.thought, decision.action) == read_reply(text)
        assert len(model.requests) == 1


def test_a_page_without_elements_still_offers_what_needs_none():
    constraint = build_constraint(page(), thought_tokens=0)
    possible = ("press(0, \"Enter\")", "scroll(0, 0, 300)", "mouse_click(3, 4)", "go_back()",
                "answer(\"\")", "upload_file(0, \"/tmp/a\")")  # fmt: skip
    assert all(may_say(constraint, f"Action: {call}") for call in possible)
    assert not may_say(constraint, "Action: click(0)")
    assert not may_say(constraint, 'Action: press(1, "Enter")')
    with pytest.raises(PolicyError, match=r"none of the actions click, fill.*wait or give_up"):
        build_constraint(page(), ("click", "fill"))


def test_bad_input_is_named():
    with pytest.raises(SetupError, match="unknown action 'clik'; did you mean click"):
        build_constraint(PAGES["many"], ("clik",))
    with pytest.raises(SetupError, match=r"40 tokens may be too few.*at least \d+"):
        build_constraint(PAGES["many"], ESSENTIAL, max_tokens=40)
    with pytest.raises(SetupError, match="shorter thought than 500 tokens"):
        build_constraint(PAGES["many"], ("click",), thought_tokens=500, max_tokens=500)
    one, tried = PAGES["one mark"], (Click(7),)
    least = build_constraint(one, ("click",), thought_tokens=0, max_tokens=27, tried=tried)
    with pytest.raises(SetupError, match="at least 27"):
        build_constraint(PAGES["one mark"], ("click",), thought_tokens=0, max_tokens=26)
    assert max(len(choice) for choice in least.choices) == 26
