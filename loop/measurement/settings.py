"""Settings of `webagent benchmark`."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tyro.conf import OmitArgPrefixes

from benchmarks.catalogue import BENCHMARKS
from loop.costs import Caps, check_cost_cap, load_prices
from loop.executors.executor import ExecutorName, check_workers
from loop.flat import Important
from loop.judging.specification import EvaluatorSpec, parse_evaluator
from loop.policies import ModelChoice, NamedPolicy
from loop.restating import RestateChoice
from loop.student import StudentChoice
from loop.world_models import WorldChoice
from tasks.suite import SEEDS_PER_SPLIT, SPLITS
from webagent.action.custom import names_of
from webagent.agent.asking import Asking
from webagent.errors import UsageError, unknown_name
from webagent.guard import Confirm, Guard
from webagent.models import load_endpoint
from webagent.policy.knowledge import Knowledge, SiteMemory
from webagent.policy.prompting import Switch


@dataclass(frozen=True)
class TaskSettings:
    """Which tasks are played, and on which sites."""

    benchmark: Important[str] = "miniwob"
    """Benchmark that provides the tasks: `own` for tasks from your own file, `proposed` for tasks
    from `webagent propose`. `webagent benchmark`, `collect` and `serve` also accept its name as
    their first argument."""
    tasks: Important[tuple[str, ...]] = ()
    """Names of tasks or task groups, such as `twenty` for twenty common tasks of MiniWoB++; `all`
    for every task. Default: `twenty` if the benchmark has that group, else all."""
    files: Path | None = None
    """The benchmark's task file or folder, if it is not found automatically; for `own`, a TOML file
    with a table [tasks.NAME] per task, with `url` and `goal` (docs/collecting.md)."""
    addresses: Path | None = None
    """TOML file with the addresses of the benchmark's sites, for example `shopping =
    "http://localhost:7770"` (docs/benchmarks.md)."""
    sites: tuple[Path, ...] = ()
    """TOML files that describe additional sites (docs/sites.md)."""
    logins: Path | None = None
    """Folder with the logins that tasks start with: `NAME.json`, a storage state saved by
    Playwright. Logins saved by `webagent login` are found without it."""
    guard: Path | None = None
    """File with the limits enforced in every episode (docs/guard.md). Default: no limits."""
    confirm: Confirm = "off"
    """Hold back what pages send to change something: `risky` where the goal does not ask for it,
    `all` always (docs/guard.md)."""


@dataclass(frozen=True)
class PromptSettings:
    """What a language model sees and how it is prompted."""

    images: Important[bool] = False
    """Show the language model screenshots, and the images of a goal, in addition to the text."""
    observation: str = "text"
    """Form in which the language model sees pages: `text`, `boxes`, `screenshot`, `set-of-marks`,
    `pruned`, `accessibility` or `html`."""
    prompt: tuple[Switch, ...] = ()
    """How the language model is prompted, by any of the words `brief`, `conversation`, `thoughts`,
    `pages`, `screenshots`, `loops`, `constrained`, `direct` and `examples` (docs/training.md).
    Default: as in its training, or with none."""
    max_tokens: int = 1024
    """Maximum tokens in a reply of the language model."""
    site_memory: Path | None = None
    """Folder with a file SITE.md for each site of what is known there, shown to the language model;
    `webagent memory --site-memory` writes them (docs/site-memory.md)."""


@dataclass(frozen=True)
class RunSettings:
    """The run's folder, its limits and its browsers."""

    name: str = ""
    """Name of the run's folder under `runs`; derived from the date if empty."""
    runs: Path = Path("runs")
    """Folder in which run folders are created."""
    resume: Important[Path | None] = None
    """Folder of a run to resume; its own settings are used, except for caps,
    workers and what else cannot change a result."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Limits at which the run stops, over all its sessions."""
    concurrency: int = 4
    """Browser contexts per worker."""
    executor: ExecutorName = "process"
    """Where browsers run: `process` on this machine, `ray` on a cluster (docs/howto/cluster.md)."""
    workers: Important[int] = 1
    """Parallel browsers, each in its own process, or on the cluster. In `webagent improve`:
    parallel processes, each with one thread and one browser; only one if a model is paid for or a
    cap is set, so that caps hold."""


@dataclass(frozen=True)
class PlayerSettings:
    """The policy that plays, and the models beside it."""

    model: OmitArgPrefixes[ModelChoice] = field(default_factory=partial(ModelChoice, "oracle"))
    """Policy that plays. Besides language models, --policy accepts `oracle`, `model:FOLDER` for
    saved built-in weights or a run's memory (docs/memory.md), and `python:FILE.py:NAME` for your
    own policy."""
    server: str = ""
    """Address of a vLLM or SGLang server, for example `http://localhost:8000`, that generates with
    the weights of `--policy local:FOLDER` (docs/howto/cluster.md). Default: this process does."""
    student: OmitArgPrefixes[StudentChoice] = field(default_factory=StudentChoice)
    """Student in front of the policy."""
    restating: OmitArgPrefixes[RestateChoice] = field(default_factory=RestateChoice)
    """Model that puts goals in words that the policy's memory knows."""
    lookahead: OmitArgPrefixes[WorldChoice] = field(default_factory=WorldChoice)
    """World model that the policy consults before acting."""
    actions: tuple[str, ...] = ()
    """Actions that a language model may choose. Default: as in its training, or the usual ones."""


