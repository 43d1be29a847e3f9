"""`webagent promote`: what a run has learnt becomes the next release, unless a family got worse."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from loop.console.output import CommandResult, Status
from loop.releases import go_back, promote
from recipes.settings import resolve
from webagent.errors import UsageError


@dataclass(frozen=True)
class PromoteConfig:
    """Make what a run measured the current release, if no family of tasks got worse."""

    run: Positional[Path | None] = None
    """Run of `webagent improve` or `webagent benchmark` that measured the candidate."""
    arm: str = ""
    """Which arm's policy; `self` where the run has it, else the only one."""
    repeat: int = 0
    """Of which repeat."""
    back: bool = False
    """Make the release before the current one the current one again."""
    releases: Path = Path("releases")
    """Folder of the releases; `current` in it leads to the one in use."""


def main(argv: Sequence[str]) -> CommandResult:
    """Promote or go back; failed where a candidate is refused."""
    config = resolve(PromoteConfig, "promote", argv)
    if config.back:
        return CommandResult(go_back(config.releases))
    if config.run is None:
        raise UsageError("name the run that measured the candidate, or give --back")
    found = promote(config.releases, config.run, config.arm, config.repeat)
    return CommandResult(found, Status.DONE if found.promoted else Status.FAILED)
