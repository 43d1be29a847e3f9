"""Settings of `webagent propose`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tyro.conf import OmitArgPrefixes

from loop.costs import Caps, check_cost_cap, load_prices
from loop.folder import RunFolder
from loop.judging.specification import parse_evaluator
from loop.policies import ModelChoice, NamedPolicy
from loop.proposers.sources import ASKING
from tasks.task import SOURCES
from webagent.errors import StoreError, UsageError, unknown_name

WAYS = ("examples", "screens")
WRITERS = ("grammar", "model")
NOBODY = "nobody"


@dataclass(frozen=True)
class ProposeConfig:
    """Have new tasks proposed for a site, filter them, and have them solved as proof."""

    site: str = ""
    """A site that starts here, as `fossil`; the address of a live one; or a TOML file of a site."""
    source: tuple[str, ...] = ("pages",)
    """Where they come from: `pages`, `demonstrations`, `exploration`, `curiosity`, `manual`,
    `failures`."""
    count: int = 20
    """Proposals of each source, at most."""
    run: tuple[Path, ...] = ()
    """Runs whose episodes are demonstrations and failures."""
    manual: tuple[str, ...] = ()
    """Manuals and help pages: files (Markdown, HTML, text) or addresses."""
    pages: int = 8
    """Pages visited for the source `pages`; with 0 the model is told the site's name alone."""
    way: str = "examples"
    """How demonstrations are shown: `examples`, the tasks with what was done (WebRL), or `screens`,
    the pages alone (PAE)."""
    login: str = ""
    """As whom pages are visited and explored, of the site's accounts."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """The model that proposes."""
    images: bool = False
    """Show the model screenshots of the pages, beside their text."""
    temperature: float = 0.7
    """At which it samples."""
    max_tokens: int = 4096
    """Of a reply, at most."""
    max_steps: int = 15
    """Steps that a proposed task may take."""
    language: str = "en"
    """Of the goals."""
    second_look: bool = True
    """Ask the model as well which of its tasks are valid and safe, beside the rules."""
    alike: float = 0.6
    """From which likeness in words, 0 to 1, a task counts as one that is there already."""
    known: tuple[Path, ...] = ()
    """Files of proposals that new ones are not to repeat."""
    solver: str = NOBODY
    """Who has to solve a proposal so that it is taken: `oracle`, `model:FOLDER`, `local:FOLDER`,
    `endpoint`, `python:FILE.py:NAME`, or `nobody`: only what comes with a solution is."""
    solver_model: str = ""
    """Name of the solver behind the endpoint."""
    tries: int = 3
    """Of the solver, at most."""
    judge: str = ""
    """Who judges solutions of tasks without checks, as `judge:evidence` (docs/judging/votes.md)."""
    explore_steps: int = 300
    """Real steps of each exploration."""
    writer: str = "grammar"
    """Who writes down what exploration did: `grammar`, by rule, or `model`."""
    world: Path | None = None
    """World model for `curiosity`, a folder that `webagent improve` saved; without one, what was
    seen least is what surprises."""
    guard: Path | None = None
    """File with the limits that visits and solving are held to (docs/guard.md)."""
    concurrency: int = 2
    """Browser contexts at once."""
    seed: int = 0
    """Of every choice: the same settings make the same requests."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Where it is to stop. Minutes are those of this session."""
    name: str = ""
    """Name of the run's folder under `runs`; made from the date when empty."""
    runs: Path = Path("runs")
    """Where run folders are made."""
    resume: Path | None = None
    """Folder of a run that proposed, to go on with; its own settings are used."""
    preview: bool = False
    """Say what would be asked, and ask nothing."""

    @property
    def asks(self) -> bool:
        """Whether a model invents or writes down tasks."""
        return self.writer == "model" or any(source in ASKING for source in self.source)

    @property
    def contestant(self) -> NamedPolicy:
        """The model that proposes, as benchmarks name one."""
        return self.asked.contestant(images=self.images)

    @property
    def solving(self) -> NamedPolicy:
        """Who solves proposals."""
        model = self.solver_model or self.asked.model
        return ModelChoice(self.solver, model, self.asked.endpoint).contestant()

    def check(self) -> None:
        """Find what is wrong before anything is spent. Raises `SetupError`."""
        if not self.site:
            raise UsageError("for which site? name it with --site: fossil, oscar, a URL or a TOML")
        for source in self.source:
            if source not in SOURCES:
                raise unknown_name("source", source, SOURCES)
        if self.way not in WAYS:
            raise unknown_name("way of showing demonstrations", self.way, WAYS)
        if min(self.count, self.tries, self.concurrency, self.max_steps) < 1 or self.pages < 0:
            raise UsageError("--count, --tries, --concurrency and --max-steps must be 1 or more")
        if not 0 < self.alike <= 1:
            raise UsageError(f"--alike {self.alike:g}: a likeness is above 0 and at most 1")
        if {"demonstrations", "failures"} & set(self.source) and not self.run:
            raise UsageError("--source demonstrations and failures are made from runs; name --run")
        if "manual" in self.source and not self.manual:
            raise UsageError("--source manual needs a file or an address; name --manual")
        self._check_models()

    def _check_models(self) -> None:
        self.caps.check()
        if self.writer not in WRITERS:
            raise unknown_name("writer", self.writer, WRITERS)
        if self.asks or (self.judge and parse_evaluator(self.judge).asks_a_model):
            self.contestant.check()
        if self.solver != NOBODY:
            self.solving.check()
        check_cost_cap(self.caps, self.asked.paid, load_prices(self.caps.prices))

    def plan(self) -> dict[str, Any]:
        """Return what would be done, in words."""
        return {
            "site": self.site,
            "sources": ", ".join(self.source),
            "proposals at most": self.count * len(self.source),
            "model": self.contestant.label() if self.asks else "none",
            "second look": "by the model" if self.asks and self.second_look else "by rules alone",
            "solved by": f"{self.solver}, {self.tries} tries" if self.solver != NOBODY else NOBODY,
            "spending at most": str(self.caps),
        }

    def folder(self, command: Sequence[str]) -> RunFolder:
        """Return the run's folder: a new one, or the one that is resumed. Raises `StoreError`."""
        if self.resume is not None:
            found = RunFolder.open(self.resume)
            found.note_origin()
            return found
        return RunFolder.create_named(self.runs, self.name, self, command)


def resume_config(asked: ProposeConfig) -> ProposeConfig:
    """Return what was asked for, or the settings that a resumed run was begun with.

    Caps and prices that are given anew replace its own. Raises `StoreError`.
    """
    if asked.resume is None:
        return asked
    folder = RunFolder.open(asked.resume)
    if list(folder.settings().get("command", ()))[1:2] != ["propose"]:
        raise StoreError(f"{asked.resume} holds another kind of run; resume it with its own recipe")
    begun = folder.config(ProposeConfig)
    caps = begun.caps.raised(asked.caps)
    return replace(begun, resume=asked.resume, preview=asked.preview, caps=caps)
