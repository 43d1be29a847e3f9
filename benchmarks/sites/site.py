"""What a site says of itself: how it is built and served, who has accounts, what may change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


class SiteError(Exception):
    """A site is not there, does not start, or has died; the message says which and what to do."""


class UnknownSiteError(SiteError):
    """No site has this name; the message has those that come close."""


@dataclass(frozen=True, slots=True)
class Account:
    """Someone who can log in. These are made up, and no secrets."""

    name: str
    password: str
    can: str
    """In words, as `opens tickets, edits pages`."""


@dataclass(frozen=True, slots=True)
class Serving:
    """The process that serves a site."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to what this process has."""
    ready: str = "/"
    """Path that answers with a status below 400 once the site is up, and while it is healthy."""


class Site(Protocol):
    """A real application, as one file says it. All of its state is in one folder.

    A state can be copied, and a copy put in its place while the application runs: whatever it
    keeps in memory must not outlive its files.
    """

    @property
    def id(self) -> str:
        """Name and version, as `fossil@1`; a change of what is built is a new version."""
        ...

    @property
    def address(self) -> str:
        """The address in tasks and trajectories, whatever the port: `http://fossil.test`."""
        ...

    @property
    def accounts(self) -> Mapping[str, Account]:
        """By role, as tasks name them in `login`; each is logged in once, when it is built."""
        ...

    @property
    def database(self) -> str:
        """The SQLite file in the state, relative to it; empty where there is none."""
        ...

    @property
    def passing(self) -> Mapping[str, tuple[str, ...]]:
        """Table to columns that are no part of what is told as changes, such as times of access;
        no columns: the whole table."""
        ...

    def missing(self) -> str:
        """What this machine lacks, with the command that gets it; empty when all is there."""
        ...

    def build(self, state: Path) -> None:
        """Make the first state in an empty folder. May be slow: it is done once and kept.

        Raises `SiteError`.
        """
        ...

    def serve(self, state: Path, port: int) -> Serving:
        """How it is served from a state, on 127.0.0.1."""
        ...

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """The cookies of a new login, in Playwright's form, from the site as it runs at `base`,
        `http://127.0.0.1:PORT`; their domain is 127.0.0.1. Raises `SiteError`."""
        ...
