"""`webagent benchmark`: one policy measured on held-out seeds of a suite."""

import asyncio
import json
import shlex
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from evaluators.rules import checks_hold
from recipes.asking import Asking
from recipes.config import resolve
from recipes.contestant import PLAIN, Contestant
from recipes.failures import summary_of
from recipes.folder import RunFolder
from recipes.memory import knowledge_of
from recipes.meter import Meter
from recipes.report import write_report
from recipes.spending import Caps, check_money, open_ledger, prices_in, told, within
from recipes.stopping import Stopped, run_until_stopped
from recipes.summary import RunMeta, Summary, print_summary, summarize, write_summary
from tasks.benchmarks import miniwob
from tasks.suite import SEEDS_PER_SPLIT, SPLITS, UnknownTask
from webagent.errors import SetupError, StoreError, unknown_name
from webagent.guard import Guard
from webagent.models import load_endpoint
from webagent.models.metered import Ledger, MeteredModel
from webagent.policy.knowledge import Knowledge
from webagent.policy.prompting import Prompting
from webagent.records import Provenance, Step, Trajectory
from webagent.rollout import Planned, collect, planned
from webagent.store import Store

BENCHMARKS = {"miniwob": miniwob}
HEADLINE, LENIENT = checks_hold(), checks_hold("raw_positive")
"""The frozen judge: rules over evidence."""


@dataclass(frozen=True)
class BenchmarkConfig:
    """Measure one policy on seeds that no training sees."""

    benchmark: str = "miniwob"
    """Which suite."""
    tasks: tuple[str, ...] = ("twenty",)
    """Task names, `twenty` for the twenty everyday ones, or `all` for all 125."""
    seeds: int = 10
    """Episodes a task."""
    samples: int = 1
    """Episodes a task and seed, for groups that are compared."""
    split: str = "test"
    """Which seeds: `test`, `development` or `train`."""
    policy: str = "oracle"
    """`oracle`, `model:FOLDER` for saved built-in weights, `local:FOLDER` (or a hub name) for a
    language model in this process, or `endpoint` (OPENAI_BASE_URL)."""
    model: str = ""
    """Name of the model behind the endpoint."""
    endpoint: Path | None = None
    """File whose table [endpoint] says where the server is and what it can do (docs/models.md)."""
    observation: str = "text"
    """What a language model is shown: `text`, `screenshot`, `set-of-marks`, `pruned`,
    `accessibility`, `html` or `markdown`."""
    images: bool = False
    """Show screenshots to the language model, beside whatever text it is shown."""
    prompting: Prompting = field(default_factory=Prompting)
    """How the language model is asked, a switch for each part. Weights that `webagent train` made
    are asked as in training unless a switch is set here."""
    prompt: str = ""
    """The language model's prompt: `act` or `brief`; empty for that of its training, or `act`."""
    temperature: float = 0.0
    """At which the language model samples."""
    max_tokens: int = 1024
    """Of a language model's reply, at most."""
    exemplars: Path | None = None
    """Folder of a run whose successful episodes, of another split, are shown as examples."""
    exemplar_count: int = 2
    """How many of them at a time."""
    hints: Path | None = None
    """Folder of hints on sites, a Markdown file for each, that are shown."""
    guard: Path | None = None
    """File with the limits that every episode is held to (docs/guard.md); none without it."""
    concurrency: int = 4
    """Browser contexts at once."""
    max_cost: float | None = None
    """Money that may be spent on models, all sessions of the run together; it stops then."""
    max_tokens_total: int | None = None
    """The same in tokens, read and written."""
    max_minutes: float | None = None
    """The same in minutes."""
    prices: Path | None = None
    """File with what models cost (docs/cost.md); ./prices.toml where there is one."""
    name: str = ""
    """Name of the run's folder under `runs`; made from the date when empty."""
    runs: Path = Path("runs")
    """Where run folders are made."""
    resume: Path | None = None
    """Folder of a measurement to go on with; its own settings are used."""
    json: bool = False
    """Print the summary as JSON instead of tables; progress goes to standard error either way."""
    preview: bool = False
    """Say what would be played, and play nothing."""


def main(argv: Sequence[str]) -> int:
    """Measure, then print the table and write summary.json and report.html."""
    config = _resumed(resolve(BenchmarkConfig, "benchmark", argv))
    _check(config)
    if config.preview:
        print(_preview(config))
        return 0
    folder = _folder(config, argv)
    with folder.store() as store:
        try:
            run_until_stopped(_within_caps(config, store))
        except Stopped as stopped:
            print(f"\n{stopped}; finished steps are safe. Go on with:\n  {_resume(folder)}")
            return stopped.status
        summary = summarize(store, _meta(config, folder))
        write_summary(summary, folder.path)
        page = write_report(summary, store, folder.path)
    if config.json:
        print(json.dumps(summary, indent=1))
    else:
        print_summary(summary)
        if to_fix := summary_of(folder.path, "evaluate").first:
            print(to_fix)
        print(f"{_speed(summary)}\nreport: {page}\nnumbers: {folder.path / 'summary.json'}")
        if summary["spent"]["stopped"]:
            print(f"finished steps are safe. With a higher cap, go on with:\n  {_resume(folder)}")
    return 0 if summary["arms"] else 1


