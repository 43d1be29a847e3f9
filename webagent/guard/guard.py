"""A guard: a policy with the secrets' values and the person who may be asked."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeAlias

from webagent.action import Action, format_action
from webagent.guard.address import parse_url
from webagent.guard.decide import elements_of, quote_short
from webagent.guard.policy import GuardPolicy, read_policy
from webagent.guard.secret import Secrets, read_secret
from webagent.records import Observation
from webagent.timing import uncounted


class Approve(Protocol):
    """A person who can be asked, or who stands in for one."""

    async def approve(self, question: str) -> bool:
        """Return whether the action may be done."""


async def is_approved(approver: Approve | None, question: str, seconds: float) -> bool:
    """Return the answer; no where there is nobody to ask, or no answer in time."""
    if approver is None:
        return False
    try:
        with uncounted():
            async with asyncio.timeout(seconds):
                return await approver.approve(question)
    except TimeoutError:
        return False


def write_question(action: Action, seen: Observation, reason: str) -> str:
    """Return the question to a person; words of the page are quoted and short."""
    try:
        address = parse_url(seen.url)
        site = quote_short(address.origin if address.host else f"{address.scheme}:", 120)
    except ValueError:
        site = "none"
    lines = [
        f"May the agent do {quote_short(format_action(action), 120)}?",
        f"Site: {site}",
        *(
            f"Element {node.mark}: {node.role}, called by the page {quote_short(node.name)}"
            for node in elements_of(action, seen)[:3]
        ),
        f"Rule: {reason}",
    ]
    return "\n".join(lines)


Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""IP addresses of a host for a port. Raises `OSError` when the name is not known."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What a browser enforces; make one with `Guard.of` or `Guard.read`."""

    policy: GuardPolicy
    secrets: Secrets = field(default_factory=lambda: Secrets({}))
    approver: Approve | None = None
    """Who is asked; nobody means no."""
    resolve: Resolve | None = None
    """In place of the machine's own name server."""
    own_folders: tuple[Path, ...] = ()
    """Folders of ours, such as a benchmark's pages, whose plainly named files need no judging."""

    @classmethod
    def of(cls, policy: GuardPolicy, approver: Approve | None = None) -> "Guard":
        """Return a guard with the values of the policy's secrets. Raises `SetupError`."""
        values = {name: read_secret(name, secret) for name, secret in policy.secrets.items()}
        return cls(policy, Secrets(values), approver)

    @classmethod
    def read(cls, path: Path, approver: Approve | None = None) -> "Guard":
        """Return the guard of a policy file. Raises `SetupError`."""
        return cls.of(read_policy(path), approver)

    def opening(self, *folders: Path) -> "Guard":
        """Return the same guard with folders of ours opened, such as a benchmark's own pages."""
        own = tuple(folder.resolve() for folder in folders)
        policy = replace(self.policy, open_folders=(*self.policy.open_folders, *own))
        return replace(self, policy=policy, own_folders=(*self.own_folders, *own))
