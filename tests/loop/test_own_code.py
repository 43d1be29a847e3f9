"""Policies and judges from a person's own file: what is refused, and with which words."""

from pathlib import Path

import pytest

from loop.judging.specification import EvaluatorBuilder, parse_evaluator
from loop.own_code import load_own_judge, load_own_policy
from loop.policies import NamedPolicy
from webagent.errors import UsageError

FILE = """
from evaluators import Verdict, evaluator


@evaluator("kind", version="2")
def kind(trajectory):
    return Verdict(1.0, "always")


class Idle:
    async def act(self, trajectory, observation): ...
    async def propose(self, trajectory, observation, n): ...


def make_idle():
    return Idle()


idle = Idle()
number = 3


class Half:
    async def act(self, trajectory, observation): ...
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(FILE, encoding="utf-8")
    return tmp_path / "mine.py"


@pytest.mark.parametrize("name", ["Idle", "make_idle", "idle"])
def test_a_class_a_function_and_an_object_are_policies(file: Path, name: str) -> None:
    NamedPolicy(f"python:{file}:{name}").check()

    assert type(load_own_policy(f"{file}:{name}")).__name__ == "Idle"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("{file}:Gone", "has no 'Gone'; it has "),
        ("{file}:Half", "of type Half; a policy has the methods `act` and `propose`"),
        ("{file}:number", "of type int"),
        ("{file}.gone.py:Idle", "cannot be imported"),
        ("no.such.module:Idle", "cannot be imported"),
        ("{file}", "write FILE.py:NAME or MODULE:NAME"),
        ("", "write FILE.py:NAME or MODULE:NAME"),
    ],
)
def test_what_is_no_policy_is_refused_by_what_it_is(file: Path, place: str, said: str) -> None:
    with pytest.raises(UsageError, match="--policy python:") as refused:
        NamedPolicy(f"python:{place.format(file=file)}").check()

    assert said in str(refused.value)


def test_a_judge_of_ones_own_is_known_by_the_content_of_its_file(file: Path) -> None:
    judge = EvaluatorBuilder().evaluator(parse_evaluator(f"cascade(rules, python:{file}:kind)"))
    before = load_own_judge(f"{file}:kind").id
    file.write_text(FILE.replace("always", "ever"), encoding="utf-8")

    assert before.startswith("kind@2#") and before in judge.id
    assert load_own_judge(f"{file}:kind").id != before


def test_a_function_that_is_not_decorated_is_no_judge(file: Path) -> None:
    with pytest.raises(UsageError, match="of type function; decorate its function with @evaluator"):
        load_own_judge(f"{file}:make_idle")
