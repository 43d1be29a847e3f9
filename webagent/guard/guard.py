"""A guard: a policy with the secrets' values and the person who may be asked."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from webagent.guard.approve import Approve
from webagent.guard.policy import GuardPolicy
from webagent.guard.reading import read_policy
from webagent.guard.secret import Secrets, read_secret

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
        """A guard with the values of the policy's secrets. Raises `SetupError`."""
        values = {name: read_secret(name, secret) for name, secret in policy.secrets.items()}
        return cls(policy, Secrets(values), approver)

    @classmethod
    def read(cls, path: Path, approver: Approve | None = None) -> "Guard":
        """The guard of a policy file. Raises `SetupError`."""
        return cls.of(read_policy(path), approver)

    def opening(self, *folders: Path) -> "Guard":
        """The same guard with folders of ours opened, such as a benchmark's own pages."""
        own = tuple(folder.resolve() for folder in folders)
        policy = replace(self.policy, open_folders=(*self.policy.open_folders, *own))
        return replace(self, policy=policy, own_folders=(*self.own_folders, *own))
