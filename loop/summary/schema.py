"""What `summary.json` holds, field by field, and how it gets into a run folder."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from loop.origin import Origin
from webagent.errors import StoreError
from webagent.files import write_whole

if TYPE_CHECKING:  # with the settings of a loop it loads torch, which who reads a summary needs not
    from loop.task_split import TaskSplit

FILE = "summary.json"


@dataclass(frozen=True, slots=True)
class RunMeta:
    """What the store does not know about its run."""

    benchmark: str
    """Name and version of the suite, as `own@1`."""
    tasks: tuple[str, ...]
    """Names, in the order they are to be shown in."""
    command: str
    origins: tuple[Origin, ...]
    """What the run was begun with, then what it was gone on with where that differs."""
    judge: str = "checks_hold"
    """How the id of the frozen judge begins; scores of others are not read."""
    split: str = "test"
    """The seeds that were measured on."""
    templates: Mapping[str, str] = field(default_factory=dict)
    """Name of a task to its template, where averages over templates are wanted."""
    tasks_by_use: "TaskSplit | None" = None
    """Which tasks were learnt on; None where nothing was learnt."""
    withhold: float = 0.0
    """Share of these tasks without demonstrations."""
    setup: Mapping[str, str] = field(default_factory=dict)
    """What else the figures depend on, as the policy's name; shown where there is anything."""
    notes: tuple[str, ...] = ()
    """Sentences that belong beside the figures."""


class EpisodeRate(TypedDict):
    """Successes of a number of episodes; all rates lie in [0, 1]."""

    success: float
    low: float
    """Wilson's 95 % interval over the episodes."""
    high: float
    episodes: int
    raw_positive: float
    """The share that the benchmark's lenient rule passes."""


class RepeatRow(TypedDict):
    """One repeat of a round."""

    repeat: int
    success: float
    episodes: int
    real_steps: int


class RoundSummary(EpisodeRate):
    """An arm after a round; all repeats together."""

    round: int
    real_steps: float
    """Taken in real pages to learn from, up to this round; mean over repeats."""
    imagined_steps: float
    """The same in the world model, and what look-ahead imagined while it was measured."""
    seconds: float
    """Wall time of this round; mean over repeats."""
    costs: dict[str, float]
    """Whatever else the run noted of the round, as `train_tokens`; mean over repeats."""
    repeats_low: float | None
    """Student's 95 % interval of the mean over repeats; None when there is one."""
    repeats_high: float | None
    by_repeat: list[RepeatRow]


class ArmRow(TypedDict):
    """One way of using the same budget of real steps."""

    name: str
    rounds: list[RoundSummary]
    by_task: dict[str, EpisodeRate]
    """At the last round."""
    withheld: NotRequired[EpisodeRate]
    """At the last round, the tasks that had no demonstrations in their repeat."""
    endings: dict[str, int]
    """How the episodes of the last round ended."""


class ArmComparison(TypedDict):
    """How much higher a's success is than b's, at the last round both have."""

    a: str
    b: str
    round: int
    """Of a."""
    difference: float
    low: float
    """95 %, for other repeats of tasks like these."""
    high: float
    episodes: int
    """Pairs that were compared."""


class BeliefRow(TypedDict):
    """A round in which a judge decided in place of the checks."""

    arm: str
    round: int
    judge: str
    """Its id."""
    episodes: int
    """Collected in the round, all repeats together."""
    decided: int
    abstained: int
    failed: int
    """Judgements whose model failed; their episodes count neither as successes nor failures."""
    compared: int
    """Episodes that it and the frozen judge both decided."""
    agreement: float | None
    """Share of these on which both say the same."""
    low: float
    """Wilson's 95 % interval."""
    high: float
    precision: float | None
    """Share of what it took for successes that the frozen judge passes."""


class LearningRow(TypedDict):
    """What an arm learnt from in a round; all repeats together."""

    arm: str
    round: int
    proposer: str
    """Empty where nobody proposed."""
    proposed: int
    unreadable: int
    """Replies of the proposer, or tasks in them, that could not be read."""
    refused: dict[str, int]
    """Proposals that were not taken, by the first filter that refused them."""
    reasons: dict[str, int]
    """The commonest reasons of filters with their counts."""
    kept: int
    played: int
    """Episodes of the round on tasks that were proposed in it or before."""
    judge: str
    """The id of the judge of success."""
    collected: int
    """Episodes of the round."""
    succeeded: int
    unjudged: int
    silent: NotRequired[str]
    """Why the judge decided no episode at all, the commonest reason; empty where it did."""
    violations: NotRequired[dict[str, int]]
    """What the agent tried and the guard refused, by the guard's rule."""
    violating: NotRequired[int]
    """Episodes with any of it."""
    dreamt: int
    """Imagined episodes."""
    dreams_kept: int
    demonstrations: int
    successes: int
    """Of all rounds so far, as the judge has it."""
    real_steps: int
    proposing_steps: int
    """Real steps of exploring and solving, beside those."""
    train_tokens: float
    imagined_tokens: NotRequired[float]
    """Those of them that are of imagined episodes."""
    updates: NotRequired[float]
    """Of the policy's weights."""
    model_tokens: float | None
    """Read and written by models that are asked, measuring included; None where none is metered."""
    money: float | None
    seconds: float


