"""What was made of one recorded step, in words that can be kept and shown."""

from dataclasses import dataclass

from webagent.policy.replay.elements import MARK


@dataclass(frozen=True, slots=True)
class Account:
    """One step of a replay: what was recorded, what was done instead of it, and why."""

    step: int
    """Counted from 1."""
    recorded: str
    """The action as text."""
    taken: str = ""
    """The action that was taken; empty where none was."""
    element: str = ""
    """What was acted on, as it was called then."""
    found: str = ""
    """What was taken for it."""
    rule: str = ""
    """By what the elements were found again; the weakest rule where there are two."""
    confidence: float = 1.0
    notes: tuple[str, ...] = ()
    """Texts that were replaced, and what else a reader should know."""
    refusal: str = ""
    """Why the step was not taken."""

    @property
    def is_healed(self) -> bool:
        """Whether the page had moved: the element was found by another rule than its mark."""
        return bool(self.taken and self.rule and self.rule != MARK)

    def told(self) -> str:
        """In one sentence."""
        if self.refusal:
            return f"step {self.step}, {self.recorded}: refused: {self.refusal}"
        parts = [f"step {self.step}, {self.recorded}"]
        if self.is_healed:
            took = f" taken: {self.found}, as {self.taken}," if self.found != self.element else ""
            parts.append(
                f"{self.element}{took} found by {self.rule} (confidence {self.confidence:.2f})"
            )
        return "; ".join((*parts, *self.notes))