@dataclass(frozen=True)
class JudgeSettings:
    """The judge that scores episodes, and the model that it queries."""

    judge: Important[str] = "rules"
    """Judge that scores the episodes: the tasks' own checks (`rules`; in `webagent improve`
    `checks`), or any evaluator of `webagent judge --with`, such as `judge:webvoyager`,
    `reward:FOLDER` or `cascade(rules, judge:evidence)`. Tasks without checks need one."""
    judge_model: str = ""
    """Model that the judge queries: its name, `local:FOLDER`, or a file FILE.toml whose table
    [endpoint] describes its server (docs/models.md). It is shown screenshots, unless the file says
    that the server takes no images."""


@dataclass(frozen=True)
class BenchmarkConfig:
    """Evaluate one policy on held-out seeds."""

    selection: OmitArgPrefixes[TaskSettings] = field(default_factory=TaskSettings)
    """Tasks, and the sites that they are played on."""
    seeds: Important[int | None] = None
    """Seeds per task. Default: 10, or 1 if the task is the same for every seed; larger values are
    then repeats."""
    first_seed: int = 0
    """Number of the first seed in the split; another value evaluates on seeds not seen before."""
    split: Important[str] = "test"
    """Seeds to use: `test`, `development` or `train`."""
    samples: int = 1
    """Episodes per task and seed, for groups or objectives that compare episodes."""
    player: OmitArgPrefixes[PlayerSettings] = field(default_factory=PlayerSettings)
    """Policy that plays, and the models beside it."""
    prompting: OmitArgPrefixes[PromptSettings] = field(default_factory=PromptSettings)
    """What a language model sees and how it is prompted."""
    temperature: float = 0.0
    """Sampling temperature of the language model."""
    judging: OmitArgPrefixes[JudgeSettings] = field(default_factory=JudgeSettings)
    """Judge of the episodes, and the model that it queries."""
    har: Path | None = None
    """HAR recording of a site's traffic that answers requests instead of the network."""
    baselines: bool = True
    """Also play the baselines: doing nothing, a blind replay and, for infeasible tasks, giving up
    at once."""
    baseline_seeds: int = 2
    """Number of seeds per task for the baselines; 0 for no baselines."""
    replay: Path | None = None
    """Folder of a run whose successes are replayed. Default: the scripted solutions of the
    tasks."""
    pictures: int = 1000
    """Maximum number of screenshots stored for viewing evaluated episodes; 0 for none. Those that a
    model or a judge sees are stored in addition."""
    preview: Important[bool] = False
    """Print what would be played, without playing it."""
    run: OmitArgPrefixes[RunSettings] = field(default_factory=RunSettings)
    """Folder of the run, its limits and its browsers."""


