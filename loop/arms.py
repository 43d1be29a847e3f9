"""The arms of the comparison: what each learns from, and how it acts during evaluation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from webagent.errors import UsageError, unknown_name

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
    """The arm whose trained weights and experience it is evaluated with; empty if it trains its
    own."""


_ALL = (
    Arm("none", "the policy after its demonstrations, no improvement", "nothing"),
    Arm("control", "the same gradient tokens again on demonstrations alone", "demonstrations"),
    Arm("self", "self-improvement on judged real experience"),
    Arm("imagined", "self-improvement with imagined successes added", dreams=True),
    Arm("lookahead", "`self` asking the world model", acts_by="lookahead", weights_of="self"),
    Arm("rerank", "`self` asking a judge", acts_by="rerank", weights_of="self"),
    Arm("best_of_k", "`self` voting with itself", acts_by="best_of_k", weights_of="self"),
)

ARMS = {arm.name: arm for arm in _ALL}
REMOVED = ("uniform", "map", "both", "judged", "checked")
"""Arms of version 0.1.0."""


def arms_of(requested: Iterable[str]) -> list[str]:
    """Return the named arms and those they need, in the order of the table. Raises `SetupError`."""
    names = set(ARMS) if "all" in requested else set(requested)
    for name in names:
        if name in REMOVED:
            raise UsageError(
                f"the arm {name!r} was removed (docs/results); a run that has it can be viewed and"
                " merged, but not resumed"
            )
        if name not in ARMS:
            raise unknown_name("arm", name, [*ARMS, "all"])
    needed = {ARMS[name].weights_of for name in names} - {""}
    return [name for name in ARMS if name in names | needed | {"none"}]
