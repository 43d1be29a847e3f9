"""Settings of `webagent replay`."""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from webagent.errors import UsageError


@dataclass(frozen=True)
class ReplayConfig:
    """Play stored episodes again without a model, or write one as a Playwright script."""

    run: Positional[Path] = Path()
    """The run folder."""
    episodes: Positional[tuple[str, ...]] = ()
    """Ids of episodes, or how they begin; without any, all that were played in a real browser."""
    url: str = ""
    """Where to begin in place of the recorded address; addresses of the same site move along."""
    seed: int | None = None
    """Play the task on this seed; what its goal says in place of the recorded one is typed."""
    values: tuple[str, ...] = ()
    """Other values, as `username=ada`: by the field that they were typed into, or by what was
    recorded, as `"blue mug=red mug"`."""
    strict: bool = False
    """Take only what was found with a confidence of 0.9, and only what has the recorded effect."""
    headed: bool = False
    """Show the browser."""
    guard: Path | None = None
    """File with the limits that episodes are held to and the secrets that are typed
    (docs/guard.md)."""
    profiles: str = ""
    """TOML file whose table [sites.<site>] says how the browser presents itself (docs/sites.md)."""
    site: str = ""
    """Which table of it."""
    logins: Path | None = None
    """Folder with the logins that tasks begin with."""
    sites: tuple[Path, ...] = ()
    """TOML files that describe more sites than come with this program."""
    concurrency: int = 1
    """Episodes at once."""
    to_script: Path | None = None
    """Write the one episode as a Python script for Playwright, and play nothing."""
    name: str = ""
    """Name of the run's folder under `runs`; made from the date when empty."""
    runs: Path = Path("runs")
    """Where run folders are made."""


def values_of(config: ReplayConfig) -> dict[str, str]:
    """Return what was given with --values, name to value. Raises `UsageError`."""
    pairs = [each.partition("=") for each in config.values]
    if wrong := [name for name, equals, _ in pairs if not equals or not name]:
        raise UsageError(f"--values {wrong[0]!r}: expected NAME=VALUE")
    return {name.strip("'\""): value for name, _, value in pairs}
