"""Rows of one episode joined where one continues the other."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webagent.training.language.episodes import CHOICE, played, sampled
from webagent.training.language.rows import TokenRow, make_step_rows, merge_rows


def conversation(seed: int = 0, turns: int = 4, id: str = "e") -> list[TokenRow]:
    """Rows of an episode whose every prompt goes on from the reply before."""
    dice = random.Random(seed)

    def some(most: int) -> tuple[int, ...]:
        return tuple(dice.randrange(10, 300) for _ in range(dice.randint(1, most)))

    decisions, history = [], some(9)
    for _ in range(turns):
        reply = some(5)
        behaviour = tuple(-dice.uniform(4.0, 7.0) for _ in reply)
        decisions.append(sampled(history, reply, log_probs=behaviour))
        history = (*history, *reply, *some(6))
    advantages = [dice.uniform(-1, 1) for _ in decisions]
    return make_step_rows(played(*decisions, id=id), advantages=advantages)


def test_rows_that_continue_each_other_become_one() -> None:
    rows = conversation()
    [merged] = merge_rows(rows)
    assert merged.ids == rows[-1].ids
    assert merged.steps == (0, 1, 2, 3)
    for row, span in zip(rows, merged.spans, strict=True):
        start, stop = span
        assert row.spans == (span,)
        for field in ("ids", "weights", "log_probs", "advantages"):
            assert getattr(merged, field)[start:stop] == getattr(row, field)[start:stop]
    inside = {place for start, stop in merged.spans for place in range(start, stop)}
    assert {i for i, weight in enumerate(merged.weights) if weight} == inside


def test_a_prompt_that_begins_otherwise_stays_a_row_of_its_own() -> None:
    first, second, third, fourth = conversation()
    merged = merge_rows([first, second, replace(third, ids=(9, *third.ids[1:])), fourth])
    assert [row.steps for row in merged] == [(0, 1, 3), (2,)]


def test_a_step_that_was_left_out_is_context_in_the_merged_row() -> None:
    first, second, third, _ = conversation()
    [merged] = merge_rows([first, third])
    [(start, stop)] = second.spans
    assert merged.steps == (0, 2)
    assert set(merged.weights[start:stop]) == {0.0}
    assert merged.ids[:stop] == second.ids


def test_two_samples_for_one_prompt_are_not_joined() -> None:
    rows = conversation(turns=2)
    again = replace(rows[0], steps=(5,))
    assert [row.steps for row in merge_rows([rows[0], again, rows[1]])] == [(0,), (5, 1)]


@pytest.mark.parametrize(
    "fields",
    [
        {"episode": "other"},
        {"weights_version": "w2"},
        {"temperature": 0.5},
        {"imagined": True},
        {"group": "another"},
        {"log_probs": ()},
        {"advantages": ()},
    ],
)
def test_rows_that_differ_in_kind_are_not_joined(fields: dict[str, object]) -> None:
    first, second = conversation(turns=2)
    assert len(merge_rows([first, replace(second, **fields)])) == 2  # type: ignore[arg-type]
    nameless = [replace(row, episode="") for row in (first, second)]
    assert merge_rows(nameless) == nameless


def test_images_must_begin_alike_too() -> None:
    first, second = conversation(turns=2)
    first = replace(first, images=("a",))
    assert merge_rows([first, replace(second, images=("a", "b"))])[0].images == ("a", "b")
    assert len(merge_rows([first, replace(second, images=("b", "a"))])) == 2
    assert len(merge_rows([first, second])) == 2


def test_constraints_keep_their_places() -> None:
    one = sampled((1, 2), (3, 4), allowed=CHOICE)
    two = sampled((1, 2, 3, 4, 5), (6,), allowed=CHOICE)
    [merged] = merge_rows(make_step_rows(played(one, two)))
    assert merged.allowed == ((2, 4, CHOICE), (5, 6, CHOICE))


def test_merging_again_changes_nothing() -> None:
    rows = merge_rows([*conversation(1, id="a"), *conversation(2, id="b")])
    assert len(rows) == 2
    assert merge_rows(rows) == rows


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_whatever_is_merged_every_reply_stays_with_its_whole_prompt(seed: int, turns: int) -> None:
    dice = random.Random(seed)
    decisions, history = [], (1, 2)
    for _ in range(turns):
        reply = tuple(dice.randrange(3) for _ in range(dice.randint(1, 2)))
        decisions.append(sampled(history, reply))
        kept = (*history, *reply) if dice.random() < 0.8 else history
        history = (*kept, *[dice.randrange(3)] * dice.randint(0, 2))
        history = history[: dice.randint(1, len(history))] if dice.random() < 0.2 else history
    rows = make_step_rows(played(*decisions), advantages=[float(i) for i in range(turns)])
    merged = merge_rows(rows)
    found = {
        step: (row.ids[:stop], (start, stop), set(row.weights[start:stop]), row.advantages[start])
        for row in merged
        for step, (start, stop) in zip(row.steps, row.spans, strict=True)
    }
    expected = {
        index: (row.ids, row.spans[0], {1.0}, float(index)) for index, row in enumerate(rows)
    }
    assert found == expected
    taught = [sum(map(bool, row.weights)) for row in rows]
    assert sum(sum(map(bool, row.weights)) for row in merged) == sum(taught)
