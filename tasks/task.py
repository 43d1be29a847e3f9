"""A task: what to do, where it starts, how anyone can tell that it was done; and a proposal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, list["Json"], dict[str, "Json"], None]


@dataclass(frozen=True, slots=True)
class TaskCheck:
    """One condition on the captured evidence; a score holds when all of its checks hold."""

    evidence: str
    """Name of the piece of evidence: a key of `Task.evidence`, the name of a probe, or a record."""
    rule: str
    """How to compare: the name of a rule in `evaluators.rules`."""
    expected: Json
    score: str = "success"
    """The score this check belongs to; `success` is the headline."""


@dataclass(frozen=True, slots=True)
class PageHooks:
    """JavaScript that a benchmark's pages need from outside; each runs in the page's own world."""

    init: str = ""
    """Run in every document before the page's own scripts."""
    start: str = ""
    """Statements run once, after the start page has loaded."""
    goal: str = ""
    """Expression giving the goal as a string, for pages that write their own task."""
    over: str = ""
    """Expression that is truthy once the page itself has ended the episode."""
    ignore: str = ""
    """CSS selector of elements that are no part of the task and are never observed."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Something to look at once the agent is done and before its browser closes.

    What was found goes into the episode's evidence under `name`, so that scores can be computed
    again without a page. Where the page could not be opened nothing goes there, and
    `uncaptured`, an object in the evidence, has the reason under the same name. A page that is
    answered with 404 or 410 is looked at: that it is not there may be what a check asks.
    """

    name: str
    takes: str = "value"
    """`value`: the script's, as JSON, null where it threw; `source`: the page as HTML; `pictures`:
    references to the pictures in the elements that the script gives, or in the whole page."""
    url: str = ""
    """Address opened in a tab of its own in the agent's session; empty: the tab in front as the
    agent left it. `{last_url}` stands for that tab's address, `{NAME}` for an earlier probe's
    value: as it is at the beginning, percent-encoded anywhere else."""
    script: str = ""
    """JavaScript expression; a promise is awaited."""
    prepare: tuple[str, ...] = ()
    """JavaScript run in the page first, one after the other; what it throws is passed over."""


@dataclass(frozen=True, slots=True)
class Task:
    """What an episode is asked to do. Plain data: it can be stored, compared and sent."""

    id: str
    """Versioned and unique but for the seed, as `miniwob/click-test-2@1`."""
    start_url: str
    goal: str = ""
    """The instruction; empty where the page writes it (`PageHooks.goal`)."""
    seed: int = 0
    max_steps: int = 10
    hooks: PageHooks = PageHooks()
    evidence: Mapping[str, str] = field(default_factory=dict)
    """Name to JavaScript expression, evaluated before the page closes; values are JSON."""
    checks: tuple[TaskCheck, ...] = ()
    """Empty where only a judge can say."""
    viewport: tuple[int, int] = (1280, 720)
    """CSS pixels, width by height."""
    clock: str = "virtual"
    """`virtual`: the page stands still while the policy thinks; `real`: it does not."""
    dialogs: str = "dismiss"
    """`dismiss`: the browser's dialogs are closed at once and noted; `ask`: the agent answers."""
    settle_ms: int = 5000
    """Milliseconds of the virtual clock that the page gets after each action."""
    parent: str = ""
    """The task this one was made from, when a proposer made it."""
    probes: tuple[Probe, ...] = ()
    """Looked at in order after `evidence`."""
    records: tuple[str, ...] = ()
    """What is noted during the episode and becomes evidence under this name. `network`: a list of
    requests with their responses; `elements`: a list of the elements that were acted on; `changes`:
    the rows of the site's database that were added, removed and changed. One that is incomplete is
    left out, with the reason under `uncaptured`."""
    images: tuple[str, ...] = ()
    """Pictures that belong to the goal, in order: paths or addresses as the benchmark has them."""
    further_urls: tuple[str, ...] = ()
    """Start pages besides, opened in tabs of their own behind that of `start_url`."""
    site: str = ""
    """Id of the application that is started for the episode, as `fossil@1`; empty where pages are
    wherever their addresses say. Addresses in the task are those of `Site.address`."""
    login: str = ""
    """Whose login the session begins with, as `admin`: an account of the site, or the name of a
    saved login; empty: nobody is logged in."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """Name to SQL query on the site's database, asked once the agent is done; its rows, lists of
    columns, become evidence under the name. The record `changes` needs no query."""
    template: str = ""
    """Tasks of one template differ in their values only; averages over templates count each once.
    Empty: the name."""
    skills: tuple[str, ...] = ()
    """What it takes, as `search`, `form`, `infeasible`: words for balance and for tables."""

    @property
    def name(self) -> str:
        """The id without benchmark and version: `click-test-2`."""
        return self.id.rsplit("/", 1)[-1].split("@", 1)[0]


SOURCES = ("pages", "failures")
"""Where proposals come from."""
UNTRIED = "nobody has tried it"
"""The reason of a refusal that more work may lift."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a proposal is not taken."""

    filter: str
    """`validity`, `novelty`, `safety`, `feasibility`, or `held out` for one that would give away a
    task that is only measured on."""
    reason: str


@dataclass(frozen=True, slots=True)
class TaskProposal:
    """A task with where it comes from."""

    task: Task
    """Its `parent` names the task it was made from, where there is one."""
    source: str
    """One of `SOURCES`."""
    reason: str
    """Why it was thought of, in a sentence for people."""
    solution: str = ""
    """Id of an episode that does it, whoever played that; empty while none is known."""
    refusals: tuple[Refusal, ...] = field(default=())
    """Empty for a proposal that passed every filter it went through."""
