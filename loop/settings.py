"""Settings of `webagent improve`: every number that decides what a run does."""

import math
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from tyro.conf import OmitArgPrefixes

from loop.flat import Important
from loop.judging.specification import parse_evaluator
from loop.measurement.settings import (
    BenchmarkConfig,
    JudgeSettings,
    PlayerSettings,
    PromptSettings,
    RunSettings,
    TaskSettings,
    check_seeds,
    judging,
)
from loop.policies import ModelChoice
from loop.student import StudentChoice
from loop.training.settings import FitSettings, WeightSettings
from loop.world_models import WorldChoice


@dataclass(frozen=True)
class ProposalSettings:
    """Where new training tasks come from."""

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


@dataclass(frozen=True)
class DemonstrationSettings:
    """What is demonstrated before the first round."""

    demonstrations: Important[int] = 3
    """Demonstrations per task, from the built-in scripted solutions; tasks without a solution get
    none."""
    demonstrated: Path | None = None
    """Folder of a run, for example from `webagent record` or `webagent collect`, whose successes on
    these tasks replace the scripted demonstrations; all of them with --demonstrations 0."""
    withhold: float = 0.0
    """Share of the tasks, 0 to 1, that get no demonstrations; each repeat withholds different
    tasks."""


@dataclass(frozen=True)
class ImaginationSettings:
    """Episodes that are imagined in the world model."""

    dreams: int = 200
    """Maximum number of imagined episodes per round, in arms that use them."""
    horizon: int = 5
    """Maximum number of steps per imagined episode."""
    imagined_share: float = 0.3
    """Maximum share of imagined rows in the policy's training set, 0 to 1."""


@dataclass(frozen=True)
class EvaluationSettings:
    """When and on what is evaluated."""

    held_out: float | None = None
    """Share of the tasks, 0 to 1, held out for evaluation and never trained on, as whole templates
    where the benchmark has them. Default: 0 if seeds generate new tasks, else 0.3."""
    evaluate: int | None = None
    """Held-out seeds per task for the evaluations before the first and after the last round.
    Default: 25, or 1 if the task is the same for every seed; larger values are then repeats. The
    evaluations between rounds take the first third of them."""
    evaluate_every: int = 1
    """Rounds between two evaluations; the last round is always evaluated."""
    first_seed: int = 0
    """Number of the first evaluation seed in the split; another value evaluates on seeds not seen
    before."""
    split: Literal["test", "development", "train"] = "test"
    """Evaluation seeds: `test`, or `development` for tuning."""
    measured_by: str = "checks"
    """Judge for evaluation, in the same form: different from --judge, fixed when the run starts,
    never used for training."""
    pictures: int = 1000
    """Maximum number of screenshots of evaluated episodes stored for viewing, per arm and repeat; 0
    for none."""


