"""`webagent dream`: imagined episodes from real pages of a run, by its world model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tyro.conf import Positional

from benchmarks.sites.hosting import Hosting
from loop.arms import ARMS
from loop.console.outcome import CommandResult, Status
from loop.console.progress import show_jobs
from loop.dreams import imagine
from loop.folder import RunFolder
from loop.learners import ArmState
from loop.learners.builtin import BuiltinLearner
from loop.session import HEADLINE, Session
from loop.settings import ImproveConfig
from loop.stages import learn_world
from loop.workers import JobProgress
from recipes.settings import resolve
from tasks.suite import split_of
from webagent.browser import Browser
from webagent.errors import StoreError, UsageError
from webagent.models.builtin.model import BuiltinModel

NAME = "dream"
"""The arm that imagined episodes are kept under, and the weights that were made for them."""


@dataclass(frozen=True)
class DreamConfig:
    """Imagine episodes from real pages of a run, with a world model of built-in size.

    The pages are the first ones of episodes whose task was not solved on that seed. Episodes go
    into the run, marked as imagined.
    """

    run: Positional[Path] = Path()
    """The run folder; this one when none is named."""
    count: int = 200
    """Imagined episodes, at most; 0 only trains the models."""
    horizon: int = 5
    """Steps of an imagined episode, at most."""
    weights: Path | None = None
    """Folder with `world`, `reward` and `policy`, as `webagent improve` leaves in
    RUN/weights/ARM-REPEAT/ROUND; without it they are trained now on what the run holds."""
    world_tokens: int = 400_000
    """Prompt and target tokens of the world model's training, where it is trained."""
    reward_tokens: int = 150_000
    """The same for the reward model's."""
    policy_tokens: int = 300_000
    """The same for the policy's, on what succeeded."""
    temperature: float = 1.2
    """Of the policy's sampling."""
    random_share: float = 0.1
    """Share of random actions."""
    belief: float = 0.8
    """P(success) the world model must give an episode for it to count as believed."""
    trusted: float = 0.9
    """Precision of such beliefs on held-back real episodes below which nothing is imagined."""
    seed: int = 0
    """Another one trains other weights and imagines other episodes."""

    def check(self) -> None:
        """Raises `UsageError` for settings that cannot be used."""
        if self.count < 0 or self.horizon < 1:
            raise UsageError("--count must be 0 or more, --horizon 1 or more")
        if not 0 <= self.trusted <= 1 or not 0 <= self.belief <= 1:
            raise UsageError("--trusted and --belief are shares between 0 and 1")

    @property
    def loop(self) -> ImproveConfig:
        """The same as the loop's stages are told it."""
        return ImproveConfig(
            dreams=self.count,
            horizon=self.horizon,
            memory="off",
            base_tokens=self.policy_tokens,
            world_tokens=self.world_tokens,
            reward_tokens=self.reward_tokens,
            temperature=self.temperature,
            random_share=self.random_share,
            belief=self.belief,
            trusted=self.trusted,
        )


@dataclass(frozen=True, slots=True)
class Dreamt:
    """What was imagined."""

    run: str
    """The run folder; the episodes are in it under the arm `dream` and the phase `imagine`."""
    weights: str
    """Folder of the models; `world` in it is the world model."""
    learnt_from: int
    """Real episodes with a verdict, on seeds that are not for measuring."""
    episodes: int
    """Imagined ones in the run, of this seed."""
    steps: int
    believed: int
    """Of these, how many both the world model and the reward model take for successes."""
    precision: float
    """How often such beliefs were right on real episodes held back from the training."""
    checked: int
    """How many real beliefs that is a share of."""


def main(argv: Sequence[str]) -> CommandResult:
    """Failed where the models' beliefs could not be trusted, so that nothing was imagined."""
    import torch

    config = resolve(DreamConfig, "dream", argv)
    config.check()
    torch.set_num_threads(1)  # so small a network gains nothing by more
    folder = RunFolder.open(config.run)
    with folder.store() as store, show_jobs(folder.path) as show:
        session = Session(
            config.loop,
            folder,
            store,
            Browser(),
            Hosting(),
            replace(ARMS["imagined"], name=NAME),
            config.seed,
            lambda stage, done, note: show(JobProgress(NAME, stage, done, note)),
        )
        state = _state(config, session)
        place = session.folder.weights(NAME, config.seed, 0, "world").parent
        if config.weights is not None:
            for part in ("world", "reward", "policy"):
                given = BuiltinModel.load(config.weights / part)
                session.folder.save(given, NAME, config.seed, 0, part)
        learn_world(session, state, 0)
        asyncio.run(_imagine(session, state))
        found = _counted(config, session, state, place)
    _tell(found, config)
    return CommandResult(found, _status(found, config))


async def _imagine(session: Session, state: ArmState) -> None:
    await state.learner.learn(state, NAME, 0)
    await imagine(session, state, 0)


def _state(config: DreamConfig, session: Session) -> ArmState:
    """What the run has experienced, with the frozen judge's verdicts. Raises `StoreError`."""
    values = {
        episode: score.value
        for episode, scores in session.store.scores().items()
        for score in scores
        if (score.name, score.evaluator) == ("success", HEADLINE.id)
    }
    state = ArmState(BuiltinLearner(session), success=values)
    state.experience = [
        episode
        for episode in session.store.trajectories()
        if not episode.provenance.imagined
        and values.get(episode.id) is not None
        and split_of(episode.task.seed) != "test"
    ]
    if not state.experience:
        raise StoreError(
            f"{config.run} holds no real episode with a verdict on a seed that is not for"
            " measuring; collect some first: webagent collect --random-share 0.3"
        )
    return state


def _counted(config: DreamConfig, session: Session, state: ArmState, weights: Path) -> Dreamt:
    entries = session.store.entries(arm=NAME, phase="imagine", repeat=config.seed)
    figures = session.store.get_state(f"world:{NAME}:{config.seed}:0")
    known = figures if isinstance(figures, dict) else {}
    precision, checked = known.get("precision"), known.get("believed")
    return Dreamt(
        run=str(config.run),
        weights=str(weights),
        learnt_from=len(state.experience),
        episodes=len(entries),
        steps=sum(entry.steps for entry in entries),
        believed=len(state.dreams),
        precision=float(precision) if isinstance(precision, float | int) else 0.0,
        checked=int(checked) if isinstance(checked, int) else 0,
    )


def _tell(found: Dreamt, config: DreamConfig) -> None:
    print(f"models of {found.learnt_from:,} real episodes: {found.weights}")
    print(
        f"of {found.checked} beliefs in success on episodes held back"
        f" {found.precision:.0%} were right"
    )
    if found.precision < config.trusted:
        print(
            f"that is less than --trusted {config.trusted:g}: nothing is imagined; collect more"
            " episodes, successes and failures, or lower it"
        )
        return
    print(
        f"{found.episodes:,} imagined episodes of {found.steps:,} steps, {found.believed:,}"
        " believed to succeed\ntake them along:"
        f" webagent export {found.run} --imagined --out FOLDER"
    )


def _status(found: Dreamt, config: DreamConfig) -> Status:
    wanted = config.count and not found.episodes
    return Status.FAILED if wanted or found.precision < config.trusted else Status.DONE
