"""The stages of the loop, each a function of a session and what its arm knows.

Every stage can be called again after a kill: what the store or the weights folder already holds is
loaded instead of done.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.oracles import ORACLES
from evaluators.reward.builtin import RewardModel
from loop.arms import has_learned_judge
from loop.folder import TRAINING
from loop.learned_judge import judge_episode, record_verdicts, train_first_judge
from loop.learner import Learner, train_memory, train_policy, train_reward, train_world
from loop.policies import ScriptedSolutions
from loop.sampling import write_draws
from loop.session import SHARED, Session, play_episodes, score_episodes
from tasks.curriculum import SampledTask
from webagent.memory import Memory, MemoryMismatch
from webagent.models.builtin.model import BuiltinModel
from webagent.policy.builtin import BuiltinPolicy
from webagent.policy.exploration import Exploration
from webagent.policy.policy import Policy
from webagent.policy.remembering import MEMORY
from webagent.records import Trajectory
from webagent.rollout import Batcher, PlannedEpisode, plan_episodes
from webagent.training.fit import FitReport
from worldmodel.lookahead import Direct, Gate, Imagination, Reranked, Vote
from worldmodel.model import WorldModel

FEW_PASSES, ENOUGH_PASSES = 5, 15
"""Over the demonstrations: with 15 a policy learnt 40 % of 42 MiniWoB++ tasks, with 1.7 none of
Fossil's (docs/log.md)."""


async def begin(session: Session) -> Learner:
    """Demonstrations of the built-in oracles, and the policy trained on them."""
    learner = Learner(BuiltinModel.create(session.repeat))
    await demonstrate(session, learner)
    if not session.folder.has_weights(SHARED, session.repeat, 0):
        config = session.fit_config(session.config.base_tokens, 0)
        report = train_policy(learner, config, 0.0, session.progress("first training"))
        session.charge(0, report)
        report_first_training(session, learner, report)
        session.folder.save(learner.policy, SHARED, session.repeat, 0, "policy")
    learner.policy = session.folder.load(SHARED, session.repeat, 0, "policy")
    learn_memory(session, learner, SHARED, 0)
    learner.hidden = frozenset(session.config.hide_checks)
    if learner.hidden:
        learn_world(session, learner, 0)
    if session.believes or (session.arm.name == SHARED and has_learned_judge(session.config.arms)):
        await train_first_judge(session, learner)
    return learner


def learn_memory(session: Session, learner: Learner, arm: str, round: int) -> None:
    """Remember what the arm may learn from, or load what was remembered before; a memory that
    another version wrote is built again from the run's episodes."""
    if session.config.memory == "off":
        return
    key = (arm, session.repeat, round, MEMORY)
    if session.folder.has_weights(*key):
        try:
            learner.memory = Memory.load(session.folder.weights(*key))
            return
        except MemoryMismatch as error:
            session.say("memory", 1.0, f"built again: {error}")
    learner.memory = learner.memory or Memory()
    train_memory(learner, 1000 * session.repeat + round)
    session.folder.save(learner.memory, *key)
    session.say("memory", 1.0, f"{len(learner.memory)} steps remembered")


def report_first_training(session: Session, learner: Learner, report: FitReport) -> None:
    """Say where the demonstrations were gone over too seldom to learn from them, and what of them
    the network has no way to say."""
    told = []
    if report.tokens and report.passes < FEW_PASSES:
        enough = math.ceil(ENOUGH_PASSES * report.tokens / report.passes / 100_000) * 100_000
        told.append(
            f"the first training went over the demonstrations {report.passes:.1f} times, too seldom"
            f" to learn much from them; {ENOUGH_PASSES} times are --base-tokens {enough}"
        )
    if learner.unsaid:
        ops = ", ".join(f"{op} {count}" for op, count in learner.unsaid.most_common())
        told.append(
            f"the network has no way to say {learner.unsaid.total()} demonstrated steps and was not"
            f" trained on them ({ops})"
            + ("; memory has them" if session.config.memory == "on" else "")
        )
    if told:
        session.store.put_state(f"{TRAINING}:{SHARED}:{session.repeat}", "; ".join(told))
        session.say("first training", 1.0, "; ".join(told))


async def demonstrate(session: Session, learner: Learner) -> None:
    """As many successful demonstrations a task as asked for, on training seeds of this repeat.

    A few more tries are planned for each, and played where the first ones fell short.
    """
    wanted = session.config.demonstrations
    tries = wanted + 2 + wanted // 10
    names = [name for name in session.names if name in ORACLES and name not in session.withheld]
    seeds = range(session.repeat * tries, (session.repeat + 1) * tries)
    tasks = [session.suite.task(name, seed) for name in names if wanted for seed in seeds]
    plan = plan_episodes(tasks, session.provenance("demonstrate", arm=SHARED))
    first = [one for place, one in enumerate(plan) if place % tries < wanted]
    later = [one for place, one in enumerate(plan) if place % tries >= wanted]
    await _shown(session, learner, first, "demonstrations")
    short = [one for one in later if learner.shown.get(one.task.name, (0, 0))[1] < wanted]
    if short:
        await _shown(session, learner, short, "more demonstrations")


async def _shown(
    session: Session, learner: Learner, plan: Sequence[PlannedEpisode], stage: str
) -> None:
    """Play the built-in oracles; the learner keeps what succeeded, as far as it is wanted."""
    episodes = await play_episodes(session, plan, ScriptedSolutions(), stage)
    for trajectory, success in zip(episodes, await score_episodes(session, episodes), strict=True):
        name = trajectory.task.name
        tries, successes = learner.shown.get(name, (0, 0))
        learner.shown[name] = tries + (success is not None), successes + bool(success)
        if success and successes < session.config.demonstrations:
            learner.demonstrations.append(trajectory)
            learner.success[trajectory.id] = 1.0