async def _within_caps(config: BenchmarkConfig, store: Store) -> None:
    """Measure, as far as what may be spent allows."""
    caps = _caps(config)
    ledger = open_ledger(store, caps, prices_in(config.prices))
    left = None if caps.minutes is None else 60 * caps.minutes - _Clock.spent(store, _arm(config))
    await within(_measure(config, store, ledger), ledger, store, left)


async def _measure(config: BenchmarkConfig, store: Store, ledger: Ledger) -> None:
    """Play what has not been played yet, and score every episode as it ends."""
    from webagent.browser import Browser

    plan = _plan(config)
    known = set(store.ids("any"))
    scoring: list[asyncio.Future[None]] = []
    cost = partial(told, ledger)
    with Meter(len(plan), cost=cost) as meter, _Clock(store, _arm(config)) as clock:

        async def score(trajectory: Trajectory) -> None:
            headline, lenient = await HEADLINE(trajectory), await LENIENT(trajectory)
            store.score(trajectory.id, headline, lenient)
            meter.count(trajectory, headline.value, is_new=trajectory.id not in known)

        contestant = _contestant(config)
        variant = contestant.asking.variant
        images = store.images if contestant.images else None
        contestant.asking.note(store)
        async with (
            contestant.ready(images, partial(MeteredModel, ledger=ledger)) as policy,
            Browser(guard=_guard(config)) as browser,
        ):
            try:
                await collect(
                    plan,
                    policy,
                    partial(
                        browser.world,
                        images.add if images else None,
                        variant=variant,
                        keep_picture=store.images.add,
                    ),
                    concurrency=config.concurrency,
                    recorder=clock,
                    on_episode=lambda t: scoring.append(asyncio.ensure_future(score(t))),
                )
            finally:
                await asyncio.gather(*scoring)


def _guard(config: BenchmarkConfig) -> Guard | None:
    """The guard asked for, with the benchmark's own pages open. Raises `SetupError`."""
    if config.guard is None:
        return None
    return Guard.read(config.guard).opening(BENCHMARKS[config.benchmark].pages().parent)


class _Clock:
    """The run's recorder, which also notes time, steps and what was decided on in a session, on
    top of earlier ones."""

    def __init__(self, store: Store, arm: str) -> None:
        self.begin, self.finish, self.load = store.begin, store.finish, store.load
        self._store, self._key = store, self._key_of(arm)
        self._started = time.monotonic()
        self._sums: defaultdict[str, float] = defaultdict(float)

    def __enter__(self) -> "_Clock":
        return self

    def __exit__(self, *failure: object) -> None:
        before = self._noted(self._store, self._key)
        self._sums["seconds"] = time.monotonic() - self._started
        names = ("seconds", "steps", *self._sums)
        now = {name: self._sums[name] + before.get(name, 0.0) for name in names}
        self._store.put_state(self._key, {**before, **now})

    def add_step(self, episode: str, position: int, step: Step) -> None:
        """Keep the step, and add what it took to the sums."""
        self._store.add_step(episode, position, step)
        decision = step.decision
        seconds = {"decision_seconds": decision.seconds, "world_seconds": step.seconds}
        tokens = {
            name: decision.usage[name]
            for name in ("input_tokens", "output_tokens")
            if name in decision.usage
        }
        for name, value in {"steps": 1, **seconds, **tokens}.items():
            self._sums[name] += value

    @classmethod
    def spent(cls, store: Store, arm: str) -> float:
        """Seconds that the run has taken in earlier sessions."""
        return cls._noted(store, cls._key_of(arm)).get("seconds", 0.0)

    @staticmethod
    def _key_of(arm: str) -> str:
        return f"round:{arm}:0:0"

    @staticmethod
    def _noted(store: Store, key: str) -> dict[str, float]:
        noted = store.get_state(key)
        found = noted if isinstance(noted, dict) else {}
        return {k: float(v) for k, v in found.items() if isinstance(v, int | float)}


def _plan(config: BenchmarkConfig) -> list[Planned]:
    """Every task on its first seed, then every task on its second, so that any part is fair."""
    suite = BENCHMARKS[config.benchmark]
    names = suite.select(config.tasks)
    tasks = [
        suite.task(name, index, config.split)
        for index in range(config.seeds)
        for name in names
        for _ in range(config.samples)
    ]
    return planned(tasks, Provenance(arm=_arm(config), phase="evaluate"))


def _arm(config: BenchmarkConfig) -> str:
    examples = [f"exemplars={config.exemplar_count}"] * bool(config.exemplars)
    told = [*examples, *["hints"] * bool(config.hints)]
    return _contestant(config, knows=False).label(*told)


