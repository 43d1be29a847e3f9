import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.errors import ModelError, SetupError
from webagent.models import CannedModel, Constraint, Tokens


@given(st.lists(st.text(), min_size=1))
def test_stored_choices_come_back(choices: list[str]) -> None:
    constraint = Constraint(choices=tuple(choices))
    assert Constraint.loads(constraint.dumps()) == constraint


def test_a_stored_grammar_comes_back_as_one_line() -> None:
    constraint = Constraint(grammar='start: "yes"\n  | "no"')
    assert "\n" not in constraint.dumps()
    assert Constraint.loads(constraint.dumps()) == constraint


@pytest.mark.parametrize("both", [{}, {"choices": ("a",), "grammar": "start: b"}])
def test_a_constraint_is_one_of_two_kinds(both: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="one of the two"):
        Constraint(**both)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "click; marks 1-3", "[]", "{}", '{"choices": 3}'])
def test_what_is_no_stored_constraint_is_named(text: str) -> None:
    with pytest.raises(ModelError, match="not a stored constraint"):
        Constraint.loads(text)


async def test_a_model_of_messages_refuses_ids() -> None:
    with pytest.raises(SetupError, match="not token ids"):
        await CannedModel(["yes"]).complete(Tokens((1, 2)))