@dataclass(frozen=True)
class ImproveConfig:
    """Improve an agent on its own experience and compare it with control arms."""

    preset: Important[str] = ""
    """Preset: `demo` for the small run of scripts/demo; `webevolver`, `pae`, `webrl`, `go-browse`,
    `early-experience` for published recipes (docs/presets.md)."""
    arms: Important[tuple[str, ...]] = ("none", "control", "self")
    """Arms to run, or `all`: none control self imagined lookahead rerank best_of_k. `rerank` needs
    --lookahead-by."""
    selection: OmitArgPrefixes[TaskSettings] = field(default_factory=TaskSettings)
    """Tasks, and the sites that they are played on."""
    model: OmitArgPrefixes[ModelChoice] = field(default_factory=partial(ModelChoice, "builtin"))
    """Policy to improve: `builtin` for the small network, `local:FOLDER` for a language model whose
    weights are trained, `endpoint` with --model for one that learns through its prompt."""
    server: str = ""
    """Address of a vLLM or SGLang server, for example `http://localhost:8000`, that generates with
    the weights of `--policy local:FOLDER` (docs/howto/cluster.md). Default: this process does."""
    student: OmitArgPrefixes[StudentChoice] = field(default_factory=StudentChoice)
    """Student in front of the policy."""
    prompting: OmitArgPrefixes[PromptSettings] = field(default_factory=PromptSettings)
    """What a language model sees and how it is prompted."""
    actions: tuple[str, ...] = ()
    """Actions that a language model may choose. Default: as in its training, or the usual ones."""
    rounds: Important[int] = 3
    """Number of rounds of the loop."""
    steps: Important[int] = 1600
    """Maximum number of real browser steps per round."""
    temperature: float | None = None
    """Sampling temperature of the policy during collection; the built-in policy explores a task
    that it has examples of only after a try has failed. Default: 1.2 for it, 1 for language
    models."""
    samples: int = 1
    """Episodes per sampled task, for objectives that compare episodes: `dpo`, `grpo`."""
    memory: Literal["on", "off"] = "on"
    """`on`: memory repeats what was demonstrated or judged a success on similar pages, and the
    network acts where memory knows nothing similar; `off`: the network alone."""
    demonstrating: OmitArgPrefixes[DemonstrationSettings] = field(
        default_factory=DemonstrationSettings
    )
    """Demonstrations before the first round."""
    proposing: OmitArgPrefixes[ProposalSettings] = field(default_factory=ProposalSettings)
    """New training tasks."""
    judging: OmitArgPrefixes[JudgeSettings] = field(
        default_factory=partial(JudgeSettings, "checks")
    )
    """Judge whose verdicts decide sampling and training data; by default the tasks' `checks`."""
    lookahead: OmitArgPrefixes[WorldChoice] = field(default_factory=partial(WorldChoice, "map"))
    """World model of the arms `imagined` and `lookahead`. Default: the memory of their own real
    steps."""
    imagination: OmitArgPrefixes[ImaginationSettings] = field(default_factory=ImaginationSettings)
    """Imagined episodes, in the arm `imagined`."""
    base_tokens: int | None = None
    """Prompt and target tokens of the initial training on demonstrations. Default: 500,000 for the
    built-in policy, two passes over the rows for a language model."""
    round_tokens: int | None = None
    """Prompt and target tokens of the policy's training per round, also in the control arm.
    Default: as above; one pass for objectives that compare what one policy did."""
    weights: OmitArgPrefixes[WeightSettings] = field(default_factory=WeightSettings)
    """Weights of a local language model and the objective that trains them."""
    replay: bool = False
    """With --objective grpo: also follow the successful steps of earlier rounds of which the policy
    is neither certain nor surprised, by its perplexity (as WebRL does)."""
    fit: OmitArgPrefixes[FitSettings] = field(default_factory=FitSettings)
    """Learning rate, batches and precision; --base-tokens and --round-tokens set the length."""
    evaluation: OmitArgPrefixes[EvaluationSettings] = field(default_factory=EvaluationSettings)
    """Evaluation on held-out seeds or tasks."""
    plan: bool = False
    """Print what training a local language model takes in memory and time, without running."""
    repeats: int = 1
    """Number of repeats of the whole run, with different seeds and demonstrations."""
    seed: int = 0
    """Number of the first repeat."""
    run: OmitArgPrefixes[RunSettings] = field(default_factory=partial(RunSettings, workers=2))
    """Folder of the run, its limits and its browsers."""
    view: bool = False
    """Show the run in the viewer while it is in progress, in the default browser on a desktop."""

    @property
    def exploring_temperature(self) -> float:
        """Return the temperature of collection."""
        usual = 1.2 if self.learner == "builtin" else 1.0
        return usual if self.temperature is None else self.temperature

    @property
    def learner(self) -> str:
        """Return which learner improves the policy, by the policy's kind."""
        return self.model.policy.partition(":")[0]

    @property
    def has_one_place(self) -> bool:
        """Return whether a server holds whole weights, which one job at a time can replace."""
        return bool(self.server) and not self.weights.lora

    @property
    def browsers(self) -> int:
        """How many a job plays in at once."""
        return self.run.workers if self.run.executor == "ray" else 1

    @property
    def judges_ask(self) -> bool:
        """Return whether a named judge queries a language model."""
        named = [
            text
            for text in (self.judging.judge, self.evaluation.measured_by)
            if text not in ("checks", "reward")
        ]
        return any(parse_evaluator(text).asks_a_model for text in named)

    @property
    def proposer(self) -> ModelChoice:
        """Return the proposer's model: the policy's if none is named."""
        own = ModelChoice.named(self.proposing.proposer_model)
        return own if own.is_named or self.learner == "builtin" else self.model

    @property
    def proposer_asks(self) -> bool:
        """Return whether proposing queries a language model."""
        return self.proposing.proposer != "none"

    @property
    def paid(self) -> tuple[str, ...]:
        """Return the models behind endpoints, by the names their servers use."""
        judge = judging(self.played).served if self.judges_ask else ""
        proposer = self.proposer.paid if self.proposer_asks else ""
        others = (judge, proposer, self.lookahead.paid)
        return tuple(filter(None, (self.model.paid, *others)))

    @property
    def is_metered(self) -> bool:
        """Return whether spending is recorded or limited, in which case only one job runs at a
        time."""
        asks = self.judges_ask or self.proposer_asks or self.lookahead.asks_a_model
        return asks or self.learner == "endpoint" or str(self.run.caps) != "no cap"

    @property
    def played(self) -> BenchmarkConfig:
        """Return the settings of an evaluation of the same tasks in the same places."""
        return BenchmarkConfig(
            selection=self.selection,
            player=PlayerSettings(self.model, self.server, self.student, actions=self.actions),
            prompting=self.prompting,
            judging=self.judging,
            run=RunSettings(caps=self.run.caps),
        )

    def is_measured(self, round: int) -> bool:
        """Return whether there is an evaluation after a round."""
        return round % self.evaluation.evaluate_every == 0 or round == self.rounds

    def seeds_measured(self, is_seeded: bool, *, between: bool = False) -> range:
        """Return the numbers, within the split, of a task's evaluation seeds; they are repeats if
        seeds generate no new tasks. Raises `UsageError` outside the split."""
        given = self.evaluation.evaluate
        usual = 25 if is_seeded else 1
        whole = usual if given is None else given
        count = math.ceil(whole / 3) if between else whole
        check_seeds(self.evaluation.first_seed, count)
        return range(self.evaluation.first_seed, self.evaluation.first_seed + count)
