"""Answers that memory does not hold: texts of the page that may be what a question asks for."""

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from webagent.memory.goals import clean
from webagent.records import Observation

_PIECES = re.compile(r"[^|,;:()]+")
_LONGEST = 40
"""Letters of a text beyond which it is no answer."""
_LIKE = 4.0
"""Nats, at most, for what answered a like goal: logins answer what asks for a login."""
_APART = 0.15
"""Nats for each line between a text and the answer that memory would give."""


def guess_answer(
    observation: Observation,
    said: Sequence[str],
    known: Mapping[str, float],
    failed: Collection[str],
    rng: np.random.Generator,
) -> str | None:
    """Return a text of the page that was not tried yet, drawn by how likely it is an answer; None
    where the page has none.

    `said` are the answers that memory would give, the surest first; `known` are the answers to
    other goals, each with how like the goal is, from 0 to 1; `failed` were wrong here before.
    """
    lines: dict[str, int] = {}
    for i, node in enumerate(observation.nodes):
        for text in (node.name, node.value, *_PIECES.findall(node.name)):
            if 0 < len(clean(text)) <= _LONGEST:
                lines.setdefault(clean(text), i)
    places = [i for i, node in enumerate(observation.nodes) if said and said[0] in node.name]
    texts = [text for text in lines if text not in said and text not in failed]
    if not texts:
        return None
    apart = [min((abs(lines[text] - i) for i in places), default=0) for text in texts]
    like = [known.get(text, 0.0) for text in texts]
    nats = _LIKE * np.sqrt(np.array(like)) - _APART * np.array(apart)
    powers = np.exp(nats - nats.max())
    return texts[int(rng.choice(len(texts), p=powers / powers.sum()))]
