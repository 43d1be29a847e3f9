"""What a reply may be, as plain text that is stored with it."""

import json
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from webagent.errors import ModelError


@dataclass(frozen=True, slots=True)
class Constraint:
    """A closed list of texts, or a grammar; exactly one of the two.

    It names no tokens, so every backend can hold to it. Its text is stored as `Decision.allowed`,
    from which training makes the same masks again.
    """

    choices: tuple[str, ...] = ()
    """The reply is one of these."""
    grammar: str = ""
    """The reply is what this grammar derives: Lark, as llguidance reads it."""

    def __post_init__(self) -> None:
        if bool(self.choices) == bool(self.grammar):
            raise ValueError("a constraint is a list of choices or a grammar, one of the two")

    def dumps(self) -> str:
        """One line of JSON; the same constraint gives the same text."""
        value = {"choices": self.choices} if self.choices else {"grammar": self.grammar}
        return json.dumps(value, ensure_ascii=False)

    @classmethod
    def loads(cls, text: str) -> "Constraint":
        """What `dumps` wrote. Raises `ModelError` for anything else."""
        try:
            value = json.loads(text)
            return cls(tuple(value.get("choices", ())), value.get("grammar", ""))
        except (ValueError, AttributeError, TypeError) as error:
            raise ModelError(f"not a stored constraint: {text[:80]!r}") from error


class Matcher(Protocol):
    """Follows one reply under a constraint, id by id."""

    def mask(self) -> NDArray[np.bool_]:
        """Which ids may come next, (vocabulary,); the one that ends the reply where it may end."""
        ...

    def accept(self, token: int) -> None:
        """The id that came. Raises `ModelError` for one that may not."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the reply has ended."""
        ...
