"""Imagined episodes from real pages, used only if the world model predicts success."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from loop.console.progress import count_items
from loop.learners import ArmState
from loop.session import Session
from loop.world_models import WorldChoice, open_model, put_behind, read_success, remember_run
from tasks.suite import split_of
from tasks.task import Json
from webagent.errors import StoreError
from webagent.models.spending import Ledger, default_prices
from webagent.records import Trajectory
from webagent.rollout import PlannedEpisode, collect
from webagent.store import Store
from worldmodel.accuracy import CopyPage, is_held_back, measure, precision_of_belief
from worldmodel.baselines import build_models, compare_models
from worldmodel.knowable import KnowableLines
from worldmodel.layers import LayeredWorld
from worldmodel.prediction import Prediction, WorldModel, charge, expect
from worldmodel.prompted import PromptedWorld
from worldmodel.recall import RememberedWorld
from worldmodel.simulate import ImaginedWorld, start_at, start_key
from worldmodel.transitions import Situation, Transition, transitions


async def imagine(session: Session, state: ArmState, round: int) -> None:
    """Imagine episodes from real pages whose task failed, and keep those in which the world model
    predicts a success.

    Nothing is imagined if the world model's predictions of success are too often wrong on held-out
    episodes.
    """
    state.dreams = []
    world = state.world
    if (
        world is None
        or _measure_belief(session, state, world, round) < session.config.imagination.trusted
    ):
        return
    solved = {start_key(t.task) for t in state.experience if state.succeeded(t)}
    starts = {
        start_key(t.task): t
        for t in state.experience
        if t.steps and start_key(t.task) not in solved
    }
    pages = {key: start_at(trajectory) for key, trajectory in starts.items()}
    plan = _plan_dreams(session, list(starts.values()), round)
    finished = 0

    def report_finished(_: Trajectory) -> None:
        nonlocal finished
        finished += 1
        session.report("imagine", min(finished / len(plan), 1.0), f"{finished} episodes")

    opened = put_behind(world, session.config.lookahead, session.world_model)
    metered = charge(opened, session.ledger)

    async def predict(situation: Situation) -> Prediction:
        return (await expect(metered, [situation]))[0]

    async def open_imagined() -> ImaginedWorld:
        return ImaginedWorld(predict, pages)

    episodes = await collect(
        plan,
        state.learner.policy("imagine"),
        open_imagined,
        concurrency=32,
        recorder=session.store,
        on_episode=report_finished,
    )
    least = session.config.imagination.belief
    state.dreams = [
        t
        for t in episodes
        if t.evidence.get("imagined_success")
        and isinstance(chance := t.evidence.get("success_probability"), float)
        and chance >= least
    ]


def _measure_belief(session: Session, state: ArmState, world: RememberedWorld, round: int) -> float:
    """Return how reliable the world model's P(success) is, and store it with its overall
    accuracy."""
    held = [t for t in state.experience if is_held_back(t)]
    checked = list(transitions(held, state.success))
    precision, count = precision_of_belief(world, checked, session.config.imagination.belief)
    known = [t for t in state.experience if not is_held_back(t)]
    trained = list(transitions([*state.demonstrations, *known], state.success))
    knowledge = KnowableLines()
    knowledge.learn(trained)
    models: dict[str, WorldModel] = {"model": world, "copying": CopyPage.most_frequent(trained)}
    figures: dict[str, Json] = {"precision": precision, "believed": count} | {
        name: asdict(measure(each, checked, knowledge)) for name, each in models.items()
    }
    session.store.put_state(f"world:{session.arm.name}:{session.repeat}:{round}", figures)
    return precision


def _plan_dreams(
    session: Session, starts: Sequence[Trajectory], round: int
) -> list[PlannedEpisode]:
    """Return so many imagined episodes, spread evenly over the real start pages."""
    count = session.config.imagination.dreams if starts else 0
    base = replace(session.provenance("imagine", round), world="imagined")
    rng = np.random.default_rng([session.repeat, round, 1])
    order = rng.permutation(len(starts))
    plan = []
    for index in range(count):
        start = starts[int(order[index % len(order)])]
        task = replace(
            start.task, max_steps=min(start.task.max_steps, session.config.imagination.horizon)
        )
        place = replace(base, index=index, seeded_from=f"{start.id}:0")
        plan.append(PlannedEpisode(task, place))
    return plan


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
        world = put_behind(memory, choice, model)
        if isinstance(world, LayeredWorld):
            alone = charge(world.model, ledger)
            if isinstance(
                alone, PromptedWorld
            ):  # alone and behind memory it gets the same requests
                alone = alone.asked_once()
            models |= {choice.name: alone, f"map, then {choice.name}": replace(world, model=alone)}
        with count_items("predictions", len(models) * len(held)) as count:
            return await compare_models(models, memory, held, at_once, count)
