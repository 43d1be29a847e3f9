"""The verdicts of an arm that has a learned judge instead of the checks."""

from dataclasses import replace
from pathlib import Path

from evaluators.frozen import FrozenJudge, add_frozen, freeze, read_frozen, refuse_frozen, verify
from evaluators.reward.builtin import RewardModel, calibrate_judge
from loop.learners import ArmState
from loop.learners.builtin import BuiltinLearner
from loop.session import SHARED, Progress, Session, play_episodes, score_episodes
from loop.summary.comparisons import FROZEN, OWN
from webagent.models.builtin.model import BuiltinModel
from webagent.records import Trajectory
from webagent.rollout import plan_episodes
from webagent.training.fit import FitConfig, fit
from webagent.training.rows import grow_vocabulary

PART = "judge"
"""Name of a judge's weights in the run folder."""
_FIRST_LABELLED = 50_000
"""First training seed of labelled episodes."""


async def train_first_judge(session: Session, state: ArmState) -> None:
    """Return labelled episodes of the first policy, the judge trained on them, and its frozen
    copy."""
    if isinstance(state.learner, BuiltinLearner):
        state.actor = state.learner.model.copy()
    names = session.names
    each, more = divmod(session.config.labels, len(names))
    first = _FIRST_LABELLED + 1000 * session.repeat
    tasks = [
        session.suite.task(name, first + index)
        for place, name in enumerate(names)
        for index in range(each + (place < more))
    ]
    policy = state.learner.policy("collect")
    plan = plan_episodes(tasks, session.provenance("label", arm=SHARED))
    episodes = await play_episodes(session, plan, policy, "labelled episodes")
    for trajectory, value in zip(episodes, await score_episodes(session, episodes), strict=True):
        state.success[trajectory.id] = value
    state.labelled = list(episodes)
    key = (SHARED, session.repeat, 0, PART)
    folder, record = session.folder.weights(*key), _frozen_path(session)
    if not session.folder.has_weights(*key):
        network = BuiltinModel.create(11 * session.repeat + 5)
        config = session.fit_config(session.config.judge_tokens, 0)
        judge = train_judge(state, network, config, session.progress("first judge"))
        session.folder.save(judge, *key)
    state.judge = RewardModel.load(folder)
    state.frozen = RewardModel.load(folder)
    if not record.exists():
        add_frozen(record, [freeze(state.frozen.evaluator(), folder)])
    verify(_read_frozen_judge(session), state.frozen.evaluator(), folder)


async def judge_episode(session: Session, state: ArmState, trajectory: Trajectory) -> float | None:
    """Return the outcome that the arm assumes; the verdicts behind it are stored."""
    own, frozen = await record_verdicts(session, state, trajectory)
    if session.arm.believes == "own" or own is None or frozen is None:
        return own
    return min(own, frozen)


async def record_verdicts(
    session: Session, state: ArmState, trajectory: Trajectory
) -> tuple[float | None, float | None]:
    """Store and return the verdicts of the arm's own judge and of the frozen one."""
    values: list[float | None] = []
    for judge, name in ((state.judge, OWN), (state.frozen, FROZEN)):
        if judge is None:
            values.append(None)
            continue
        said = await judge.evaluator()(trajectory)
        session.store.score(trajectory.id, replace(said, name=name))
        values.append(said.value)
    return values[0], values[1]


def retrain_judge(session: Session, state: ArmState, round: int) -> None:
    """Train the arm's judge on the labelled episodes and on its own verdicts.

    In the first round from scratch, then from its last weights: the frozen judge's are never
    trained. Raises `SetupError` if these turn out to be its.
    """
    key = (session.arm.name, session.repeat, round, PART)
    if not session.folder.has_weights(*key):
        if round == 1:
            network = BuiltinModel.create(11 * session.repeat + 6)
        else:
            last = session.folder.weights(session.arm.name, session.repeat, round - 1, PART)
            refuse_frozen(last, [_read_frozen_judge(session)])
            network = BuiltinModel.load(last)
        config = session.fit_config(session.config.judge_tokens, round - 1)
        judge = train_judge(state, network, config, session.progress("judge"))
        session.folder.save(judge, *key)
    state.judge = RewardModel.load(session.folder.weights(*key))


def train_judge(
    state: ArmState, network: BuiltinModel, config: FitConfig, progress: Progress
) -> RewardModel:
    """Train a judge on the labelled episodes and on those it has judged since.

    A third of the labelled episodes is reserved for calibration, which sets the threshold for a
    false-positive rate of one in twenty.
    """
    # Every third seed of a task is kept for the calibration.
    kept = [t for t in state.labelled if t.task.seed % 3 == 0]
    episodes = [*state.demonstrations, *state.labelled, *state.experience]
    taught = [t for t in episodes if t not in kept]
    grow_vocabulary(network.vocabulary, taught)
    rows = RewardModel(network).rows(taught, state.success, seed=config.seed)
    fit(network.network, rows, config, progress)
    judge = RewardModel(network, actor=state.actor)
    known = [t for t in kept if t.steps and state.success.get(t.id) is not None]
    labels = [state.succeeded(t) for t in known]
    if len(set(labels)) < 2:
        return judge
    return calibrate_judge(judge, known, labels)


def _frozen_path(session: Session) -> Path:
    return session.folder.path / f"frozen-{session.repeat}.json"


def _read_frozen_judge(session: Session) -> FrozenJudge:
    return read_frozen(_frozen_path(session))[0]
