"""Settings of `webagent propose`."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tyro.conf import OmitArgPrefixes

from loop.costs import Caps, check_cost_cap, load_prices
from loop.flat import Important
from loop.judging.specification import parse_evaluator
from loop.policies import ModelChoice, NamedPolicy
from tasks.task import SOURCES
from webagent.errors import UsageError, unknown_name
from webagent.guard import Confirm

NOBODY = "nobody"


@dataclass(frozen=True)
class ProposeConfig:
    """Propose new tasks for a site, filter them, and prove them by solving them."""

    site: Important[str] = ""
    """The site: one of `webagent site list`; the URL of a live one; or a TOML file
    that describes a site."""
    source: Important[tuple[str, ...]] = ("pages",)
    """Sources of tasks: `pages`, `failures`."""
    count: Important[int] = 20
    """Maximum number of proposals per source."""
    run: Important[tuple[Path, ...]] = ()
    """Folders of the runs whose attempts are shown, for the source `failures`."""
    pages: int = 8
    """Pages visited for the source `pages`; with 0 the model only gets the site's name."""
    login: str = ""
    """Account of the site used to visit pages."""
    model: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """The model that proposes tasks."""
    images: bool = False
    """Show the model screenshots of the pages in addition to their text."""
    temperature: float = 0.7
    """Sampling temperature of the model."""
    max_tokens: int = 4096
    """Maximum tokens in a reply."""
    max_steps: int = 15
    """Maximum number of steps of a proposed task."""
    second_look: bool = True
    """In addition to the rules, ask the model which of its tasks are valid and safe."""
    alike: float = 0.6
    """Text similarity, 0 to 1, from which a task counts as a duplicate of an existing one."""
    solver: Important[str] = NOBODY
    """Who must solve a proposal before it is accepted: `oracle`, `model:FOLDER`, `local:FOLDER`,
    `endpoint`, `python:FILE.py:NAME`, or `nobody`, which leaves all untried."""
    tries: int = 3
    """Maximum number of attempts of the solver."""
    judge: Important[str] = ""
    """Judge for solutions of tasks without checks, such as `judge:evidence`
    (docs/judging/votes.md)."""
    guard: Path | None = None
    """File with the limits enforced while visiting and solving (docs/guard.md)."""
    confirm: Confirm = "off"
    """Hold back what pages send to change something: `risky` where the goal does not ask for it,
    `all` always (docs/guard.md)."""
    concurrency: int = 2
    """Browser contexts played in parallel."""
    seed: int = 0
    """Seed of every random choice: the same settings send the same requests."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Limits at which it stops. Minutes count for this session only."""
    name: Important[str] = ""
    """Name of the run's folder under `runs`; derived from the date if empty."""
    runs: Path = Path("runs")
    """Folder in which run folders are created."""
    resume: Important[Path | None] = None
    """Folder of a run of `webagent propose` to resume; its own settings are used."""
    preview: Important[bool] = False
    """Print what would be requested, without requesting it."""

    @property
    def contestant(self) -> NamedPolicy:
        """Return the model that proposes tasks, as a named policy."""
        return self.model.contestant(images=self.images)

    @property
    def solving(self) -> NamedPolicy:
        """Return the policy that solves proposals."""
        return replace(self.model, policy=self.solver).contestant()

    def check(self) -> None:
        """Find what is wrong before anything is spent. Raises `SetupError`."""
        if not self.site:
            raise UsageError(
                "name a site with --site: one of `webagent site list`, a URL or a TOML file"
            )
        if odd := next((source for source in self.source if source not in SOURCES), ""):
            raise unknown_name("source", odd, SOURCES)
        if min(self.count, self.tries, self.concurrency, self.max_steps) < 1 or self.pages < 0:
            raise UsageError("--count, --tries, --concurrency and --max-steps must be 1 or more")
        if not 0 < self.alike <= 1:
            raise UsageError(f"--alike {self.alike:g}: must be above 0 and at most 1")
        if "failures" in self.source and not self.run:
            raise UsageError("--source failures is made from runs; name --run")
        self.caps.check()
        self.contestant.check()
        if self.judge:
            parse_evaluator(self.judge)
        if self.solver != NOBODY:
            self.solving.check()
        check_cost_cap(self.caps, self.model.paid, load_prices())

    def plan(self) -> dict[str, Any]:
        """Return what would be done, in words."""
        return {
            "site": self.site,
            "sources": ", ".join(self.source),
            "proposals at most": self.count * len(self.source),
            "model": self.contestant.label(),
            "second look": "by the model" if self.second_look else "by rules alone",
            "solved by": f"{self.solver}, {self.tries} tries" if self.solver != NOBODY else NOBODY,
            "spending at most": str(self.caps),
        }
