"""Rows as flat tensors of their taught tokens."""

from tests.webagent.training.language.episodes import played, sampled
from webagent.training.language.losses import taught_tokens
from webagent.training.language.rows import TokenRow, make_step_rows

STEPS = [
    sampled((1, 2), (3, 4, 5), log_probs=(-1.0, -2.0, -3.0)),
    sampled((6,), (7,), log_probs=(-0.75,)),
]


def test_taught_tokens_come_row_by_row_with_all_that_losses_need() -> None:
    taught = taught_tokens(make_step_rows(played(*STEPS), weights=[0.5, 1], advantages=[2.0, -1.0]))
    assert len(taught) == 4
    assert taught.weights.tolist() == [0.5, 0.5, 0.5, 1]
    assert taught.advantages is not None and taught.advantages.tolist() == [2, 2, 2, -1]
    assert taught.behaviour is not None and taught.behaviour.tolist() == [-1, -2, -3, -0.75]


def test_a_token_that_one_row_lacks_a_value_for_leaves_all_without() -> None:
    with_advantage, without = (
        make_step_rows(played(*STEPS))[0].with_advantage(1.0),
        TokenRow((1, 2), (0.0, 1.0)),
    )
    taught = taught_tokens([with_advantage, without])
    assert taught.advantages is None and taught.behaviour is None
    assert taught.weights.tolist() == [1, 1, 1, 1]
