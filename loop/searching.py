"""Search as a switch of a command: how it is asked for, where it may be done, who values states."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from evaluators.rules.checks import share_of_checks
from loop.judging.specification import EvaluatorBuilder, parse_evaluator
from loop.worlds import WorldChoice, open_world
from tasks.task import Task
from webagent.errors import UsageError
from webagent.models.model import Model
from webagent.models.spending import Ledger, MeteredModel
from webagent.policy.policy import WrapPolicy
from webagent.records import SEARCHED, Trajectory
from webagent.rollout.world import OpenWorld

if TYPE_CHECKING:  # torch and numpy are not loaded for settings
    from evaluators.evaluator import Evaluator
    from webagent.policy.policy import Policy


@dataclass(frozen=True)
class SearchChoice:
    """Whether the policy searches before it acts, where, and by whose values."""

    search: Literal["none", "best-first", "mcts"] = "none"
    """Grow a tree of the policy's proposals and play its best path: `best-first` (Koh et al.) or
    `mcts` (R-MCTS)."""
    value: str = ""
    """Who says how good a state is: any evaluator of `webagent judge --with`, one that asks a model
    being put to the policy's own. `rules`, the tasks' own checks, makes demonstrations, and is no
    figure of an agent. In a dream without one the world model's P(success)."""
    search_in: Literal["site", "dream"] = "site"
    """`site`: in the real one before the first action, each state reached again by a fresh start
    and replay; `dream`: in the world model of --world before every action."""
    nodes: int = 20
    """States that a search reaches, at most."""
    branch: int = 3
    """Actions that it tries in a state, at most."""
    search_depth: int = 0
    """Actions on a path of it, at most; 0 for as many as the task allows."""
    search_steps: int = 200
    """Real steps that the search of one episode may take, at most, replayed ones included."""

    @property
    def is_on(self) -> bool:
        """Whether anything is searched."""
        return self.search != "none"

    @property
    def in_site(self) -> bool:
        """Whether real steps are taken."""
        return self.is_on and self.search_in == "site"

    @property
    def sees_checks(self) -> bool:
        """Whether the tasks' own checks say what is good."""
        return self.is_on and any(
            leaf.kind in ("rules", "consulted")
            for leaf in (parse_evaluator(self.value).leaves() if self.value else ())
        )

    def label(self) -> list[str]:
        """What is added to a policy's name in tables."""
        by = f" by {self.value}" * bool(self.value)
        place = " in a dream" * (not self.in_site)
        return [f"{self.search}={self.nodes}{by}{place}"] * self.is_on

    def check(self, ahead: WorldChoice, *, measures: bool) -> None:
        """Find what is wrong with it; `measures` where the episodes become a figure. Raises
        `SetupError`."""
        if not self.is_on:
            return
        if min(self.nodes, self.search_steps) < 1 or self.branch < 2 or self.search_depth < 0:
            raise UsageError(
                f"--nodes {self.nodes} --branch {self.branch} --search-depth {self.search_depth}"
                f" --search-steps {self.search_steps}: at least 1, 2, 0 and 1"
            )
        if self.in_site and ahead.looks_ahead:
            raise UsageError(
                "--world and --lookahead-by ask before every action, --search in the site before"
                " the first; leave them out, or give --search-in dream"
            )
        if self.in_site and not self.value:
            raise UsageError(
                "--search in the site needs to know what is good: --value reward:FOLDER,"
                " judge:evidence or, for demonstrations, rules (the tasks' own checks)"
            )
        if not self.in_site and (ahead.world == "none" or ahead.lookahead_by):
            raise UsageError(
                "--search-in dream searches in a world model and values by --value: name the model"
                " with --world, as map, and leave --lookahead-by out"
            )
        if self.sees_checks and measures:
            raise UsageError(
                f"--value {self.value} searches for the checks by which it is measured; name"
                " another evaluator here, or make demonstrations of it with webagent collect"
            )
        if self.sees_checks and not self.in_site:
            raise UsageError(
                "--value rules has nothing to check in a dream; name another evaluator"
            )


def find_unsearchable(tasks: Iterable[Task], is_reset: Callable[[str], bool]) -> str:
    """Return why a task's site may not be searched, as what is done there stays done; empty where
    all may. `is_reset` says it of a site by name."""
    for task in tasks:
        is_live = not task.site and task.start_url.startswith("http")
        if is_live or (task.site and not is_reset(task.site)):
            return (
                f"{task.id} is played on {task.site or task.start_url}, which cannot be put back"
                " into its first state: what a search tries there stays done. Search in a site of"
                " this machine, or in a world model with --search-in dream"
            )
    return ""


@asynccontextmanager
async def open_search(
    choice: SearchChoice,
    ahead: WorldChoice,
    open_site: OpenWorld,
    load_model: Callable[[], Model],
    images: Callable[[str], bytes] | None,
    measured: str,
) -> AsyncIterator[WrapPolicy]:
    """Yield what puts search around a policy. `open_site` makes the worlds that it searches in,
    `load_model` the model of an evaluator that asks one, and `measured` is the split of the seeds
    that are played.

    Raises `SetupError`, `ModelError` and `StoreError`.
    """
    from worldmodel.prediction import charge
    from worldmodel.search import Searched, SearchLimits
    from worldmodel.states import dream_states, replay_states

    limits = SearchLimits(choice.search, choice.nodes, choice.branch, choice.search_depth)
    asks = bool(choice.value) and parse_evaluator(choice.value).asks_a_model
    judge = load_model() if asks else None

    def value(ledger: Ledger) -> "Evaluator | None":
        if choice.value in ("", "rules"):
            return share_of_checks if choice.value else None
        spec = parse_evaluator(choice.value)
        # A verdict of yes or no cannot order states; how likely it is, can.
        spec = replace(spec, kind="chance") if spec.kind == "reward" else spec
        asked = MeteredModel(judge, ledger, "value") if judge is not None else None
        return EvaluatorBuilder(asked, images).evaluator(spec)

    try:
        async with open_world(ahead, measured=measured) as (world, _):

            def put_around(policy: "Policy", ledger: Ledger) -> "Policy":
                if not choice.in_site:
                    states = dream_states(charge(world, ledger), value(ledger))
                    return Searched(policy, states, limits, replans=True)
                evaluator = value(ledger)
                assert evaluator is not None, "check refuses a search in a site without a value"
                sees, steps = choice.sees_checks, choice.search_steps
                states = replay_states(open_site, evaluator, steps, sees_checks=sees)
                return Searched(policy, states, limits, replans=False)

            yield put_around
    finally:
        if judge is not None:
            await judge.close()


def describe_search(episodes: Iterable[Trajectory]) -> str:
    """Return a sentence on what searching took in episodes; empty where nobody searched."""
    notes = [step.decision.usage for episode in episodes for step in episode.steps]
    searched = [each for each in notes if "search_nodes" in each]
    if not searched:
        return ""
    sums = {
        name: sum(each.get(name, 0) for each in searched)
        for name in ("search_nodes", "search_calls", SEARCHED, "imagined_steps", "search_failures")
    }
    return (
        f"search: {len(searched):,} trees of {sums['search_nodes']:,} states,"
        f" {sums['search_calls']:,} calls of the policy, {sums[SEARCHED]:,} real and"
        f" {sums['imagined_steps']:,} imagined steps beside those of the episodes;"
        f" {sums['search_failures']:,} failures of a site or refusals of the guard in them"
    )
