"""What the guard says of a request or an action, and what is kept of a refusal."""

from dataclasses import dataclass
from typing import Literal

from tasks.task import Json


@dataclass(frozen=True, slots=True)
class Verdict:
    """Allowed, refused for a reason, or a matter for a person."""

    outcome: Literal["allow", "deny", "ask"]
    reason: str = ""
    """Why it is refused or asked; made from the policy and from addresses, never from page text."""
    rule: str = ""
    """The part of the policy that decided, as `sites: evil.example`."""

    @property
    def is_allowed(self) -> bool:
        """Whether it may be done without a further question."""
        return self.outcome == "allow"


ALLOWED = Verdict("allow")


def refused(reason: str, rule: str = "") -> Verdict:
    """The verdict that says no."""
    return Verdict("deny", reason, rule)


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that was not done."""

    what: str
    """The request or action, secrets masked: `GET http://evil.example/x` or `goto("...")`."""
    reason: str
    rule: str
    where: str
    """Which wall it met: `action`, `page` (before the browser sent it) or `proxy`."""
    step: int
    """How many actions the agent had begun; 0 while the first page loads."""

    def to_json(self) -> dict[str, Json]:
        """For the episode's evidence."""
        return {
            "what": self.what,
            "reason": self.reason,
            "rule": self.rule,
            "where": self.where,
            "step": self.step,
        }
