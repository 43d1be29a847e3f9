"""The arms of the comparison: what each learns from, and how it acts when it is measured."""

from dataclasses import dataclass
from typing import Literal

Lessons = Literal["nothing", "demonstrations", "experience"]
Acting = Literal["policy", "lookahead", "rerank", "best_of_k"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of using the same budget of real steps."""

    name: str
    summary: str
    learns_from: Lessons = "experience"
    dreams: bool = False
    """Whether imagined episodes join the policy's training set."""
    acts_by: Acting = "policy"
    weights_of: str = ""
    """The arm whose trained weights it is measured with; empty when it trains its own."""


_ALL = (
    Arm("none", "the policy after its demonstrations, no improvement", "nothing"),
    Arm("control", "the same gradient tokens again on demonstrations alone", "demonstrations"),
    Arm("self", "self-improvement on judged real experience"),
    Arm("imagined", "self-improvement with imagined successes added", dreams=True),
    Arm("lookahead", "`self` asking the world model", acts_by="lookahead", weights_of="self"),
    Arm("rerank", "`self` asking the reward model", acts_by="rerank", weights_of="self"),
    Arm("best_of_k", "`self` voting with itself", acts_by="best_of_k", weights_of="self"),
    Arm("both", "`imagined` asking its world model", acts_by="lookahead", weights_of="imagined"),
)

ARMS = {arm.name: arm for arm in _ALL}
