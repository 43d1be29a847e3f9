"""Imagined episodes from real pages, of which a language model learns from the successes."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from loop.console.progress import count_items
from loop.jobs import NEWS
from loop.judging.own_reward import OWN_REWARD
from loop.learners import ArmState, PredictsPages
from loop.notes import TRAINING
from loop.session import Session
from loop.world_models import WorldChoice, open_model, put_behind, read_success, remember_run
from tasks.suite import split_of
from tasks.task import Json
from webagent.errors import StoreError
from webagent.models.spending import Ledger, default_prices
from webagent.records import Trajectory
from webagent.rollout import PlannedEpisode, collect
from webagent.store import Store
from worldmodel.baselines import build_models, compare_models
from worldmodel.layers import LayeredWorld
from worldmodel.prediction import Prediction, WorldModel, charge, expect
from worldmodel.prompted import PromptedWorld
from worldmodel.recall import RememberedWorld
from worldmodel.simulate import DreamStart, ImaginedWorld, start_at, start_key
from worldmodel.transitions import Situation, Transition, transitions


def build_world(session: Session, state: ArmState) -> WorldModel | None:
    """Return the arm's world model: the memory of its real steps, with the language model behind it
    that the settings name, or that acts; None before anything is learned."""
    if state.world is None:
        return None
    choice, learner = session.config.lookahead, state.learner
    if choice.kind == "policy" and isinstance(learner, PredictsPages):
        return put_behind(state.world, learner.language_model(), is_trained=learner.knows_pages)
    return put_behind(state.world, session.world_model, is_trained=choice.is_trained)


async def imagine(session: Session, state: ArmState, round: int) -> None:
    """Imagine episodes from real pages whose task was not solved, and keep those that the judge of
    real episodes passes."""
    state.dreams = []
    world, judge = build_world(session, state), session.judge
    if world is None or judge is None:
        return
    judged = [t for t in state.experience if state.success.get(t.id) is not None]
    is_own = session.config.judging.judge == OWN_REWARD  # then checks decided what was real
    passed = None if is_own else [state.succeeded(t) for t in judged]
    if fault := await judge.find_fault(judged, passed):
        fault = f"nothing is imagined in round {round}: {fault}"
        session.report(NEWS, 1.0, fault)
        session.store.put_state(f"{TRAINING}:{session.arm.name}:{session.repeat}", fault)
        return
    plan, pages = _plan_dreams(session, state, round)
    finished = 0

    def report_finished(_: Trajectory) -> None:
        nonlocal finished
        finished += 1
        session.report("imagine", min(finished / len(plan), 1.0), f"{finished} episodes")

    metered = charge(world, session.ledger)

    async def predict(situation: Situation) -> Prediction:
        return (await expect(metered, [situation]))[0]

    async def open_imagined() -> ImaginedWorld:
        return ImaginedWorld(predict, pages)

    episodes = await collect(
        plan,
        state.learner.policy("imagine"),
        open_imagined,
        concurrency=session.player.concurrency,
        recorder=session.store,
        on_episode=report_finished,
        step_timeout=math.inf,  # how long a model may take is for the model to say
    )
    ended = [t for t in episodes if t.ending is not None and not t.ending.is_infrastructure]
    ended = leave_out_refuted(ended, state)
    if ended:
        session.report("judge", 0.0, f"{len(ended)} imagined episodes")
        verdicts = await judge.judge_round(ended, f"{session.arm.name}:{session.repeat}", round)
        state.dreams = [
            t for t, value in zip(ended, verdicts, strict=True) if value and value >= 0.5
        ]
    state.success |= {t.id: 1.0 for t in state.dreams}


def leave_out_refuted(imagined: Sequence[Trajectory], state: ArmState) -> list[Trajectory]:
    """Return the imagined episodes without those that do, action by action, what failed for real
    at the same task and seed: judges of imagined ends passed many of these."""

    def way(one: Trajectory) -> tuple[object, ...]:
        return start_key(one.task), *(step.decision.action for step in one.steps)

    judged = [t for t in state.experience if state.success.get(t.id) is not None]
    failed = {way(t) for t in judged if not state.succeeded(t)}
    return [t for t in imagined if way(t) not in failed]


def _plan_dreams(
    session: Session, state: ArmState, round: int
) -> tuple[list[PlannedEpisode], dict[str, DreamStart]]:
    """Return so many imagined episodes, spread evenly over the tasks to imagine, and the real page
    that each of these begins on: tasks that were tried and never solved, and those that were
    proposed and not tried yet, on a page on which an episode began."""
    solved = {start_key(t.task) for t in state.experience if state.succeeded(t)}
    tried = [t for t in state.experience if t.steps]
    known = {start_key(t.task): (t.task, start_at(t), t.id) for t in tried}
    began = {t.steps[0].observation.url: t for t in [*state.demonstrations, *tried] if t.steps}
    for task in session.proposed.values():
        if start_key(task) not in known and (real := began.get(task.start_url)):
            page = replace(real.steps[0].observation, goal=task.goal)
            known[start_key(task)] = task, DreamStart(page), real.id
    starts = [start for key, start in known.items() if key not in solved]
    base = replace(session.provenance("imagine", round), world="imagined")
    order = np.random.default_rng([session.repeat, round, 1]).permutation(len(starts))
    plan = []
    for index in range(session.config.imagination.dreams if starts else 0):
        task, _, episode = starts[int(order[index % len(order)])]
        task = replace(task, max_steps=min(task.max_steps, session.config.imagination.horizon))
        place = replace(base, index=index, seeded_from=f"{episode}:0")
        plan.append(PlannedEpisode(task, place))
    return plan, {start_key(task): start for task, start, _ in starts}


def measure_run(
    run: Path,
    benchmark: str,
    choice: WorldChoice,
    split: str = "test",
    most: int = 0,
    at_once: int = 8,
) -> tuple[dict[str, Json], list[dict[str, Json]], Ledger]:
    """Return the accuracy of memory, its baselines and the chosen model on a run's episodes on
    seeds of a split, after learning from those on training seeds (and, for test seeds, on
    development seeds): what was evaluated, the rows of figures by model, and what the model cost.
    `most` bounds the measured steps, in whole episodes sampled at random; 0 for all. `at_once`
    predictions are requested of a model at the same time.

    Raises `StoreError` if the run has no episodes on these seeds, or no others, `SetupError` and
    `ModelError` for the model.
    """
    memory, held = remember_run(run, split), list[Transition]()
    with Store.look(run) as store:
        success = read_success(store)
        tested = [each.id for each in store.entries() if split_of(each.seed) == split]
        for number in np.random.default_rng(0).permutation(len(tested)):
            episode = store.load(tested[int(number)])
            found = list(transitions([episode], success)) if episode else []
            if most and len(held) + len(found) > most:
                break
            held += found
    if not memory.cases or not held:
        raise StoreError(
            f"{run} has {len(memory.cases)} real steps to learn from and {len(held)} on {split}"
            " seeds to measure on; both are needed: webagent improve plays both"
        )
    episodes = {t.episode for t in held}
    facts: dict[str, Json] = {
        "benchmark": benchmark,
        "split": split,
        "learnt_from": len(memory.cases),
        "transitions": len(held),
        "episodes": len(episodes),
        "failed": sum((success[each] or 0.0) < 0.5 for each in episodes),
    }
    ledger = Ledger(prices=default_prices())
    compared = asyncio.run(_compare(memory, held, choice, at_once, ledger))
    rows = [
        {"benchmark": benchmark, "model": name, **row}
        for name, each in compared.items()
        for row in each
    ]
    return facts, rows, ledger


async def _compare(
    memory: RememberedWorld,
    held: Sequence[Transition],
    choice: WorldChoice,
    at_once: int,
    ledger: Ledger,
) -> dict[str, list[dict[str, Json]]]:
    """Return the rows of memory, its baselines and the chosen model, by name."""
    models = build_models(memory)
    async with open_model(choice) as model:
        world = put_behind(memory, model, is_trained=choice.is_trained)
        if isinstance(world, LayeredWorld):
            alone = charge(world.model, ledger)
            if isinstance(
                alone, PromptedWorld
            ):  # alone and behind memory it gets the same requests
                alone = alone.asked_once()
            models |= {choice.name: alone, f"map, then {choice.name}": replace(world, model=alone)}
        with count_items("predictions", len(models) * len(held)) as count:
            return await compare_models(models, memory, held, at_once, count)
