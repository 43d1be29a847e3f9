"""Regression onto advantages: off-policy learning that stays near a reference."""

from torch import Tensor

from webagent.training.language.losses.aggregate import mean, sequence_sums


def advantage_regression(
    log_ratios: Tensor,
    advantages: Tensor,
    beta: float = 1.0,
    denominator: float | None = None,
) -> Tensor:
    """WebRL's policy update (arXiv 2411.02337). Its objective is reward with a penalty on leaving
    the policy of the phase before,

        max E_pi [sum_t r(s_t, a_t) + beta log ref(a_t | s_t)] + beta H(pi),

    whose optimum is pi*(a|s) = ref(a|s) exp(A*(s, a) / beta). The loss fits the policy to it on
    actions that any policy chose:

        L = E_(s, a) (beta log pi(a|s) / ref(a|s) - A(s, a))^2

    `log_ratios` (steps,) are sums over the tokens of a step's action, `advantages` (steps,).
    Deviation: none from the paper's equation. The authors' published code differs from it: it
    divides the ratio by a token count, squashes advantages to 1 or -0.6, leaves out the negative
    ones, bounds beta by the ratio and uses a smooth L1.
    """
    return mean((beta * log_ratios - advantages).square(), denominator)


def attribution(
    contributions: Tensor, episodes: Tensor, outcomes: Tensor, denominator: float | None = None
) -> Tensor:
    """Training of SPA's progress estimator (arXiv 2505.20732): what it says that the steps
    contributed is to add up to the outcome,

        L = mean over episodes of (sum_t c_t - R)^2

    `contributions` (steps,) are its predictions, `episodes` (steps,) number each step's episode
    from 0, `outcomes` are (episodes,).
    """
    totals = sequence_sums(contributions, episodes, len(outcomes))
    return mean((totals - outcomes).square(), denominator)
