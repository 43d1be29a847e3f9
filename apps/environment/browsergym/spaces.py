"""The space of BrowserGym's observation dictionary, as far as Gymnasium has words for it."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Sequence, Space

from apps.environment.spaces import Text

COSTLY = ("screenshot", "dom_object", "axtree_object", "extra_element_properties")
"""The fields that cost a question to the browser; the others are known already."""


_LONGEST_SECONDS = 1e9
"""BrowserGym says infinity, of which Gymnasium's check warns."""


class Calls(Text):
    """Calls as text, such as `click('12')`."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A call that does nothing; masks and probabilities are not used."""
        return "noop(0)"


class Tree(Space[dict[str, Any]]):
    """A dictionary as the browser gives it, of any content."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """A tree has no fixed size."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """An empty tree."""
        return {}

    def contains(self, x: Any) -> bool:
        """Whether it is a dictionary."""
        return isinstance(x, dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree)

    def __repr__(self) -> str:
        return "Tree()"


class Number(Space[float]):
    """A number."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """A single number is not an array."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> float:
        """A number from 0 to 1."""
        return float(self.np_random.random())

    def contains(self, x: Any) -> bool:
        """Whether it is a number."""
        return isinstance(x, int | float)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number)

    def __repr__(self) -> str:
        return "Number()"


def observation_space(fields: tuple[str, ...], size: tuple[int, int]) -> Dict:
    """The dictionary with those of the costly fields that were asked for; `size` is the
    screenshot's width and height in pixels."""
    message = Dict({"role": Text(), "timestamp": Number(), "message": Text()})
    costly: dict[str, Space[Any]] = {
        "screenshot": Box(0, 255, (size[1], size[0], 3), np.uint8),
        "dom_object": Tree(),
        "axtree_object": Tree(),
        "extra_element_properties": Tree(),
    }
    texts = ("goal", "url", "focused_element_bid", "last_action", "last_action_error")
    return Dict(
        {
            "chat_messages": Sequence(message),
            "goal_object": Sequence(Tree()),
            "open_pages_urls": Sequence(Text()),
            "open_pages_titles": Sequence(Text()),
            "active_page_index": Box(0, 255, (1,), np.int64),
            "elapsed_time": Box(0, _LONGEST_SECONDS, (1,), np.float64),
            **{name: Text() for name in texts},
            **{name: space for name, space in costly.items() if name in fields},
        }
    )
