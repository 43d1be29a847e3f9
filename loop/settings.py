"""Settings of `webagent improve`: every number that decides what a run does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class ImproveConfig:
    """Improve an agent on its own experience and measure it against controls."""

    preset: str = ""
    """`demo` for the small run of scripts/demo."""
    name: str = ""
    """Name of the run's folder under `runs`; made from the date when empty."""
    resume: Path | None = None
    """Folder of a run to go on with; its own settings are used."""
    runs: Path = Path("runs")
    """Where run folders are made."""
    benchmark: str = "miniwob"
    """Name of the benchmark whose tasks it improves on; its seeds must make tasks of their own."""
    files: Path | None = None
    """The benchmark's task file or folder, where it needs one."""
    tasks: tuple[str, ...] = ("twenty",)
    """Names of tasks or groups: `twenty` everyday ones of miniwob; `all` for all of a benchmark."""
    arms: tuple[str, ...] = ("none", "control", "self")
    """Which arms to run, or `all`: none control self uniform imagined lookahead rerank best_of_k
    both judged checked."""
    curriculum: Literal["on", "uniform"] = "on"
    """`on`: tasks are drawn by what there is to learn; `uniform`: every one as often, on fresh
    seeds, in all arms."""
    repeats: int = 1
    """How often everything is done again with other seeds and other demonstrations."""
    seed: int = 0
    """Number of the first repeat."""
    demonstrations: int = 3
    """Demonstrations a task, from the built-in oracles; tasks without an oracle get none."""
    withhold: float = 0.0
    """Share of the tasks, others in each repeat, of which no demonstrations are given."""
    memory: Literal["on", "off"] = "on"
    """`on`: what was demonstrated or judged a success is done again where a page looks like it, and
    the network acts where nothing like it is remembered; `off`: the network alone."""
    rounds: int = 3
    """Passes around the loop."""
    steps: int = 1600
    """Real browser steps a round may take, at most."""
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
    candidates: int = 3
    """Actions that look-ahead and its controls compare."""
    depth: int = 1
    """Steps that look-ahead imagines."""
    evaluate: int = 25
    """Held-out seeds a task for the measurements before the first and after the last round."""
    evaluate_between: int = 8
    """The same for the measurements between rounds, on the first of those seeds."""
    evaluate_every: int = 1
    """Rounds from one such measurement to the next; after the last one there is always one."""
    split: str = "test"
    """Seeds to measure on: `test`, or `development` while something is being tuned."""
    concurrency: int = 4
    """Browser contexts a process plays at once."""
    workers: int = 2
    """Processes at once, each with one thread and one browser."""


PRESETS = {
    "demo": ImproveConfig(
        preset="demo",
        rounds=2,
        steps=1200,
        base_tokens=350_000,
        round_tokens=300_000,
        evaluate=15,
        evaluate_between=5,
    ),
}
