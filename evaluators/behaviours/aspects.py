"""What people wrote of episodes, and the single remarks on behaviour that are in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluators.labels import csv_rows, text_of
from webagent.errors import SetupError

_SIGNS = {
    **dict.fromkeys(("good", "+", "+1", "1", "positive"), True),
    **dict.fromkeys(("bad", "-", "-1", "negative"), False),
}


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one person wrote of one episode."""

    episode: str
    text: str
    annotator: str = ""
    behaviour: str = ""
    """What the agent did, where the person said so apart."""
    is_positive: bool | None = None
    """None where it was not said apart."""
    group: str = ""
    """To which of known groups it belongs, where that is to be compared."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One remark on one behaviour: Zhu et al., "AutoLibra" (ICLR 2026, arXiv 2505.02820)."""

    feedback: str
    """The person's words."""
    behaviour: str
    """What the agent did that they are about."""
    is_positive: bool | None
    """None where nobody said, and no model told it from the words."""
    episode: str
    step: int = 0
    """From 1; 0 for the whole episode."""
    group: str = ""

    @property
    def text(self) -> str:
        """All words of it."""
        if self.behaviour == self.feedback:
            return self.feedback
        return f"{self.behaviour} {self.feedback}"


def read_feedback(path: Path) -> tuple[Feedback, ...]:
    """The rows of a CSV with the columns `episode` and `feedback`.

    Where wanted also `annotator`, `behaviour`, `sign` (good or bad) and `group`. Raises
    `SetupError` naming what is missing or cannot be read.
    """
    rows = csv_rows(path, text_of(path))
    if not rows:
        raise SetupError(f"{path} holds no feedback: there is no row below the header")
    missing = [name for name in ("episode", "feedback") if name not in rows[0][1]]
    if missing:
        raise SetupError(
            f"{path} has no column {' and no '.join(map(repr, missing))}; found"
            f" {', '.join(rows[0][1])}; expected episode and feedback"
        )
    return tuple(_feedback(f"{path}, line {line}", row) for line, row in rows)


def as_written(feedback: Feedback) -> tuple[Aspect, ...]:
    """The remarks as people wrote them, without a model: one for each sentence, or the row where
    behaviour or sign is said apart."""
    sentences = [part.strip() for part in re.split(r"(?<=[.!?;])\s+|\n+", feedback.text)]
    if feedback.behaviour or feedback.is_positive is not None:
        sentences = [feedback.text]
    return tuple(
        Aspect(
            part,
            feedback.behaviour or part,
            feedback.is_positive,
            feedback.episode,
            group=feedback.group,
        )
        for part in sentences
        if part
    )


def _feedback(place: str, row: Mapping[str, str]) -> Feedback:
    if not row["episode"] or not row["feedback"]:
        raise SetupError(f"{place}: an episode and what was said of it are needed; one is empty")
    sign = row.get("sign", "").lower()
    if sign and sign not in _SIGNS:
        raise SetupError(f"{place}: sign is {row['sign']!r}; expected good, bad or nothing")
    return Feedback(
        row["episode"],
        row["feedback"],
        row.get("annotator", ""),
        row.get("behaviour", ""),
        _SIGNS.get(sign),
        row.get("group", ""),
    )