def _contestant(config: BenchmarkConfig, *, knows: bool = True) -> Contestant:
    """The policy that is measured, asked as it was trained where nothing else is said."""
    served = load_endpoint(config.endpoint) if config.endpoint else None
    found = Contestant(config.policy, config.model, served)
    trained = Asking.load(Path(found.place)) if found.kind == "local" else None
    asking = trained or Asking()
    asking = replace(
        asking,
        prompt=config.prompt or asking.prompt,
        prompting=config.prompting if config.prompting != PLAIN else asking.prompting,
        observation=asking.observation if config.observation == "text" else config.observation,
    )
    return replace(
        found,
        asking=asking,
        images=config.images or bool(asking.variant.image),
        knowledge=_knowledge(config) if knows else (),
        temperature=config.temperature,
        max_tokens=config.max_tokens,
    )


def _knowledge(config: BenchmarkConfig) -> tuple[Knowledge, ...]:
    count, judge = config.exemplar_count, HEADLINE.id
    return knowledge_of(config.exemplars, config.hints, config.split, judge, count)


def _check(config: BenchmarkConfig) -> None:
    """Find what is wrong before anything is spent. Raises `SetupError`."""
    if config.benchmark not in BENCHMARKS:
        raise unknown_name("benchmark", config.benchmark, BENCHMARKS)
    if config.split not in SPLITS:
        raise unknown_name("split", config.split, SPLITS)
    if not 1 <= config.seeds <= SEEDS_PER_SPLIT or min(config.concurrency, config.samples) < 1:
        raise SetupError(
            f"--seeds {config.seeds} --samples {config.samples} --concurrency {config.concurrency}:"
            " all must be at least 1"
        )
    _contestant(config).check()
    _caps(config).check()
    paid = _contestant(config).served if config.policy == "endpoint" else ""
    check_money(_caps(config), paid, prices_in(config.prices))
    _guard(config)
    try:
        BENCHMARKS[config.benchmark].select(config.tasks)
    except UnknownTask as error:
        raise SetupError(str(error)) from error


def _caps(config: BenchmarkConfig) -> Caps:
    return Caps(config.max_cost, config.max_tokens_total, config.max_minutes)


def _resumed(asked: BenchmarkConfig) -> BenchmarkConfig:
    """What was asked for; a measurement that is resumed keeps the settings it was begun with, but
    for caps and prices that are given anew."""
    if asked.resume is None:
        return asked
    folder = RunFolder.open(asked.resume)
    if list(folder.settings().get("command", ()))[1:2] != ["benchmark"]:
        raise StoreError(f"{asked.resume} holds another kind of run; resume it with its own recipe")
    begun = folder.config(BenchmarkConfig)
    named = ("max_cost", "max_tokens_total", "max_minutes", "prices")
    given = {name: value for name in named if (value := getattr(asked, name)) is not None}
    return replace(begun, resume=asked.resume, json=asked.json, preview=asked.preview, **given)


def _folder(config: BenchmarkConfig, argv: Sequence[str]) -> RunFolder:
    if config.resume is not None:
        folder = RunFolder.open(config.resume)
        folder.note_origin()
        return folder
    name = config.name or time.strftime("benchmark-%Y%m%d-%H%M%S")
    return RunFolder.create(config.runs / name, config, ["webagent", "benchmark", *argv])


def _meta(config: BenchmarkConfig, folder: RunFolder) -> RunMeta:
    suite = BENCHMARKS[config.benchmark]
    command = shlex.join(folder.settings()["command"])
    names, origins = suite.select(config.tasks), folder.note_origin()
    return RunMeta(suite.load().id, names, command, origins, HEADLINE.id, config.split)


def _preview(config: BenchmarkConfig) -> str:
    """What would be played, as text or, with `json`, as an object."""
    plan = _plan(config)
    facts = {
        "benchmark": BENCHMARKS[config.benchmark].load().id,
        "policy": _arm(config),
        "tasks": len({entry.task.name for entry in plan}),
        "seeds": f"{config.split} {plan[0].task.seed} to {plan[-1].task.seed}",
        "episodes": len(plan),
        "steps at most": sum(entry.task.max_steps for entry in plan),
    }
    if config.resume is not None:
        with RunFolder.open(config.resume).store() as store:
            facts["played already"] = len(store.ids(phase="evaluate"))
    if config.json:
        return json.dumps(facts, indent=1)
    return "\n".join(f"{name:<15} {value}" for name, value in facts.items())


def _resume(folder: RunFolder) -> str:
    return f"webagent benchmark --resume {shlex.quote(str(folder.path))}"


def _speed(summary: Summary) -> str:
    if not summary["arms"] and summary["spent"]["stopped"]:
        return "no episode came to its end before that"
    if not summary["arms"]:
        return "every episode failed for a reason outside the policy; see the errors above"
    row = summary["arms"][0]["rounds"][-1]
    steps, seconds = row["costs"]["steps"], row["seconds"]
    return f"{steps:,.0f} steps in {seconds:,.0f} s, {steps / seconds:.1f} steps/s"