class StudentRow(TypedDict):
    """What a small model in front of a large one took over, in an arm's round."""

    phase: str
    """`collect` or `evaluate`."""
    arm: str
    round: int
    steps: int
    steps_of_student: int
    """Each a call to the large model that was saved."""
    calls: int
    """Steps on which the large model was asked."""
    audits: int
    """Those of them on which the student was sure, to check on it."""
    tokens_saved: float
    """By what a call took on average."""
    money_saved: float | None
    """None where the price is not known, or nothing is paid for."""
    money_spent: float | None
    success: float | None
    """Of all episodes; None where nobody judged."""
    episodes_alone: int
    """In which the large model was never asked."""
    success_alone: float | None
    success_others: float | None
    compared: int
    """Answers of the large model, in episodes that did not fail, beside which the student said what
    it would have done."""
    calibration_error: float | None
    """Expected calibration error of its probability of saying the same, in ten bins; answers where
    it was sure stand for the steps that it took, too."""


class MacroRow(TypedDict):
    """One arm's average over templates; rates lie in [0, 1]."""

    arm: str
    success: float
    low: float
    """95 %, for other templates like these; see `evaluators.statistics.cluster_interval`."""
    high: float
    templates: int


class BaselineRow(TypedDict):
    """One baseline; rates lie in [0, 1]."""

    name: str
    success: float
    low: float
    """Wilson's 95 % interval over the episodes."""
    high: float
    episodes: int
    tasks: int
    policy: float | None
    """The policy's success on the same tasks and seeds; None where it has not played them."""


class CostAmount(TypedDict):
    """A cost; None where it is not known or there is none of the kind."""

    input_tokens: float | None
    output_tokens: float | None
    seconds: float
    """Deciding, of all episodes that went on at the same time."""
    world_seconds: float
    """Waiting for pages, likewise."""
    money: float | None


class ModelSpending(TypedDict):
    """What was asked of one model in one role."""

    role: str
    model: str
    requests: int
    failed: int
    uncounted: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    seconds: float
    money: float | None
    currency: str
    price: str
    """`known`, `unknown` or `own weights`."""
    price_date: str
    price_source: str


class TaskSplitRow(TypedDict):
    """Which tasks were learnt on and which only measured on, by name."""

    by: str
    """`seed`: the same tasks on other seeds; else `task` or `template`."""
    learning: list[str]
    measured: list[str]
    proposed: list[str]
    """Those of `learning` that a file of proposals brought."""
    refused: dict[str, str]
    """Proposals that were too near to a task that is measured on, with the reason."""
    left_out: dict[str, str]
    """Tasks of the benchmark that were, likewise."""


class SpentRow(TypedDict):
    """What a run has spent so far, attempts included that were not scored; scripts that are played
    beside the policy count neither as steps nor as episodes."""

    steps: int
    episodes: int
    run: CostAmount
    per_step: CostAmount | None
    """None before there is a step."""
    per_episode: CostAmount | None
    currency: str
    """Empty where no price is known, or for several currencies."""
    asked: list[ModelSpending]
    stopped: str
    """Why the run stopped before its end; empty where it did not."""


class Summary(TypedDict):
    """A run in numbers."""

    benchmark: str
    tasks: list[str]
    arms: list[ArmRow]
    repeats: int
    seeds: list[int]
    split: str
    versions: dict[str, str]
    """Of what the run was begun with, as are commit and modified."""
    commit: str
    modified: bool
    """Whether the source differed from the commit."""
    continued: list[Origin]
    """What the run was gone on with, where that differs from what it was begun with."""
    command: str
    judge: list[str]
    """Ids of the evaluators whose scores these are."""
    comparisons: list[ArmComparison]
    failures: dict[str, int]
    """Attempts that say nothing about the agent, by kind; `masked` counts measured episodes that
    were lost for good, `unscored` those the judge abstained on."""
    tasks_by_use: NotRequired[TaskSplitRow]
    """Where tasks were held out, or proposals practised."""
    beliefs: NotRequired[list[BeliefRow]]
    """Where a judge was named in place of the checks."""
    learning: NotRequired[list[LearningRow]]
    """Where arms learnt round by round."""
    students: NotRequired[list[StudentRow]]
    """Where a student was in front of the policy."""
    spent: NotRequired[SpentRow]
    """Where the run kept a ledger."""
    macro: NotRequired[list[MacroRow]]
    """Averages over templates at the last round, in the order of the arms; of benchmarks."""
    baselines: NotRequired[list[BaselineRow]]
    """What takes no skill; of benchmarks."""
    setup: NotRequired[dict[str, str]]
    """What the figures depend on; of benchmarks."""
    notes: NotRequired[list[str]]
    """Sentences that belong beside the figures; of benchmarks."""
    ended: NotRequired[float]
    """When the summary was written, in seconds since 1970."""


class RunSummary(Summary):
    """A summary, and where it and what it is made from lie; what programs get of a run."""

    run: str
    """The run folder; `summary.json` in it holds the same figures."""
    report: str
    """The page that shows them."""


def write_summary(summary: Summary, folder: Path) -> Path:
    """Write `summary.json` whole or not at all. Raises `StoreError`."""
    ended = {**summary, "ended": time.time()}
    return write_whole(folder / FILE, json.dumps(ended, indent=1) + "\n")


def read_summary(folder: Path) -> Summary:
    """Return the summary of a run folder. Raises `StoreError` when it has none that can be read."""
    path = folder / FILE
    if not path.is_file():
        raise StoreError(
            f"{folder} holds no summary: `benchmark` and `improve` write one at their end; webagent"
            f" view {folder} shows what there is"
        )
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    missing = sorted(Summary.__required_keys__ - found.keys()) if isinstance(found, dict) else ["?"]
    if missing:
        raise StoreError(f"{path} is not a summary of this version; it lacks {', '.join(missing)}")
    return cast(Summary, found)


class BenchmarkResult(RunSummary):
    """The summary of the run, or with `--preview` only what stands under `preview`."""

    preview: NotRequired[dict[str, object]]
    """What would be played and what it would take."""
