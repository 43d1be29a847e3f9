"""The world model of a command: its settings, and how it is built."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evaluators.evaluator import FunctionEvaluator
from loop.judging.specification import EvaluatorBuilder, parse_evaluator
from loop.policies import ModelChoice
from tasks.suite import split_of
from webagent.agent.actor import check_place, language_model
from webagent.errors import SetupError, UsageError, unknown_name
from webagent.models.endpoint import EndpointModel
from webagent.models.model import Model
from webagent.models.spending import Ledger, MeteredModel
from webagent.models.weight_notes import check_role, read_role
from webagent.policy.policy import Policy, WrapPolicy
from webagent.records import Trajectory
from webagent.store import Store

if TYPE_CHECKING:  # torch and numpy are not loaded for settings
    from worldmodel.prediction import WorldModel
    from worldmodel.recall import RememberedWorld

WORLDS = ("none", "map", "policy", "local:FOLDER", "endpoint:NAME")
EXAMPLES = 3
"""Similar real steps that a language model is shown, unless it was trained without any."""
_WORLD = "world"
"""The role of a world model's weights, and the name of their folder in a run."""


@dataclass(frozen=True)
class WorldChoice:
    """The world model that predicts the effects of actions, and how it is consulted before
    acting."""

    world: str = "none"
    """World model to consult before acting: `map`, the memory of a run's real steps;
    `local:FOLDER`, that memory, then a language model from `webagent train --role world`;
    `endpoint:NAME`, that memory, then the model of that name behind a server, or the one that a
    file FILE.toml describes; `policy`, in `webagent improve`, that memory, then the language model
    that acts; `none` for none (docs/worldmodel.md)."""
    world_run: Path | None = None
    """Folder of the run whose real steps are remembered, except those on test seeds."""
    lookahead_by: str = ""
    """Judge that scores imagined outcomes: any evaluator of `webagent judge --with`, such as
    `reward:FOLDER`, or `judge:evidence`, which queries the language model of --world. Default: the
    world model's P(success). With --world none it scores stopping after each candidate."""
    candidates: int = 3
    """Number of actions that look-ahead and its controls compare."""
    depth: int = 0
    """Number of steps that look-ahead imagines. Default: 1, and 2 with a language model whose pages
    no --lookahead-by judges, since P(success) of the first action is memory's and does not depend
    on the page that the model predicts."""

    @property
    def kind(self) -> str:
        """Return the part before the colon."""
        return self.world.partition(":")[0]

    @property
    def place(self) -> str:
        """Return what is after the colon."""
        return self.world.partition(":")[2]

    @property
    def looks_ahead(self) -> bool:
        """Return whether anything is consulted before acting."""
        return self.world != "none" or bool(self.lookahead_by)

    @property
    def asks_a_model(self) -> bool:
        """Return whether a language model is queried."""
        return self.kind in ("local", "endpoint")

    @property
    def is_trained(self) -> bool:
        """Return whether the language model was trained to be a world model."""
        return self.kind == "local" and read_role(Path(self.place)) == _WORLD

    @property
    def paid(self) -> str:
        """Return the server's name of the paid model; empty if there is none."""
        return self._served.paid if self.kind == "endpoint" else ""

    @property
    def _served(self) -> ModelChoice:
        return ModelChoice.named(self.place if self.kind == "endpoint" else self.world)

    @property
    def name(self) -> str:
        """Return the world model's name in tables: the kind, the served name or the folder."""
        if self.kind == "local":
            place = Path(self.place)
            # `webagent train --out FOLDER` names every model's folder alike.
            return place.parent.name if place.name == "model" else place.name
        return self.paid or self.kind

    @property
    def steps_ahead(self) -> int:
        """Return the number of steps that look-ahead imagines."""
        return self.depth or (2 if self.asks_a_model and not self.lookahead_by else 1)

    def label(self) -> list[str]:
        """Return what is added to a policy's name in tables."""
        by = f" by {self.lookahead_by}" * bool(self.lookahead_by)
        return [f"lookahead={self.name}{by}"] * self.looks_ahead

    def check(self, *, remembers: bool = False) -> None:
        """Check the choice without loading or querying anything; `remembers` if the run itself has
        the real steps. Raises `SetupError` and `StoreError`."""
        if self.kind not in {name.partition(":")[0] for name in WORLDS}:
            raise unknown_name("world", self.world, WORLDS)
        least = {"candidates": (self.candidates, 2), "depth": (self.depth, 0)}
        for name, (given, bound) in least.items():
            if given < bound:
                raise UsageError(f"--{name} {given:g}: give at least {bound}")
        if self.kind == "local":
            if not self.place:
                raise UsageError("--world local: names no weights; give local:FOLDER")
            check_place(self.place)
            check_role(Path(self.place), [_WORLD], f"--world {self.world}")
        if self.kind == "endpoint" and not self._served.contestant().served:
            raise UsageError("--world endpoint asks a server for a model; give endpoint:NAME")
        self._check_sources(remembers)

    def _check_sources(self, remembers: bool) -> None:
        """Check the run to remember, and the judge."""
        if remembers and self.world_run is not None:
            raise UsageError(
                f"--world-run {self.world_run}: the arms remember their own real steps; leave it"
                " out, and have that run's successes shown with --demonstrated RUN"
            )
        if self.kind == "policy" and not remembers:
            raise UsageError(
                "--world policy is the model that webagent improve trains; name another world"
            )
        if self.kind == "map" and self.world_run is None and not remembers:
            raise UsageError(
                f"--world {self.world} remembers real steps; name their run with --world-run RUN"
            )
        if self.world_run is not None:
            with Store.look(self.world_run):
                pass
        if self.lookahead_by:
            asks = parse_evaluator(self.lookahead_by).asks_a_model
            if asks and not self.asks_a_model:
                raise UsageError(
                    f"--lookahead-by {self.lookahead_by} asks a language model; name it as the"
                    " world: --world endpoint:NAME, or --world local:FOLDER"
                )

    def load_model(self) -> Model | None:
        """Return the language model to query, if any. Raises `SetupError`."""
        if self.kind == "local":
            return language_model(self.place, [_WORLD])
        return self._served.contestant().language_model() if self.kind == "endpoint" else None


