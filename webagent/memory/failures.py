"""Failures: how far what was done in episodes that failed speaks against doing it again."""

import math
from collections.abc import Sequence
from dataclasses import replace

from webagent.memory.analogy import Proposal, Recalled
from webagent.memory.cases import Case, translate
from webagent.memory.scene import MARKS, Scene

LEAST_BLAME = 0.15
"""Nats below which a step of a failed episode is not kept."""
_SUREST = 0.95
"""Chance that everything else was right, at most: no single failure refutes a step."""


def blame_steps(chances: Sequence[float]) -> list[float]:
    """Return for each step of an episode that failed by how many nats its log-odds fall.

    `chances` are the probabilities, when they were chosen, that each step was right. By Bayes' rule
    the odds of a step are multiplied by the chance that something else was wrong: a step is blamed
    where all the others were sure, and hardly where another was as doubtful.
    """
    found = []
    for i in range(len(chances)):
        rest = math.prod(chance for j, chance in enumerate(chances) if j != i)
        found.append(-math.log(1 - min(rest, _SUREST)))
    return found


def discount(
    scene: Scene,
    proposals: Sequence[Proposal],
    recalled: Sequence[Recalled],
    avoided: Sequence[tuple[float, Case]],
) -> list[Proposal]:
    """Return the proposals, the surest first, with the confidence that failures leave them.

    `avoided` are steps of failed episodes with how close they are to this scene, 1 for as close as
    the nearest case. What one takes from a proposal goes to the others and to what is not among
    them. The strongest failure counts, since failures of one round share their cause, and less the
    more successes did the same.
    """
    left = []
    for proposal in proposals:
        against = max(
            (near * -case.weight * likeness(case, proposal, scene) for near, case in avoided),
            default=0.0,
        )
        if against:
            against /= 1 + len(
                {
                    case.episode
                    for _, case in recalled
                    if case.source == "success" and likeness(case, proposal, scene) >= 0.5
                }
            )
        left.append(proposal.confidence * math.exp(-against))
    other = max(0.0, 1.0 - sum(proposal.confidence for proposal in proposals))
    total = sum(left) + other
    found = [
        replace(proposal, confidence=weight / total)
        for proposal, weight in zip(proposals, left, strict=True)
    ]
    return sorted(found, key=lambda proposal: -proposal.confidence)


def likeness(case: Case, proposal: Proposal, scene: Scene) -> float:
    """Return how far a case did the same as is proposed: the share of the proposal's descriptors
    that the case has, for all arguments together; 0 for another operation."""
    if case.op != proposal.choices[0].op:
        return 0.0
    names = [name for name, _ in case.arguments]
    first = next((name for name in names if name in MARKS), "")
    ordered = [first, *(name for name in names if name != first)]
    result = 1.0
    for name, choice in zip(ordered, proposal.choices, strict=False):
        if name and choice.reasons:
            held = set(translate(case.descriptors(name), case.goal, scene.goal))
            result *= len(held & choice.reasons.keys()) / len(choice.reasons)
    return result
