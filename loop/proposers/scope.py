"""The scope of proposals: the site they are for, and what is allowed and known there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit


@dataclass(frozen=True, slots=True)
class Scope:
    """A site as proposers and filters know it."""

    name: str
    """What people call it, as `Fossil`."""
    address: str
    """Where it begins; tasks stay below it: `http://fossil.test/`."""
    site: str = ""
    """Id of the application that is started for every episode; empty for a live site."""
    accounts: Mapping[str, str] = field(default_factory=dict)
    """Who can be logged in, by role, with what each can do."""
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tables of its database with their columns; empty where there is none to ask."""
    rules: tuple[str, ...] = ()
    """Names of the rules by which a check may compare."""
    is_reset: bool = False
    """Whether it is put back to how it was before each episode, so that nothing done there lasts
    and nobody is reached by it."""
    max_steps: int = 15
    """What an episode may take at most."""
    language: str = "en"
    """Of the goals."""

    def holds(self, url: str) -> bool:
        """Whether an address is the site's own."""
        try:
            page, root = urlsplit(url), urlsplit(self.address)
            ports = page.port, root.port
        except ValueError:
            return False
        above = root.path.rstrip("/")
        return (
            (page.scheme, page.hostname, ports[0]) == (root.scheme, root.hostname, ports[1])
            and not page.username
            and (page.path.rstrip("/") == above or page.path.startswith(f"{above}/"))
        )

    def whole(self, address: str) -> str:
        """An address that may be given from the site's root or from its first page, written out."""
        return urljoin(self.address, address.strip()) if address.strip() else self.address
