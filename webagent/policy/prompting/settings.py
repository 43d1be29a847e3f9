"""The switches of prompting: what a prompt contains, and which extra requests are made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from webagent.errors import SetupError


@dataclass(frozen=True, slots=True)
class Prompting:
    """How a model is prompted. Each switch can be evaluated separately; with none set, a prompt
    contains the task, short versions of earlier thoughts and actions, and the current page."""

    form: Literal["message", "conversation"] = "message"
    """Form of the prompt. `message`: each turn is a separate prompt that lists the earlier turns.
    `conversation`: turns alternate and are only appended, so that prompts share a prefix and caches
    hit; old content is dropped in blocks."""
    thoughts: Literal["short", "full"] = "short"
    """Earlier thoughts: `short`, cut to one line, or `full`. A conversation keeps full thoughts."""
    pages: int = 0
    """Number of earlier pages shown again in full."""
    screenshots: int = 1
    """Number of recent screenshots shown, including the current one."""
    loops: bool = False
    """Whether repeated actions are shown to the model, another one is then required, once per turn,
    and at last the episode is given up."""
    constrained: bool = False
    """Restrict sampling to a thought and an action that is possible on the current page."""
    thought_tokens: int = 256
    """Maximum tokens of a thought in constrained replies; 0 for no thought."""
    examples: bool | None = None
    """Show turns of three other tasks as already taken, which weak models follow. Default: for
    weights in this process or on one's own server."""

    def __post_init__(self) -> None:
        for name, least in (("pages", 0), ("screenshots", 1)):
            if (value := getattr(self, name)) < least:
                raise SetupError(f"prompting: {name} is {value}; expected at least {least}")
        if self.form == "conversation" and self.thoughts != "short":
            raise SetupError(
                "prompting: a conversation keeps every thought whole, so thoughts="
                f"{self.thoughts!r} is for form='message'"
            )

    def __str__(self) -> str:
        """Return the switches that are set, as `constrained screenshots=3`; empty for none."""
        plain = Prompting()
        named = ((f.name, getattr(self, f.name)) for f in fields(self))
        changed = [(name, value) for name, value in named if value != getattr(plain, name)]
        return " ".join(name if value is True else f"{name}={value}" for name, value in changed)


Switch: TypeAlias = Literal[
    "brief",
    "conversation",
    "thoughts",
    "pages",
    "screenshots",
    "loops",
    "constrained",
    "direct",
    "examples",
]
"""Words by which commands name how a model is prompted; `brief` is a prompt's text."""
_SWITCHES: Mapping[str, Mapping[str, Any]] = {
    "brief": {},
    "conversation": {"form": "conversation"},
    "thoughts": {"thoughts": "full"},
    "pages": {"pages": 2},
    "screenshots": {"screenshots": 3},
    "loops": {"loops": True},
    "constrained": {"constrained": True},
    "direct": {"constrained": True, "thought_tokens": 0},
    "examples": {"examples": True},
}


def switch_on(words: Iterable[Switch]) -> Prompting:
    """Return the prompting that the words name. Raises `SetupError` where they contradict."""
    found: dict[str, Any] = {}
    for word in words:
        found |= _SWITCHES[word]
    return replace(Prompting(), **found)
