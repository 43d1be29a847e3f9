"""Sampling the tasks of a round by the run's curriculum, with its records in the run folder."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from loop.folder import CURRICULUM, read_monitors
from loop.learners import ArmState
from loop.session import Session
from tasks.curriculum import (
    Curriculum,
    Monitor,
    MonitoredTry,
    SampledTask,
    TaskRecord,
    TryOutcome,
    find_kinds,
    measure_round,
    plateau_warning,
    sample_evenly,
)
from tasks.task import Json
from tasks.variants import Retry, TriedTask, Variation
from webagent.models.builtin.vocabulary import op_of
from webagent.records import Ending, Trajectory
from webagent.rollout import INTERRUPTED
from webagent.store import Store
from worldmodel.simulate import start_key

FIRST_FRESH = 100_000
"""Training seeds below this one are reserved for demonstrations."""


def sample_tasks(session: Session, state: ArmState, round: int) -> list[SampledTask]:
    """Return the tasks of a round: by what there is to learn, on fresh training seeds, some derived
    from other tasks."""
    rng = np.random.default_rng([session.repeat, round])
    used = Counter({name: FIRST_FRESH for name in session.names})
    for trajectory in state.experience:
        name = trajectory.task.name
        used[name] = max(used[name], trajectory.task.seed + 1)
    steps = session.config.steps
    if session.draws_evenly:
        return sample_evenly(session.suite, session.names, steps, used, rng)
    found: dict[str, TriedTask] = {}
    for trajectory in state.experience:
        success = state.succeeded(trajectory)
        key = start_key(trajectory.task)
        old = found.get(key, TriedTask(trajectory.task, 0, 0))
        found[key] = replace(old, tries=old.tries + 1, successes=old.successes + success)
    attempts = list(found.values())
    return _build_curriculum(session, state).sample_tasks(
        steps,
        round,
        session.config.rounds,
        _count_attempts(session, state, round),
        used,
        attempts,
        Variation(session.suite, Retry()),
        rng,
    )


def record_monitor(
    session: Session,
    state: ArmState,
    episodes: Sequence[Trajectory],
    truth: Sequence[float | None],
    round: int,
) -> None:
    """Store the round's monitors, and warn if the next round is likely to be a plateau."""
    estimates = _build_curriculum(session, state).estimates(
        _count_attempts(session, state, round + 1), round + 1, session.config.rounds
    )
    tried = [
        MonitoredTry(
            t.task.name, t.task.seed, _describe_actions(t), bool(value), state.succeeded(t)
        )
        for t, value in zip(episodes, truth, strict=True)
        if value is not None
    ]
    place = session.arm.name, session.repeat
    known = [
        m for (arm, repeat), m in _read_stored_monitors(session.store) if (arm, repeat) == place
    ]
    now = measure_round(round, tried, estimates)
    warning = plateau_warning([*(m for m in known if m.round < round), now])
    noted: dict[str, Json] = {**asdict(now), "warning": warning}
    noted["unsolved"] = list(now.unsolved)
    session.store.put_state(f"{CURRICULUM}:{session.arm.name}:{session.repeat}:{round}", noted)
    if warning:
        session.say("plateau ahead", 1.0, warning)


def write_draws(
    session: Session, drawn: Sequence[SampledTask], episodes: Sequence[Trajectory], round: int
) -> None:
    """Write why each episode's task was sampled, one line each, completely or not at all."""
    lines = []
    for trajectory in episodes:
        place = trajectory.provenance.index
        task, explanation = drawn[place].task, drawn[place].explanation
        line = {
            "episode": trajectory.id,
            "index": place,
            "task": task.id,
            "seed": task.seed,
            "parent": task.parent,
            "max_steps": task.max_steps,
            **asdict(explanation),
        }
        lines.append(json.dumps(line, ensure_ascii=False))
    folder = session.folder.path / CURRICULUM / f"{session.arm.name}-{session.repeat}"
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{round}.jsonl"
    draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    draft.replace(folder / f"{round}.jsonl")


def _read_stored_monitors(store: Store) -> list[tuple[tuple[str, int], Monitor]]:
    """Return the monitors of all rounds so far, in order."""
    found = []
    for place, noted in read_monitors(store):
        given = {key: value for key, value in noted.items() if key != "warning"}
        found.append((place, Monitor(**{**given, "unsolved": tuple(given["unsolved"])})))
    return found


def _build_curriculum(session: Session, state: ArmState) -> Curriculum:
    shown = {trajectory.task.name for trajectory in state.demonstrations}
    return Curriculum(session.suite, find_kinds(session.suite, session.names, shown))


def _count_attempts(session: Session, state: ArmState, now: int) -> dict[str, TaskRecord]:
    """Return the results of each task before round `now`, without proposed tasks: they are easier
    or harder than the sampled ones."""
    tries = [
        (t.provenance.round, t.task.name, _classify(state, t), len(t.steps))
        for t in state.experience
        if not t.task.parent
    ]
    # Attempts whose browser or site failed, without those interrupted by a kill.
    entries = session.store.entries(
        "finished",
        arm=session.arm.name,
        repeat=session.repeat,
        phase="collect",
        ending=[Ending.WORLD_FAILED],
    )
    names = {session.suite.task(name, 0).id: name for name in session.names}
    tries += [
        (entry.round, names[entry.task], TryOutcome.BROKEN, 0)
        for entry in entries
        if entry.error != INTERRUPTED and entry.task in names
    ]
    taught = Counter(trajectory.task.name for trajectory in state.demonstrations)
    records = {
        name: TaskRecord(shown=shown, shown_successes=successes, demonstrations=taught[name])
        for name, (shown, successes) in state.shown.items()
    }
    for round, name, outcome, steps in sorted(tries, key=lambda one: one[0]):
        if round < now:
            records[name] = records.get(name, TaskRecord()).with_try(round, outcome, steps)
    return records


def _classify(state: ArmState, trajectory: Trajectory) -> TryOutcome:
    said = state.success.get(trajectory.id)
    if said is None:
        return TryOutcome.UNJUDGED
    if said >= 0.5:
        return TryOutcome.SUCCESS
    strayed = any(step.decision.source == "explore" for step in trajectory.steps)
    return TryOutcome.STRAYED if strayed else TryOutcome.FAILURE


def _describe_actions(trajectory: Trajectory) -> str:
    """Return the kind of each action with the role of its element."""
    described = []
    for step in trajectory.steps:
        node = step.observation.node(getattr(step.decision.action, "mark", 0))
        described.append(f"{op_of(step.decision.action)} {node.role if node else 'page'}")
    return ", ".join(described)
