"""Settings of `webagent benchmark`."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tyro.conf import OmitArgPrefixes

from benchmarks.catalogue import BENCHMARKS
from loop.costs import Caps, check_cost_cap, load_prices
from loop.judging.specification import EvaluatorSpec, parse_evaluator
from loop.measurement.scoring import HEADLINE
from loop.policies import PLAIN, ModelChoice, NamedPolicy, load_knowledge
from loop.student import StudentChoice
from loop.worlds import WorldChoice
from tasks.suite import SEEDS_PER_SPLIT, SPLITS
from webagent.agent.asking import Asking
from webagent.errors import UsageError, unknown_name
from webagent.guard import Guard
from webagent.policy.knowledge import Knowledge
from webagent.policy.prompting import Prompting


@dataclass(frozen=True)
class BenchmarkConfig:
    """Measure one policy on seeds that no training sees."""

    benchmark: str = "miniwob"
    """Which suite; `webagent benchmark NAME` says the same."""
    tasks: tuple[str, ...] = ()
    """Names of tasks or of groups of them, as `twenty` for the twenty everyday ones of MiniWoB++;
    `all` for all. Without any, `twenty` where there is such a group, else all."""
    seeds: int | None = None
    """Episodes a task: 10, or 1 where a benchmark's tasks are the same whatever the seed; more are
    repeats then."""
    samples: int = 1
    """Episodes a task and seed, for groups that are compared."""
    split: str = "test"
    """Which seeds: `test`, `development` or `train`."""
    files: Path | None = None
    """The benchmark's task file, or the folder of its files, where they are not found by
    themselves."""
    addresses: Path | None = None
    """TOML file that says where the benchmark's sites are, as `shopping = "http://localhost:7770"`
    (docs/benchmarks.md)."""
    sites: tuple[Path, ...] = ()
    """TOML files that describe more sites than come with this program (docs/sites.md)."""
    corrected: bool = False
    """Corrected rules in place of the published ones, where there are such."""
    logins: Path | None = None
    """Folder with the logins that tasks begin with: `NAME.json` as Playwright saves a storage
    state. Those of `webagent login` are found without it."""
    har: Path | None = None
    """Recording of a site's traffic (HAR) that answers in place of the network."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=partial(ModelChoice, "oracle"))
    """Who plays. Beside language models, --policy may name `oracle`, `model:FOLDER` for saved
    built-in weights, or `python:FILE.py:NAME` for a policy of your own."""
    taught: OmitArgPrefixes[StudentChoice] = field(default_factory=StudentChoice)
    """Who goes in front of the policy."""
    ahead: OmitArgPrefixes[WorldChoice] = field(default_factory=WorldChoice)
    """Which world model the policy asks before it acts."""
    observation: str = "text"
    """What a language model is shown: `text`, `screenshot`, `set-of-marks`, `pruned`,
    `accessibility`, `html` or `markdown`."""
    images: bool = False
    """Show screenshots to the language model, and the pictures that belong to a goal, beside
    whatever text it is shown."""
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
    judge: str = "rules"
    """Who scores: `rules`, the tasks' own checks, or any evaluator of `webagent judge --with`, as
    `judge:webvoyager` or `cascade(rules, judge:evidence)`. Tasks without checks need one."""
    judge_policy: str = "endpoint"
    """The judge's model: `local:FOLDER`, or `endpoint` (OPENAI_BASE_URL)."""
    judge_model: str = ""
    """Name of the judge's model behind its endpoint."""
    judge_endpoint: Path | None = None
    """File whose table [endpoint] says where the judge's server is."""
    judge_images: bool = True
    """Keep screenshots for a judge that asks a model, and show them to it."""
    pictures: int = 1000
    """Screenshots kept for whoever looks at the episodes later, at most; 0 for none. Those that a
    model or a judge is shown are kept besides."""
    baselines: bool = True
    """Play doing nothing and a blind replay beside the policy, and giving up at once where tasks
    are infeasible."""
    baseline_seeds: int = 2
    """On how many of the seeds."""
    replay: Path | None = None
    """Folder of a run whose successes are replayed; without it those of the tasks' oracles."""
    guard: Path | None = None
    """File with the limits that every episode is held to (docs/guard.md); none without it."""
    concurrency: int = 4
    """Browser contexts at once."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Where the run is to stop, all its sessions together."""
    name: str = ""
    """Name of the run's folder under `runs`; made from the date when empty."""
    runs: Path = Path("runs")
    """Where run folders are made."""
    resume: Path | None = None
    """Folder of a measurement to go on with; its own settings are used."""
    preview: bool = False
    """Say what would be played, and play nothing."""


def check(config: BenchmarkConfig) -> None:
    """Find what is wrong with the settings themselves. Raises `SetupError`."""
    if config.benchmark not in BENCHMARKS:
        raise unknown_name("benchmark", config.benchmark, BENCHMARKS)
    if config.split not in SPLITS:
        raise unknown_name("split", config.split, SPLITS)
    seeds = 1 if config.seeds is None else config.seeds
    least = min(config.concurrency, config.samples, config.baseline_seeds)
    if not 1 <= seeds <= SEEDS_PER_SPLIT or least < 1:
        raise UsageError(
            f"--seeds {seeds} --samples {config.samples} --concurrency {config.concurrency}"
            f" --baseline-seeds {config.baseline_seeds}: all must be at least 1"
        )
    contestant(config).check()
    config.taught.check(config.asked.policy)
    config.ahead.check()
    if config.ahead.looks_ahead and config.asked.policy == "oracle":
        raise UsageError(
            "--policy oracle knows what is right and has nothing to look ahead for; name another"
        )
    config.caps.check()
    for paid in {config.asked.paid, config.ahead.paid} - {""} or {""}:
        check_cost_cap(config.caps, paid, load_prices(config.caps.prices))
    if judge_of(config).asks_a_model:
        judging(config).check()
    if config.guard is not None:
        Guard.read(config.guard)


def judge_of(config: BenchmarkConfig) -> EvaluatorSpec:
    """Who scores, as it was asked for. Raises `SetupError`."""
    return parse_evaluator(config.judge)


def judging(config: BenchmarkConfig) -> NamedPolicy:
    """The judge's model, where a judge asks one."""
    asked = ModelChoice(config.judge_policy, config.judge_model, config.judge_endpoint)
    found = asked.contestant(images=config.judge_images)
    if found.kind == "endpoint" and not found.served:
        raise UsageError(
            f"--judge {config.judge!r} asks a model; name it with --judge-model, or give"
            " --judge-policy local:FOLDER"
        )
    return found


def arm_of(config: BenchmarkConfig) -> str:
    """What the policy is called in tables."""
    examples = [f"exemplars={config.exemplar_count}"] * bool(config.exemplars)
    told = [*examples, *["hints"] * bool(config.hints), *["student"] * bool(config.taught.student)]
    told += config.ahead.label()
    return contestant(config, knows=False).label(*told)


def contestant(config: BenchmarkConfig, *, knows: bool = True) -> NamedPolicy:
    """The policy that is measured, asked as it was trained where nothing else is said."""
    found, judge, count = config.asked.contestant(), HEADLINE.id, config.exemplar_count
    knowledge: tuple[Knowledge, ...] = ()
    if knows:
        knowledge = load_knowledge(config.exemplars, config.hints, config.split, judge, count)
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
        knowledge=knowledge,
        temperature=config.temperature,
        max_tokens=config.max_tokens,
    )
