"""The spaces of text: what is read from pages and what is said to them."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Space

from tasks.task import Task

_SAMPLED_MARKS = 20
_LETTERS = "abcdefghijklmnopqrstuvwxyz "


class Text(Space[str]):
    """Any text at all. Gymnasium's own `Text` wants its characters listed, which pages do not."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no fixed size."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A few random letters; masks and probabilities are not used."""
        letters = self.np_random.choice(list(_LETTERS), self.np_random.integers(1, 30))
        return "".join(letters)

    def contains(self, x: Any) -> bool:
        """Whether it is a text."""
        return isinstance(x, str)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ActionText(Text):
    """An action as text, such as `click(12)`; what is not one is answered with the reason."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A click on one of the first elements; masks and probabilities are not used."""
        return f"click({self.np_random.integers(1, _SAMPLED_MARKS + 1)})"


def observation_space(task: Task, screenshot: bool) -> Dict:
    """What a step answers with; a screenshot is of shape (height, width, 3), one byte a channel."""
    texts: dict[str, Space[Any]] = {key: Text() for key in ("goal", "page", "url", "outcome")}
    if screenshot:
        width, height = task.viewport
        texts["screenshot"] = Box(0, 255, (height, width, 3), np.uint8)
    return Dict(texts)