def remember_run(run: Path | None, measured: str = "test") -> "RememberedWorld":
    """Return the memory of a run's real steps; an empty one for no run. Left out are steps on test
    seeds, and those on development seeds where that is the `measured` split. Raises
    `StoreError`."""
    from worldmodel.recall import RememberedWorld
    from worldmodel.transitions import transitions

    memory, hidden = RememberedWorld(), {"test"} | ({measured} - {"train"})
    if run is None:
        return memory
    with Store.look(run) as store:
        success = read_success(store)
        for trajectory in store.trajectories():
            if split_of(trajectory.task.seed) not in hidden:
                memory.learn(transitions([trajectory], success))
    memory.study()
    return memory


def read_success(store: Store) -> dict[str, float | None]:
    """Return the success of each episode of a run; None without a verdict, except that
    demonstrations then count as a success."""
    found: dict[str, float | None] = dict.fromkeys(store.ids("any"))
    found |= dict.fromkeys(store.ids("any", phase="demonstrate"), 1.0)
    for episode, scores in store.scores().items():
        values = [s.value for s in scores if s.name == "success" and s.value is not None]
        if values:
            found[episode] = max(values)
    return found


@asynccontextmanager
async def open_model(choice: WorldChoice) -> AsyncIterator[Model | None]:
    """Yield the language model that the settings name, if any, and release it at the end. Raises
    `SetupError` and `ModelError`."""
    model = choice.load_model()
    try:
        yield model
    finally:
        if model is not None:
            await model.close()


def put_behind(
    memory: "RememberedWorld", model: Model | None, *, is_trained: bool = False
) -> "WorldModel":
    """Return memory with the language model behind it, if there is one. It is shown similar real
    steps unless it was trained to predict pages."""
    from worldmodel.layers import LayeredWorld
    from worldmodel.prompted import PromptedWorld

    if model is None:
        return memory
    return LayeredWorld(memory, PromptedWorld(model, memory, 0 if is_trained else EXAMPLES))


def build_outcome_judge(
    choice: WorldChoice, model: Model | None, images: Callable[[str], bytes] | None, ledger: Ledger
) -> FunctionEvaluator | None:
    """Return the judge of imagined outcomes; None for the world model's P(success). What it asks
    the model is booked in the ledger. Raises `SetupError` and `ModelError`."""
    if not choice.lookahead_by:
        return None
    spec = parse_evaluator(choice.lookahead_by)
    # A verdict of yes or no cannot order candidates; how likely it is, can.
    spec = replace(spec, kind="chance") if spec.kind == "reward" else spec
    metered = MeteredModel(model, ledger, "lookahead") if model is not None else None
    return EvaluatorBuilder(metered, images).evaluator(spec)


@asynccontextmanager
async def open_lookahead(
    choice: WorldChoice, images: Callable[[str], bytes] | None, measured: str = "test"
) -> AsyncIterator[WrapPolicy | None]:
    """Yield what adds look-ahead to a policy; None without look-ahead. `images` gives a judge its
    screenshots. The memory is that of `--world-run`, without its steps on seeds of the `measured`
    split; without a world the judge scores stopping after each candidate.

    Raises `SetupError`, `ModelError` and `StoreError`.
    """
    if not choice.looks_ahead:
        yield None
        return
    from worldmodel.lookahead import Gate, LookAhead

    async with open_model(choice) as model:
        world = None
        if choice.world != "none":
            memory = remember_run(choice.world_run, measured)
            world = put_behind(memory, model, is_trained=choice.is_trained)

        def wrap(policy: Policy, ledger: Ledger) -> Policy:
            judge = build_outcome_judge(choice, model, images, ledger)
            gate = Gate(choice.candidates)
            return LookAhead(world, gate, choice.steps_ahead, judge)(policy, ledger)

        yield wrap


def check_world(
    choice: WorldChoice, *, remembers: bool = False, starts: Collection[str] = ()
) -> None:
    """Check as `WorldChoice.check`, that there is a server to query, and that the run to remember
    was on a site of the addresses where tasks start. Raises `SetupError`."""
    choice.check(remembers=remembers)
    if choice.world_run is not None:
        with Store.look(choice.world_run) as store:
            played = {each.task: each.id for each in store.entries() if each.steps}
            begun = [one.task.start_url for one in map(store.load, played.values()) if one]
        known, sites = (
            {urlsplit(address).hostname or "local pages" for address in addresses}
            for addresses in (begun, starts)
        )
        if not known or (sites and not known & sites):
            there = f"steps on {', '.join(sorted(known))} alone" if known else "no step"
            raise SetupError(
                f"--world-run {choice.world_run} holds {there}, which predicts nothing on"
                f" {', '.join(sorted(sites)) or 'any page'}; name a run on the site of the tasks"
            )
    if choice.kind == "endpoint" and isinstance(model := choice.load_model(), EndpointModel):
        model.check()


def describe_lookahead(choice: WorldChoice, episodes: Iterable[Trajectory]) -> str:
    """Return a sentence on the effect of look-ahead in episodes; empty without it."""
    if not choice.looks_ahead:
        return ""
    from worldmodel.lookahead import format_lookahead

    return format_lookahead(episodes)
