"""Failures: how far what was done in episodes that failed speaks against doing it again."""

import math
from collections.abc import Sequence
from dataclasses import replace

from webagent.memory.analogy import Proposal, family
from webagent.memory.cases import Case, translate
from webagent.memory.constants import (
    ASTRAY,
    FURTHER_FAILURE,
    LEAST_KNOWN,
    MOST_CERTAIN,
    MOST_CLAIMED,
    NOT_PROPOSED,
)
from webagent.memory.scene import MARKS, Scene
from webagent.memory.scorer import prior


def blame_steps(chances: Sequence[float], known: Sequence[float]) -> list[float]:
    """Return for each step of an episode that failed by how many nats its log-odds fall.

    `chances` are the probabilities, when they were chosen, that each step was right, and `known`
    those of the likeliest action there. The first wrong step is sought by Bayes' rule: it comes
    after steps that were right, and before pages on which memory did not know what to do, since
    what was demonstrated leads to none of these. What came after it is not blamed.
    """
    claimed = [min(max(chance, LEAST_KNOWN), MOST_CLAIMED) for chance in chances]
    lost = [max(1.0, ASTRAY / max(each, LEAST_KNOWN)) for each in known]
    first = [
        math.prod(claimed[:i]) * (1 - claimed[i]) * max(lost[i + 1 :], default=1.0)
        for i in range(len(claimed))
    ]
    found = []
    for i, chance in enumerate(claimed):
        later, not_before = sum(first[i + 1 :]), sum(first[i:])
        if not not_before:  # too unlikely for a number: something before was wrong
            found.append(0.0)
            continue
        left = max(later / not_before, (1 - MOST_CERTAIN) * chance)
        nats = math.log(chance / (1 - chance)) - math.log(left / (1 - left))
        found.append(max(0.0, nats) * not_before / sum(first))
    return found


def discount(
    scene: Scene,
    proposals: Sequence[Proposal],
    succeeded: Sequence[tuple[float, Case]],
    failed: Sequence[tuple[float, Case]],
) -> list[Proposal]:
    """Return the proposals, best first, with the confidence that failures leave them.

    `succeeded` and `failed` are steps of judged episodes with how close they are to this scene, 1
    for as close as the nearest case. What failures take from a proposal goes to the others and to
    what is not among them. A failure counts less the more successes of the same goal did the same.
    """
    left = []
    for proposal in proposals:
        excuses = [(near * likeness(case, proposal, scene), case) for near, case in succeeded]
        against = []
        for near, case in failed:
            like = near * likeness(case, proposal, scene)
            if like:
                template = case.goal.template
                excused = sum(each for each, other in excuses if other.goal.template == template)
                against.append(like * -case.weight / (1 + excused))
        nats = sum(
            each * FURTHER_FAILURE**i for i, each in enumerate(sorted(against, reverse=True))
        )
        left.append(proposal.confidence * math.exp(-nats))
    other = max(NOT_PROPOSED, 1.0 - sum(proposal.confidence for proposal in proposals))
    total = sum(left) + other
    found = [
        replace(proposal, confidence=weight / total)
        for proposal, weight in zip(proposals, left, strict=True)
    ]
    return sorted(found, key=lambda proposal: -proposal.confidence)


def likeness(case: Case, proposal: Proposal, scene: Scene) -> float:
    """Return how far a case did the same as is proposed: the share of the proposal's descriptors
    that the case has, each as likely as it is to be meant, together; 0 for another operation."""
    if case.op != proposal.choices[0].op:
        return 0.0
    names = [name for name, _ in case.arguments]
    first = next((name for name in names if name in MARKS), "")
    ordered = [first, *(name for name in names if name != first)]
    result = 1.0
    for name, choice in zip(ordered, proposal.choices, strict=False):
        if name and choice.reasons:
            held = set(translate(case.descriptors(name), case.goal, scene.goal))
            meant = {d: math.exp(prior(family(d))) for d in choice.reasons}
            result *= sum(meant[d] for d in held & meant.keys()) / sum(meant.values())
    return result
