"""Functions of one's own become actions: typed, read from replies, held by guards, stored."""

from collections.abc import Iterator
from typing import Any, Literal

import pytest

from webagent import custom_action
from webagent.action import ACTIONS, describe, format_action, make_action, parse_action
from webagent.action.actions import ACTION_NAMES
from webagent.action.custom import call_function, stored_action
from webagent.errors import ActionError, UsageError
from webagent.guard import ActionRule, GuardPolicy
from webagent.guard.decide import decide_action
from webagent.policy.allowed import build_constraint
from webagent.policy.reply import read_reply
from webagent.records import Decision, Node, Observation
from webagent.serialize import dumps, from_json, loads, to_json

PAGE = Observation(
    goal="", title="", url="https://shop.example/", nodes=(Node(1, "button", "Buy"),)
)


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Leave no action behind for other tests."""
    known = set(ACTIONS)
    yield
    for name in set(ACTIONS) - known:
        ACTION_NAMES.pop(ACTIONS.pop(name))


def stock_of(sku: str, at: Literal["north", "south"] = "north", least: int = 1) -> str:
    """Return how many pieces lie in
    our warehouse.

    This is not shown.
    """
    return f"{len(sku)} at {at}, {least}"


def test_a_function_is_read_from_a_reply_and_shown_with_its_first_paragraph() -> None:
    assert custom_action(stock_of) is stock_of and stock_of("AB") == "2 at north, 1"
    shown = describe(("stock_of",))
    assert shown == (
        "stock_of(sku)  Return how many pieces lie in our warehouse."
        ' Optional: at, "north" or "south". Optional: least.'
    )
    thought, action = read_reply('Thought: look\nAction: stock_of("A-1", least="3")')
    assert thought == "look" and format_action(action) == 'stock_of("A-1", "north", 3)'
    assert parse_action(format_action(action)) == action
    with pytest.raises(ActionError, match=r"stock_of\(sku, at, least\): at cannot be 'east'"):
        parse_action('stock_of("A-1", at="east")')


async def test_what_it_returns_or_raises_is_what_is_told() -> None:
    custom_action(stock_of)
    assert await call_function(make_action("stock_of", {"sku": "abc"})) == (  # type: ignore[arg-type]  # of the union
        "stock_of: 3 at north, 1",
        True,
    )

    @custom_action
    async def fail(names: list[str], share: float, really: bool) -> None:
        """Fail."""
        assert isinstance(names, list)
        raise LookupError(f"{names} {share} {really}")

    action = parse_action('fail(["a"], 1, True)')
    said = "fail failed: LookupError: ['a'] 1.0 True"
    assert await call_function(action) == (said, False)  # type: ignore[arg-type]  # of the union


def test_it_is_stored_with_its_parameters_and_read_where_nobody_has_the_function() -> None:
    custom_action(stock_of)
    decision = Decision(parse_action('stock_of("A-1")'))
    stored = dumps(to_json(decision))
    assert from_json(Decision, loads(stored)) == decision
    ACTION_NAMES.pop(ACTIONS.pop("stock_of"))
    there = from_json(Decision, loads(stored))
    assert format_action(there.action) == 'stock_of("A-1", "north", 1)'
    assert loads(dumps(to_json(there))) == loads(stored)


async def test_a_call_that_only_a_record_knows_is_not_made() -> None:
    said, went_well = await call_function(stored_action("of_another_program", {"a": 1}))
    assert not went_well and "'of_another_program'" in said


def test_a_guard_rules_on_it_by_name_and_by_arguments() -> None:
    custom_action(stock_of)
    rule = ActionRule("deny", actions=("stock_of",), when={"properties": {"sku": {"const": "A"}}})
    policy = GuardPolicy(actions=(rule,))
    assert decide_action(policy, parse_action('stock_of("A")'), PAGE).outcome == "deny"
    assert decide_action(policy, parse_action('stock_of("B")'), PAGE).outcome == "allow"
    with pytest.raises(ValueError, match="no action called 'stock_for'"):
        ActionRule("deny", actions=("stock_for",))


def test_a_grammar_offers_it_like_any_action() -> None:
    custom_action(stock_of)
    grammar = build_constraint(PAGE, ("stock_of", "click"), thought_tokens=0).grammar
    assert "stock_of(" in grammar and "ANY_NUMBER" in grammar and "north" in grammar


def test_what_can_be_no_action_says_why() -> None:
    def click(mark: int) -> None:
        """Do something else."""

    def silent(a: str) -> None: ...

    def untyped(a) -> None:  # type: ignore[no-untyped-def]  # that is what is refused
        """Take anything."""

    def many(*a: str) -> None:
        """Take many."""

    wrong: dict[Any, str] = {
        click: "click is an action already",
        silent: "silent needs a docstring",
        untyped: "untyped: a is no parameter that a model can give",
        many: r"many: \*a: ?'?str'? is no parameter",
    }
    for function, reason in wrong.items():
        with pytest.raises(UsageError, match=reason):
            custom_action(function)