def check_seeds(first: int, count: int) -> None:
    """Raise `UsageError` unless a split holds these seeds."""
    if not 0 <= first <= SEEDS_PER_SPLIT - count:
        raise UsageError(
            f"--first-seed {first} with {count} seeds: a split has {SEEDS_PER_SPLIT:,} seeds, the"
            " first of which is 0"
        )


def check(config: BenchmarkConfig) -> None:
    """Find what is wrong with the settings themselves. Raises `SetupError`."""
    if config.selection.benchmark not in BENCHMARKS:
        raise unknown_name("benchmark", config.selection.benchmark, BENCHMARKS)
    if config.split not in SPLITS:
        raise unknown_name("split", config.split, SPLITS)
    seeds = 1 if config.seeds is None else config.seeds
    least = min(config.run.concurrency, config.samples, config.baseline_seeds + 1)
    check_seeds(config.first_seed, seeds)
    if seeds < 1 or least < 1:
        raise UsageError(
            f"--seeds {seeds} --samples {config.samples} --concurrency {config.run.concurrency}"
            f" --baseline-seeds {config.baseline_seeds}: all must be at least 1, the last 0"
        )
    check_workers(config.run.workers)
    contestant(config).check()
    config.player.student.check(config.player.model.policy)
    config.player.restating.check(config.player.model.policy)
    config.player.lookahead.check()
    if config.player.lookahead.looks_ahead and config.player.model.policy == "oracle":
        raise UsageError(
            "--policy oracle knows the right actions, so a world model is pointless; name another"
        )
    config.run.caps.check()
    paid_models = {
        each.paid
        for each in (config.player.model, config.player.lookahead, config.player.restating)
    }
    for paid in paid_models - {""} or {""}:
        check_cost_cap(config.run.caps, paid, load_prices())
    if judge_of(config).asks_a_model:
        judging(config).check()
    Guard.chosen(config.selection.guard, config.selection.confirm)


def judge_of(config: BenchmarkConfig) -> EvaluatorSpec:
    """Return the judge that the settings name. Raises `SetupError`."""
    return parse_evaluator(config.judging.judge)


def judging(config: BenchmarkConfig) -> NamedPolicy:
    """Return the judge's model, where the judge queries one."""
    choice = ModelChoice.named(config.judging.judge_model)
    images = choice.endpoint is None or load_endpoint(choice.endpoint).images
    found = choice.contestant(images=images)
    if found.kind == "endpoint" and not found.served:
        raise UsageError(
            f"--judge {config.judging.judge!r} asks a model; name it with --judge-model"
        )
    return found


def arm_of(config: BenchmarkConfig) -> str:
    """Return the name of the policy in tables."""
    labels = ["site memory"] * bool(config.prompting.site_memory) + ["student"] * bool(
        config.player.student.student
    )
    labels += config.player.restating.label()
    labels += config.player.lookahead.label()
    return contestant(config, knows=False).label(*labels)


def contestant(config: BenchmarkConfig, *, knows: bool = True) -> NamedPolicy:
    """Return the policy to evaluate, prompted as in training unless the settings say otherwise."""
    found = config.player.model.contestant()
    knowledge: tuple[Knowledge, ...] = ()
    if knows and config.prompting.site_memory is not None:
        knowledge = (SiteMemory.read(config.prompting.site_memory),)
    trained = Asking.load(Path(found.place)) if found.kind == "local" else None
    asking = (trained or Asking()).switched(config.prompting.prompt)
    asking = replace(
        asking,
        actions=names_of(config.player.actions) or asking.actions,
        observation=asking.observation
        if config.prompting.observation == "text"
        else config.prompting.observation,
    )
    return replace(
        found,
        asking=asking,
        images=config.prompting.images or bool(asking.variant.image),
        knowledge=knowledge,
        temperature=config.temperature,
        server=config.player.server,
        max_tokens=config.prompting.max_tokens,
    )
