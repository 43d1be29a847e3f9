"""Settings of `webagent improve`: every number that decides what a run does."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from tyro.conf import OmitArgPrefixes

from loop.executors.executor import ExecutorName
from loop.flat import Important
from loop.judging.specification import parse_evaluator
from loop.measurement.settings import (
    BenchmarkConfig,
    JudgeModelSettings,
    PromptSettings,
    RunSettings,
    TaskSettings,
    check_seeds,
    judging,
    shared,
)
from loop.policies import ModelChoice
from loop.student import StudentChoice
from loop.training.settings import FitSettings, WeightSettings
from loop.worlds import WorldChoice
from webagent.policy.knowledge.entries import EntryKind


@dataclass(frozen=True)
class ImproveConfig(JudgeModelSettings, PromptSettings, RunSettings, TaskSettings):
    """Improve an agent on its own experience and compare it with control arms."""

    preset: Important[str] = ""
    """Preset: `demo` for the small run of scripts/demo; `webevolver`, `pae`, `webrl`, `dreamgym`,
    `go-browse`, `early-experience` for published recipes (docs/presets.md)."""
    held_out: float | None = None
    """Share of the tasks, 0 to 1, held out for evaluation and never trained on, as whole templates
    where the benchmark has them. Default: 0 if seeds generate new tasks, else 0.3."""
    proposals: tuple[Path, ...] = ()
    """Files of `webagent propose` whose tasks are added to the training tasks; a proposal too
    similar to a held-out task is rejected."""
    proposer: Literal["none", "failures", "endpoint"] = "none"
    """Source of new tasks before each round, for the sites of the training tasks: `failures`, a
    model that varies earlier attempts according to their outcome; `endpoint`, a model that is shown
    pages."""
    propose: int = 10
    """Maximum number of proposals per round."""
    proposer_model: str = ""
    """The proposer's model: its name, `local:FOLDER`, or a file FILE.toml whose table [endpoint]
    describes its server. Default: the policy's model."""
    proposals_solved_by: Literal["nobody", "policy", "proposer"] = "nobody"
    """Who must solve a proposal, within three attempts, before it becomes a training task: the
    current `policy`, the `proposer`'s model, or `nobody` if --judge names a judge."""
    violations: float | None = None
    """Share of a round's episodes in which the guard may refuse actions of the agent; above it the
    run stops. Default: count only. Needs --guard."""
    arms: Important[tuple[str, ...]] = ("none", "control", "self")
    """Arms to run, or `all`: none control self imagined lookahead rerank best_of_k. `rerank` needs
    --lookahead-by."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=partial(ModelChoice, "builtin"))
    """The policy to improve: `builtin` for the small network, `local:FOLDER` for a language model
    whose weights are trained, `endpoint` with --model for one that learns through its prompt."""
    server: str = ""
    """Address of a vLLM or SGLang server, for example `http://localhost:8000`, that generates with
    the weights of `--policy local:FOLDER` (docs/howto/cluster.md). Default: this process does."""
    taught: OmitArgPrefixes[StudentChoice] = field(default_factory=StudentChoice)
    """A student in front of the policy."""
    images: bool = False
    """Show the language model screenshots in addition to the text, and store them."""
    entries: tuple[EntryKind, ...] = ("rules", "examples")
    """What a model behind an endpoint learns of a site, beginning with --site-memory: `rules` and
    `examples`."""
    how: OmitArgPrefixes[WeightSettings] = field(default_factory=WeightSettings)
    """How the weights of a local language model are trained."""
    fit: OmitArgPrefixes[FitSettings] = field(default_factory=FitSettings)
    """Learning rate, batches and precision; --base-tokens and --round-tokens set the length."""
    samples: int = 1
    """Episodes per sampled task, for objectives that compare episodes: `dpo`, `grpo`, `gspo`."""
    repeats: int = 1
    """Number of repeats of the whole run, with different seeds and demonstrations."""
    seed: int = 0
    """Number of the first repeat."""
    demonstrations: Important[int] = 3
    """Demonstrations per task, from the built-in scripted solutions; tasks without a solution get
    none."""
    demonstrated: Path | None = None
    """Folder of a run, for example from `webagent record` or `webagent collect`, whose successes on
    these tasks replace the scripted demonstrations."""
    withhold: float = 0.0
    """Share of the tasks, 0 to 1, that get no demonstrations; each repeat withholds different
    tasks."""
    memory: Literal["on", "off"] = "on"
    """`on`: memory repeats what was demonstrated or judged a success on similar pages, and the
    network acts where memory knows nothing similar; `off`: the network alone."""
    rounds: Important[int] = 3
    """Number of rounds of the loop."""
    steps: Important[int] = 1600
    """Maximum number of real browser steps per round."""
    base_tokens: int = 500_000
    """Prompt and target tokens of the initial training on demonstrations."""
    round_tokens: int = 500_000
    """Prompt and target tokens of the policy's training per round, also in the control arm."""
    temperature: float = 1.2
    """Sampling temperature of the policy during collection; the built-in policy explores a task
    that it has examples of only after a try has failed."""
    random_share: float = 0.1
    """Share of random actions where the policy explores during collection, 0 to 1."""
    judge: Important[str] = "checks"
    """Judge whose verdicts decide task sampling and training data: the tasks' own `checks`, or any
    evaluator of `webagent judge --with`, such as `judge:evidence`, `reward:FOLDER` or
    `cascade(reward:FOLDER, judge)`."""
    measured_by: str = "checks"
    """Judge for evaluation, in the same form: different from --judge, fixed when the run starts,
    never used for training."""
    judge_images: bool = True
    """Store screenshots for judges that query a model, and show them to it."""
    pictures: int = 1000
    """Maximum number of screenshots of evaluated episodes stored for viewing, per arm and repeat; 0
    for none."""
    dreams: int = 200
    """Maximum number of imagined episodes per round, in arms that use them."""
    horizon: int = 5
    """Maximum number of steps per imagined episode."""
    imagined_share: float = 0.3
    """Maximum share of imagined rows in the policy's training set, 0 to 1."""
    belief: float = 0.8
    """Minimum P(success) from the world model for an imagined episode to be used."""
    trusted: float = 0.9
    """Minimum precision of these predictions on held-out real episodes; below it, imagined episodes
    are not used."""
    ahead: OmitArgPrefixes[WorldChoice] = field(default_factory=partial(WorldChoice, "map"))
    """World model of the arms `imagined` and `lookahead`. Default: the memory of their own real
    steps."""
    evaluate: int | None = None
    """Held-out seeds per task for the evaluations before the first and after the last round.
    Default: 25, or 1 if the task is the same for every seed; larger values are then repeats."""
    evaluate_between: int | None = None
    """Held-out seeds per task for the evaluations between rounds, the first ones of --evaluate.
    Default: 8, or 1."""
    evaluate_every: int = 1
    """Rounds between two evaluations; the last round is always evaluated."""
    async_rounds: int = 0
    """Rounds that are collected while earlier ones are still trained on, with weights as many
    rounds old; for `--policy local:FOLDER` with --evaluate-every above 1, as an evaluation waits
    for the newest."""
    first_seed: int = 0
    """Number of the first evaluation seed in the split; another value evaluates on seeds not seen
    before."""
    split: str = "test"
    """Evaluation seeds: `test`, or `development` for tuning."""
    executor: ExecutorName = "process"
    """Where browsers run: `process` on this machine, in the processes of the arms; `ray` on a
    cluster, one arm after another (docs/howto/cluster.md)."""
    workers: Important[int] = 2
    """Parallel processes, each with one thread and one browser. Only one is used if a model is paid
    for or a cap is set, so that caps hold. With `--executor ray`: browsers on the cluster."""

    @property
    def learner(self) -> str:
        """Return which learner improves the policy, by the policy's kind."""
        return self.asked.policy.partition(":")[0]

    @property
    def has_one_place(self) -> bool:
        """Return whether a server holds whole weights, which one job at a time can replace."""
        return bool(self.server) and not self.how.lora

    @property
    def browsers(self) -> int:
        """How many a job plays in at once."""
        return self.workers if self.executor == "ray" else 1

    @property
    def judges_ask(self) -> bool:
        """Return whether a named judge queries a language model."""
        named = [text for text in (self.judge, self.measured_by) if text != "checks"]
        return any(parse_evaluator(text).asks_a_model for text in named)

    @property
    def proposing(self) -> ModelChoice:
        """Return the proposer's model: the policy's if none is named."""
        own = ModelChoice.named(self.proposer_model)
        return own if own.is_named or self.learner == "builtin" else self.asked

    @property
    def proposer_asks(self) -> bool:
        """Return whether proposing queries a language model."""
        return self.proposer != "none"

    @property
    def paid(self) -> tuple[str, ...]:
        """Return the models behind endpoints, by the names their servers use."""
        judge = judging(self.played).served if self.judges_ask else ""
        proposer = self.proposing.paid if self.proposer_asks else ""
        others = (judge, proposer, self.ahead.paid)
        return tuple(filter(None, (self.asked.paid, *others)))

    @property
    def is_metered(self) -> bool:
        """Return whether spending is recorded or limited, in which case only one job runs at a
        time."""
        asks = self.judges_ask or self.proposer_asks or self.ahead.asks_a_model
        return asks or self.learner == "endpoint" or str(self.caps) != "no cap"

    @property
    def played(self) -> BenchmarkConfig:
        """Return the settings of an evaluation of the same tasks in the same places."""
        own = ("asked", "server", "taught", "images", "caps", "judge", "judge_images")
        named = {name: getattr(self, name) for name in own}
        return BenchmarkConfig(
            **shared(self, TaskSettings, JudgeModelSettings, PromptSettings), **named
        )

    def is_measured(self, round: int) -> bool:
        """Return whether there is an evaluation after a round."""
        return round % self.evaluate_every == 0 or round == self.rounds

    def acting_round(self, round: int) -> int:
        """Return the round whose weights collect this one: the last, or with `async_rounds` one so
        much earlier, but never one before the latest evaluation."""
        last = round - 1
        return max(last - self.async_rounds, last - last % self.evaluate_every)

    def seeds_measured(self, is_seeded: bool, *, between: bool = False) -> range:
        """Return the numbers, within the split, of a task's evaluation seeds; they are repeats if
        seeds generate no new tasks. Raises `UsageError` outside the split."""
        given = self.evaluate_between if between else self.evaluate
        usual = (8 if between else 25) if is_seeded else 1
        count = usual if given is None else given
        check_seeds(self.first_seed, count)
        return range(self.first_seed, self.first_seed + count)
