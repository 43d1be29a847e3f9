"""The switches of prompting: what a prompt holds and what is asked beside it."""

from dataclasses import dataclass, fields
from typing import Literal

from webagent.errors import SetupError


@dataclass(frozen=True, slots=True)
class Prompting:
    """How a model is prompted. Each field can be measured alone; with none set a prompt holds the
    task, the thoughts and actions so far in short, and the page now."""

    form: Literal["message", "conversation"] = "message"
    """`message`: every turn a prompt of its own that lists the earlier turns. `conversation`:
    turns alternate and are only appended to, so that a prompt begins as the one before it did and
    caches hit; what grows old goes in blocks."""
    thoughts: Literal["short", "full", "notes"] = "short"
    """Earlier thoughts: cut to a line, whole, or as notes that the model writes itself and that
    stand for all turns but the last three. A conversation keeps them whole."""
    pages: int = 0
    """How many earlier pages are shown again in full."""
    screenshots: int = 1
    """How many of the last screenshots are shown, the one now included."""
    replay: int = 0
    """Of how many earlier pages the parts around what was acted on are shown again; some forms of
    observation do so for all."""
    turns: int = 40
    """Earlier turns listed; those before are only counted."""
    history_tokens: int = 0
    """Estimated tokens that earlier turns may take, their pages included; 0 for no bound."""
    block: int = 4
    """In a conversation: old pages, screenshots and turns go so many at a time, and up to so many
    more than asked for stay in between."""
    plan: bool = False
    """Keep a tree of plans in the prompt that the model branches and prunes."""
    critique: bool = False
    """Have every action reviewed by the model and improved before it is done; one more request."""
    loops: Literal["off", "say", "demand", "end"] = "off"
    """What comes of going in circles: it is said; then another action is demanded, once a turn;
    then the episode is given up."""
    loop_patience: int = 3
    """The same action on the same page so often, and another is demanded; at twice as often the
    episode is given up."""
    constrained: bool = False
    """Let the model sample only a thought and an action that can be done on this page."""
    thought_tokens: int = 256
    """Tokens a thought may take where replies are constrained; 0 for none."""

    def __post_init__(self) -> None:
        least = {"screenshots": 1, "turns": 1, "block": 1, "loop_patience": 2}
        for name, value in ((f.name, getattr(self, f.name)) for f in fields(self)):
            if type(value) is int and value < least.get(name, 0):
                raise SetupError(
                    f"prompting: {name} is {value}; expected at least {least.get(name, 0)}"
                )
        if self.form == "conversation" and self.thoughts != "short":
            raise SetupError(
                "prompting: a conversation keeps every thought whole, so thoughts="
                f"{self.thoughts!r} is for form='message'"
            )
        in_thought = self.plan or self.critique or self.thoughts == "notes"
        if self.constrained and not self.thought_tokens and in_thought:
            raise SetupError(
                "prompting: plans, notes and reviews are written in the thought; give constrained"
                " replies thought_tokens, or leave them off"
            )

    def __str__(self) -> str:
        """Return the switches that are set, as `plan screenshots=3`; empty for none."""
        plain = Prompting()
        named = ((f.name, getattr(self, f.name)) for f in fields(self))
        changed = [(name, value) for name, value in named if value != getattr(plain, name)]
        return " ".join(name if value is True else f"{name}={value}" for name, value in changed)
