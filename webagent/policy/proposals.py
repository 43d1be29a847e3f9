"""Samples of one turn as different actions, each with its log-probability."""

import math
from collections import Counter
from collections.abc import Sequence

from webagent.action import Action, format_action
from webagent.policy.asking import Choice
from webagent.records import Candidate


def ranked(choices: Sequence[Choice]) -> list[tuple[Choice, Candidate]]:
    """The different actions among the samples, the likeliest first, each with its first sample.

    Where the model gives log-probabilities and every reply is an action without a thought, an
    action's is that of its different spellings together. Otherwise, as an action can come of
    countless thoughts, it is the logarithm of its share of the samples.
    """
    firsts: dict[Action, Choice] = {}
    counts: Counter[Action] = Counter()
    for choice in choices:
        firsts.setdefault(choice.action, choice)
        counts[choice.action] += 1
    if all(choice.reply.log_probs and not choice.thought for choice in choices):
        log_probs = _of_spellings(choices)
    else:
        log_probs = {action: math.log(n / counts.total()) for action, n in counts.items()}
    order = sorted(firsts, key=lambda action: (-log_probs[action], -counts[action]))
    return [
        (firsts[action], Candidate(format_action(action), log_probs[action])) for action in order
    ]


def _of_spellings(choices: Sequence[Choice]) -> dict[Action, float]:
    spellings: dict[Action, dict[tuple[int, ...], float]] = {}
    for choice in choices:
        known = spellings.setdefault(choice.action, {})
        known[choice.reply.token_ids] = sum(choice.reply.log_probs)
    return {action: _log_sum(tuple(known.values())) for action, known in spellings.items()}


def _log_sum(log_probs: Sequence[float]) -> float:
    most = max(log_probs)
    return most + math.log(math.fsum(math.exp(value - most) for value in log_probs))
