"""What a stored step teaches a language model."""

from dataclasses import replace

import pytest

from tests.fakes.lessons import episode, node, page
from tests.webagent.training.language.episodes import CHOICE, played, sampled
from webagent.action.actions import Click
from webagent.errors import SetupError
from webagent.records import Decision, Ending, Provenance, Trajectory
from webagent.training.language.rows import Encoded, TokenRow, add_advantages, make_step_rows


def written(trajectory: Trajectory, index: int) -> Encoded:
    """A fixed writing of any step."""
    return Encoded((1, 2, 100 + index), (7, 8), ("shot",))


def test_a_row_is_the_stored_ids_and_temperature_with_weight_on_the_reply_only() -> None:
    decision = sampled((1, 2, 3), (4, 5), log_probs=(-0.5, -0.25), images=("a", "b"))
    [row] = make_step_rows(played(replace(decision, temperature=0.7)))
    assert row.ids == (1, 2, 3, 4, 5)
    assert row.weights == (0, 0, 0, 1, 1)
    assert row.log_probs == (0, 0, 0, -0.5, -0.25)
    assert row.spans == ((3, 5),) and row.steps == (0,)
    assert (row.temperature, row.images) == (0.7, ("a", "b"))
    assert (row.episode, row.group, row.weights_version) == ("e", "fake/lesson@1:0", "w1")
    assert make_step_rows(played(decision))[0].temperature == 1


@pytest.mark.parametrize(
    ("allowed", "found"), [(CHOICE, ((2, 4, CHOICE),)), ("click fill; marks 1-4", ())]
)
def test_a_constraint_goes_with_its_ids_and_a_description_of_actions_is_none(allowed, found):
    [row] = make_step_rows(played(sampled((1, 2), (3, 4), allowed=allowed)))
    assert row.allowed == found


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ({"allowed": '{"choices": '}, "stored constraint"),
        ({"allowed": '{"marks": [1]}'}, "stored constraint"),
        ({"log_probs": (-1.0,)}, "2 sampled ids but 1 log-prob"),
    ],
)
def test_a_sample_that_was_stored_wrong_is_refused(stored, words):
    with pytest.raises(SetupError, match=words):
        make_step_rows(played(sampled((1,), (2, 3), **stored)))


@pytest.mark.parametrize("ending", [*Ending, None])
def test_an_episode_gives_rows_unless_infrastructure_ended_it(ending: Ending | None) -> None:
    found = make_step_rows(played(sampled((1,), (2,)), ending=ending))
    assert len(found) == (ending is not None and not ending.is_infrastructure)


def test_a_step_of_weight_zero_gives_no_row_and_a_half_counts_half() -> None:
    steps = [sampled((i,), (9,)) for i in range(3)]
    rows = make_step_rows(played(*steps), weights=[1, 0, 0.5])
    assert [(row.steps, row.weights[-1]) for row in rows] == [((0,), 1.0), ((2,), 0.5)]
    assert [row.steps for row in make_step_rows(played(*steps), weights={1: 0.0})] == [(0,), (2,)]


def test_a_reply_of_a_server_without_ids_is_imitated_and_never_taken_for_sampled() -> None:
    without = Decision(Click(1), source="policy", weights="gpt-remote")
    [row] = make_step_rows(played(without), encode=written)
    assert row.ids and not row.has_behaviour and row.weights_version == "gpt-remote"
    with pytest.raises(SetupError, match=r"gpt-remote.*token_ids"):
        make_step_rows(played(without))


def test_a_demonstration_is_encoded_and_has_no_behaviour() -> None:
    shown = episode((page("Go", node(1, "button", "Go")), Click(1)))
    [row] = make_step_rows(shown, encode=written)
    assert (row.ids, row.images) == ((1, 2, 100, 7, 8), ("shot",))
    assert not row.has_behaviour and row.log_probs == ()
    with pytest.raises(SetupError, match="demonstration step without ids; pass `encode`"):
        make_step_rows(shown)


@pytest.mark.parametrize("source", ["lookahead", "rerank", "best_of_k"])
def test_what_was_chosen_among_samples_keeps_its_ids_but_no_behaviour(source: str) -> None:
    [row] = make_step_rows(played(sampled((1,), (2,), source=source)))
    assert row.ids == (1, 2) and not row.has_behaviour


def test_advantages_go_to_every_id_of_their_step() -> None:
    rows = make_step_rows(played(sampled((1,), (2, 3)), sampled((4,), (5,))), advantages=[0.5, -1])
    assert [row.advantages for row in rows] == [(0, 0.5, 0.5), (0, -1)]


def test_episodes_without_an_advantage_are_left_out_not_taken_for_average() -> None:
    rows = [
        *make_step_rows(played(sampled((1,), (2,)), id="a")),
        *make_step_rows(played(sampled((1,), (2,)))),
    ]
    assert [row.advantages for row in add_advantages(rows, {"a": 2.0})] == [(0, 2)]


def test_imagined_steps_are_marked() -> None:
    dream = played(sampled((1,), (2,)), provenance=Provenance(world="imagined"))
    imagined, real = make_step_rows(dream), make_step_rows(played(sampled((1,), (2,))))
    assert imagined[0].imagined and not real[0].imagined


def test_a_row_that_contradicts_itself_cannot_be_made() -> None:
    row = TokenRow((1, 2), (0.0, 1.0))
    for wrong in (
        {"weights": (1.0, 1.0)},
        {"weights": (0.0,)},
        {"log_probs": (0.0,)},
        {"advantages": (0.0,)},
        {"steps": (1,)},
        {"allowed": ((1, 3, CHOICE),)},
        {"steps": (1,), "spans": ((0, 2),)},
    ):
        with pytest.raises(ValueError):
            replace(row, **wrong)  # type: ignore[arg-type]
