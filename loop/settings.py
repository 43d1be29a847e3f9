"""Settings of `webagent improve`: every number that decides what a run does."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from tyro.conf import OmitArgPrefixes

from loop.costs import Caps
from loop.judging.specification import parse_evaluator
from loop.measurement.settings import BenchmarkConfig, judging
from loop.policies import ModelChoice
from loop.student import StudentChoice
from loop.training.settings import WeightSettings
from loop.worlds import WorldChoice
from webagent.policy.prompting import Prompting
from webagent.training.language.config import TrainConfig

_PLAYED = (
    *("benchmark", "tasks", "files", "split", "addresses", "sites", "logins", "guard"),
    *("asked", "observation", "images", "prompting", "prompt", "max_tokens"),
    *("exemplars", "exemplar_count", "hints", "caps", "taught"),
    *("judge", "judge_policy", "judge_model", "judge_endpoint", "judge_images"),
)
"""Settings that mean what they mean when a policy is measured."""


@dataclass(frozen=True)
class ImproveConfig:
    """Improve an agent on its own experience and measure it against controls."""

    preset: str = ""
    """`demo` for the small run of scripts/demo; `webevolver`, `pae`, `webrl`, `dreamgym`,
    `go-browse` for published recipes (docs/presets.md)."""
    name: str = ""
    """Name of the run's folder under `runs`; made from the date when empty."""
    resume: Path | None = None
    """Folder of a run to go on with; its own settings are used."""
    runs: Path = Path("runs")
    """Where run folders are made."""
    benchmark: str = "miniwob"
    """Name of the benchmark whose tasks it improves on; `own` for tasks of a file of yours,
    `proposed` for those that `webagent propose` found."""
    files: Path | None = None
    """The benchmark's task file or folder, where it needs one."""
    tasks: tuple[str, ...] = ()
    """Names of tasks or groups; `all` for all of a benchmark. Without any, `twenty` where there is
    such a group, else all."""
    held_out: float | None = None
    """Share of the tasks, by whole templates where there are any, that are measured on and never
    learnt on. Without it none where seeds make other tasks, and 0.3 where they do not."""
    split_seed: int = 0
    """Another one holds out other tasks."""
    proposals: tuple[Path, ...] = ()
    """Files of `webagent propose` whose tasks are practised, too; those too near to one that is
    measured on are refused."""
    proposer: Literal["none", "failures", "exploration", "endpoint"] = "none"
    """Who proposes new tasks before each round, for the sites of the tasks that are learnt on:
    `failures`, a model that changes what was tried by how it went; `endpoint`, a model that is
    shown pages; `exploration`, what was done by going over the site, without a model."""
    propose: int = 10
    """Proposals a round, at most."""
    proposer_policy: str = "endpoint"
    """The proposer's model: `local:FOLDER`, or `endpoint` (OPENAI_BASE_URL). Where none is named,
    the policy's."""
    proposer_model: str = ""
    """Name of the proposer's model behind its endpoint."""
    proposer_endpoint: Path | None = None
    """File whose table [endpoint] says where the proposer's server is."""
    proposals_solved_by: Literal["nobody", "policy", "proposer"] = "nobody"
    """Who has to solve a proposal, in three tries, before it is practised: the `policy` as it is
    then, the `proposer`'s model, or `nobody`, where a judge is named. What exploration proposes
    comes with its solution."""
    explore_steps: int = 100
    """Real steps of an exploration, beside those of the round."""
    addresses: Path | None = None
    """TOML file that says where the benchmark's sites are (docs/benchmarks.md)."""
    sites: tuple[Path, ...] = ()
    """TOML files that describe more sites than come with this program (docs/sites.md)."""
    logins: Path | None = None
    """Folder with the logins that tasks begin with; those of `webagent login` need none."""
    guard: Path | None = None
    """File with the limits that every episode is held to (docs/guard.md)."""
    arms: tuple[str, ...] = ("none", "control", "self")
    """Which arms to run, or `all`: none control self uniform imagined lookahead rerank best_of_k
    both judged checked."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=partial(ModelChoice, "builtin"))
    """Who improves: `builtin` for the small network, `local:FOLDER` for a language model whose
    weights are trained, `endpoint` with --model for one that is told what it learns."""
    taught: OmitArgPrefixes[StudentChoice] = field(default_factory=StudentChoice)
    """Who goes in front of the policy."""
    observation: str = "text"
    """What a language model is shown: `text`, `screenshot`, `set-of-marks`, `pruned`,
    `accessibility`, `html` or `markdown`."""
    images: bool = False
    """Show screenshots to the language model beside whatever text it is shown, and keep them."""
    prompting: Prompting = field(default_factory=Prompting)
    """How the language model is asked, a switch for each part. Weights that were trained here are
    asked as in training unless a switch is set."""
    prompt: str = ""
    """The language model's prompt: `act` or `brief`; empty for that of its training, or `act`."""
    max_tokens: int = 1024
    """Of a language model's reply, at most."""
    exemplars: Path | None = None
    """Folder of a run whose successful episodes are shown to a language model as examples."""
    exemplar_count: int = 2
    """How many of them at a time."""
    hints: Path | None = None
    """Folder of hints on sites, a Markdown file for each, that a language model is shown."""
    how: OmitArgPrefixes[WeightSettings] = field(default_factory=WeightSettings)
    """How the weights of a local language model are changed."""
    train: TrainConfig = field(default_factory=TrainConfig)
    """The course of that; how long it is, --base-tokens and --round-tokens say."""
    samples: int = 1
    """Episodes of each task that is drawn, for objectives that compare them: `dpo`, `grpo`,
    `gspo`."""
    trials: int = 10
    """Episodes with and without each example or rule that a model behind an endpoint may be told;
    it is told only what helps there."""
    curriculum: Literal["on", "uniform"] = "on"
    """`on`: tasks are drawn by what there is to learn; `uniform`: every one as often, on fresh
    seeds, in all arms."""
    repeats: int = 1
    """How often everything is done again with other seeds and other demonstrations."""
    seed: int = 0
    """Number of the first repeat."""
    demonstrations: int = 3
    """Demonstrations a task, from the built-in oracles; tasks without an oracle get none."""
    demonstrated: Path | None = None
    """Folder of a run whose successes on these tasks are the demonstrations in place of the
    oracles', as `webagent record` or `webagent collect` leave it."""
    withhold: float = 0.0
    """Share of the tasks, others in each repeat, of which no demonstrations are given."""
    memory: Literal["on", "off"] = "on"
    """`on`: what was demonstrated or judged a success is done again where a page looks like it, and
    the network acts where nothing like it is remembered; `off`: the network alone."""
    rounds: int = 3
    """Passes around the loop."""
    steps: int = 1600
    """Real browser steps a round may take, at most."""
    wave: int = 32
    """Tasks tried between two times at which the memory takes in what was judged; 0 for only at the
    end of a round."""
    base_tokens: int = 500_000
    """Prompt and target tokens of the first training, on demonstrations."""
    round_tokens: int = 500_000
    """The same for the policy's training of each round, and for the control's."""
    world_tokens: int = 400_000
    """The same for the world model's training of a round."""
    reward_tokens: int = 150_000
    """The same for the reward model's."""
    learning_rate: float = 2e-3
    """Peak rate of the first training; those of the rounds go on from the weights at half of it."""
    temperature: float = 1.2
    """Of the policy's sampling while it collects."""
    random_share: float = 0.1
    """Share of random actions while it collects."""
    judge: str = "checks"
    """Whose verdicts draws and lessons go by: the tasks' own `checks`, or any evaluator of
    `webagent judge --with`, as `judge:evidence`, `reward:FOLDER` or `cascade(reward:FOLDER,
    judge)`."""
    measured_by: str = "checks"
    """Who measures, likewise: another than --judge, fixed when the run begins and never learnt
    from."""
    judge_policy: str = "endpoint"
    """The judges' model: `local:FOLDER`, or `endpoint` (OPENAI_BASE_URL)."""
    judge_model: str = ""
    """Name of the judges' model behind its endpoint."""
    judge_endpoint: Path | None = None
    """File whose table [endpoint] says where the judges' server is."""
    judge_images: bool = True
    """Keep screenshots for judges that ask a model, and show them to it."""
    pictures: int = 1000
    """Screenshots of measured episodes kept for whoever looks at them later, at most, by each arm
    of a repeat; 0 for none."""
    hide_checks: tuple[str, ...] = ()
    """Tasks whose checks the loop may not see: there the learned reward model judges."""
    labels: int = 200
    """Episodes with a true label from which the arms with a learned judge train their first one."""
    judge_tokens: int = 400_000
    """Prompt and target tokens of such a judge's training, first and in every round."""
    dreams: int = 200
    """Imagined episodes a round, at most, for arms that dream."""
    horizon: int = 5
    """Steps of an imagined episode, at most."""
    imagined_share: float = 0.3
    """Share of imagined rows in the policy's training set, at most."""
    belief: float = 0.8
    """P(success) the world model must give a dream for it to be kept."""
    trusted: float = 0.9
    """Precision of such beliefs on held-back real episodes below which dreams are not used."""
    ahead: OmitArgPrefixes[WorldChoice] = field(default_factory=partial(WorldChoice, "builtin"))
    """Which world model the arms `lookahead` and `both` ask before they act: behind the memory of
    their own real steps the network that learns beside them, as long as nothing else is named."""
    evaluate: int | None = None
    """Held-out seeds a task for the measurements before the first and after the last round: 25, or
    1 where tasks are the same whatever the seed; more are repeats then."""
    evaluate_between: int | None = None
    """The same for the measurements between rounds, on the first of those seeds: 8, or 1."""
    evaluate_every: int = 1
    """Rounds from one such measurement to the next; after the last one there is always one."""
    split: str = "test"
    """Seeds to measure on: `test`, or `development` while something is being tuned."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Where the run is to stop, all its sessions together."""
    concurrency: int = 4
    """Browser contexts a process plays at once."""
    workers: int = 2
    """Processes at once, each with one thread and one browser; one where a model is paid for or a
    cap is set, so that caps hold."""

    @property
    def learner(self) -> str:
        """Who learns, by the kind of its policy."""
        return self.asked.policy.partition(":")[0]

    @property
    def judges_ask(self) -> bool:
        """Whether a judge that is named asks a language model."""
        named = [text for text in (self.judge, self.measured_by) if text != "checks"]
        return any(parse_evaluator(text).asks_a_model for text in named)

    @property
    def proposing(self) -> ModelChoice:
        """The proposer's model: the policy's where none is named."""
        own = ModelChoice(self.proposer_policy, self.proposer_model, self.proposer_endpoint)
        return own if own.is_named or self.learner == "builtin" else self.asked

    @property
    def proposer_asks(self) -> bool:
        """Whether proposing asks a language model."""
        solves = self.proposals_solved_by == "proposer"
        return self.proposer in ("failures", "endpoint") or (self.proposer != "none" and solves)

    @property
    def paid(self) -> tuple[str, ...]:
        """The models behind endpoints, by the names their servers know."""
        judge = judging(self.played).served if self.judges_ask else ""
        is_served = self.judge_policy == "endpoint"
        proposer = self.proposing.paid if self.proposer_asks else ""
        others = (judge if is_served else "", proposer, self.ahead.paid)
        return tuple(filter(None, (self.asked.paid, *others)))

    @property
    def is_metered(self) -> bool:
        """Whether there is anything to book or a limit to hold to, so that one job goes at once."""
        asks = self.judges_ask or self.proposer_asks or self.ahead.asks_a_model
        return asks or self.learner == "endpoint" or str(self.caps) != "no cap"

    @property
    def played(self) -> BenchmarkConfig:
        """The same tasks in the same places, as a measurement is told them."""
        return BenchmarkConfig(**{name: getattr(self, name) for name in _PLAYED})

    def seeds_measured(self, is_seeded: bool, *, between: bool = False) -> int:
        """Return how many seeds of each task are measured on, or how often each is played where
        seeds make no other tasks."""
        given = self.evaluate_between if between else self.evaluate
        usual = (8 if between else 25) if is_seeded else 1
        return usual if given is None else given