async def recall(session: Session, round: int) -> Learner:
    """What the arm `weights_of` knew after a round: its policy and all it had experienced."""
    arm, repeat = session.arm.weights_of, session.repeat
    learner = Learner(session.folder.load(arm, repeat, round, "policy"))
    await demonstrate(session, learner)
    learner.experience = list(session.store.trajectories(arm=arm, repeat=repeat, phase="collect"))
    learner.hidden = frozenset(session.config.hide_checks)
    if session.folder.has_weights(arm, repeat, round, "reward"):
        learner.reward = RewardModel(session.folder.load(arm, repeat, round, "reward"))
    await judge(session, learner, learner.experience)
    learn_memory(session, learner, arm, round)
    if session.folder.has_weights(arm, repeat, round, "world"):
        learner.world = WorldModel(session.folder.load(arm, repeat, round, "world"))
    return learner


async def collect_real(
    session: Session, learner: Learner, drawn: Sequence[SampledTask], round: int
) -> list[Trajectory]:
    """Play the tasks in the browser, exploring, until the round's real steps are spent.

    Why each of those played was drawn is written beside the run.
    """
    exploration = Exploration(session.config.temperature, session.config.random_share)
    policy = BuiltinPolicy(
        learner.policy, exploration=exploration, batched=Batcher, memory=learner.memory
    )
    plan = plan_episodes([one.task for one in drawn], session.provenance("collect", round))
    episodes = await play_episodes(session, plan, policy, "collect", session.config.steps)
    learner.experience.extend(episodes)
    write_draws(session, drawn, episodes, round)
    return episodes


async def judge(
    session: Session, learner: Learner, episodes: Sequence[Trajectory]
) -> list[float | None]:
    """What the loop believes of each episode: its checks, or a learned judge's verdict where
    the checks are not to be seen. The truth is stored beside it either way, and given back."""
    truth = await score_episodes(session, episodes)
    for trajectory, success in zip(episodes, truth, strict=True):
        value = success
        if session.believes:
            value = await judge_episode(session, learner, trajectory)
        elif trajectory.task.name in learner.hidden:
            value = await _believed(session, learner, trajectory)
        learner.success[trajectory.id] = value
    return truth


async def _believed(session: Session, learner: Learner, trajectory: Trajectory) -> float | None:
    """The reward model's verdict, stored as the score `judged`; None while there is no model."""
    if learner.reward is None:
        return None
    said = await learner.reward.evaluator()(trajectory)
    session.store.score(trajectory.id, replace(said, name="judged"))
    return said.value


def learn_world(session: Session, learner: Learner, round: int) -> None:
    """Train the world model and the reward model on everything real so far."""
    parts = (("world", session.config.world_tokens), ("reward", session.config.reward_tokens))
    for part, tokens in parts:
        key = (session.arm.name, session.repeat, round, part)
        if session.folder.has_weights(*key):
            model = session.folder.load(*key)
        else:
            has_old = round > 0 and session.folder.has_weights(*key[:2], round - 1, part)
            seed = 7 * session.repeat + (part == "reward")
            old = session.folder.load(*key[:2], round - 1, part) if has_old else None
            model = old or BuiltinModel.create(seed)
            config = session.fit_config(tokens, round if has_old else 0)
            progress = session.progress(f"{part} model")
            if part == "world":
                train_world(learner, WorldModel(model), config, progress)
            else:
                train_reward(learner, RewardModel(model), config, progress)
            session.folder.save(model, *key)
        if part == "world":
            learner.world = WorldModel(model)
        else:
            learner.reward = RewardModel(model)


def learn_policy(session: Session, learner: Learner, round: int) -> None:
    """Train the policy on what the arm may learn from, or load what that gave before."""
    if not session.folder.has_weights(session.arm.name, session.repeat, round):
        config = session.fit_config(session.config.round_tokens, round)
        share = session.config.imagined_share
        session.charge(round, train_policy(learner, config, share, session.progress("policy")))
        session.folder.save(learner.policy, session.arm.name, session.repeat, round, "policy")
    learner.policy = session.folder.load(session.arm.name, session.repeat, round, "policy")
    if session.arm.learns_from == "experience":
        learn_memory(session, learner, session.arm.name, round)


async def evaluate(session: Session, learner: Learner, round: int) -> None:
    """Play held-out seeds without exploring; the frozen judge's scores go into the store."""
    config = session.config
    is_full = round in (0, config.rounds)
    tasks = [
        session.suite.task(name, index, config.split)
        for index in range(config.evaluate if is_full else config.evaluate_between)
        for name in session.names
    ]
    plan = plan_episodes(tasks, session.provenance("evaluate", round))
    episodes = await play_episodes(session, plan, _acting(session, learner), f"measure {round}")
    await score_episodes(session, episodes)
    for trajectory in episodes:
        await record_verdicts(session, learner, trajectory)


def _acting(session: Session, learner: Learner) -> Policy:
    """The policy, alone or inside what the arm acts by."""
    plain = BuiltinPolicy(learner.policy, batched=Batcher, memory=learner.memory)
    gate = Gate(candidates=session.config.candidates)
    match session.arm.acts_by:
        case "lookahead" if learner.world is not None:
            imagination = Imagination(learner.world, plain, session.config.depth)
            return Reranked(plain, imagination, "lookahead", gate)
        case "rerank" if learner.reward is not None:
            return Reranked(plain, Direct(learner.reward), "rerank", gate)
        case "best_of_k":
            sampler = BuiltinPolicy(
                learner.policy, exploration=Exploration(1.0, 0.0), batched=Batcher
            )
            return Reranked(plain, Vote(sampler, session.config.candidates), "best_of_k", gate)
        case _:
            return plain
