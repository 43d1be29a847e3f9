"""Answers that memory does not hold: texts of the page that may be the answer to a question."""

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from webagent.memory.constants import ANSWERED_ALIKE, LINE_APART, LONGEST_ANSWER
from webagent.memory.goals import clean
from webagent.records import Observation

_PIECES = re.compile(r"[^|,;:()]+")


def guess_answer(
    observation: Observation,
    given: Sequence[str],
    known: Mapping[str, float],
    failed: Collection[str],
    rng: np.random.Generator,
) -> str | None:
    """Return a text of the page that was not tried yet, sampled by how likely it is an answer; None
    where the page has none.

    `given` are the answers that memory would give, best first; `known` are the answers to
    other goals, each with how like the goal is, from 0 to 1; `failed` were wrong here before.
    """
    lines: dict[str, int] = {}
    for i, node in enumerate(observation.nodes):
        for text in (node.name, node.value, *_PIECES.findall(node.name)):
            if 0 < len(clean(text)) <= LONGEST_ANSWER:
                lines.setdefault(clean(text), i)
    places = [i for i, node in enumerate(observation.nodes) if given and given[0] in node.name]
    texts = [text for text in lines if text not in given and text not in failed]
    if not texts:
        return None
    apart = [min((abs(lines[text] - i) for i in places), default=0) for text in texts]
    like = [known.get(text, 0.0) for text in texts]
    nats = ANSWERED_ALIKE * np.sqrt(np.array(like)) - LINE_APART * np.array(apart)
    powers = np.exp(nats - nats.max())
    return texts[int(rng.choice(len(texts), p=powers / powers.sum()))]
