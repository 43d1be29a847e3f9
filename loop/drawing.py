"""Drawing: the tasks of a round by the run's curriculum, with what it notes beside the run."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from loop.learner import Learner
from loop.noted import CURRICULUM, monitors_of
from loop.session import Session
from tasks.curriculum import (
    Curriculum,
    Drawn,
    Monitor,
    Outcome,
    Record,
    Tried,
    draw_evenly,
    kinds_of,
    monitor,
    plateau_warning,
)
from tasks.task import Json
from tasks.variants import Attempt, Retry, Variation
from webagent.models.builtin.tokens import op_of
from webagent.records import Ending, Observation, Trajectory
from webagent.rollout import INTERRUPTED
from webagent.store import Store
from worldmodel.simulate import start_key

FIRST_FRESH = 100_000
"""Training seeds below this one are kept for demonstrations."""


def propose(session: Session, learner: Learner, round: int) -> list[Drawn]:
    """The tasks of a round: worth learning, on fresh training seeds, some made from old ones."""
    rng = np.random.default_rng([session.repeat, round])
    used = Counter({name: FIRST_FRESH for name in session.names})
    for trajectory in learner.experience:
        name = trajectory.task.name
        used[name] = max(used[name], trajectory.task.seed + 1)
    steps = session.config.steps
    if session.draws_evenly:
        return draw_evenly(session.suite, session.names, steps, used, rng)
    return _curriculum(session, learner).draw(
        steps,
        round,
        session.config.rounds,
        _records(session, learner, round),
        used,
        _attempts(learner),
        Variation(session.suite, Retry()),
        rng,
    )


def watch(
    session: Session,
    learner: Learner,
    episodes: Sequence[Trajectory],
    truth: Sequence[float | None],
    round: int,
) -> None:
    """Keep the round's monitors, and say so where the next one is likely to be a plateau."""
    worths = _curriculum(session, learner).worths(
        _records(session, learner, round + 1), round + 1, session.config.rounds
    )
    tried = [
        Tried(
            t.task.name,
            t.task.seed,
            (
                ", ".join(
                    f"{op_of(step.decision.action)} {_role(step.decision.action, step.observation)}"
                    for step in t.steps
                )
            ),
            bool(value),
            learner.succeeded(t),
        )
        for t, value in zip(episodes, truth, strict=True)
        if value is not None
    ]
    place = session.arm.name, session.repeat
    known = [m for (arm, repeat), m in _stored(session.store) if (arm, repeat) == place]
    now = monitor(round, tried, worths)
    warning = plateau_warning([*(m for m in known if m.round < round), now])
    state: dict[str, Json] = {**asdict(now), "warning": warning}
    state["unsolved"] = list(now.unsolved)
    session.store.put_state(f"{CURRICULUM}:{session.arm.name}:{session.repeat}:{round}", state)
    if warning:
        session.say("plateau ahead", 1.0, warning)


def write_accounts(
    session: Session, drawn: Sequence[Drawn], episodes: Sequence[Trajectory], round: int
) -> None:
    """Write why each of the episodes' tasks was drawn, a line each, whole or not at all."""
    lines = []
    for trajectory in episodes:
        place = trajectory.provenance.index
        task, account = drawn[place].task, drawn[place].account
        line = {
            "episode": trajectory.id,
            "index": place,
            "task": task.id,
            "seed": task.seed,
            "parent": task.parent,
            "max_steps": task.max_steps,
            **asdict(account),
        }
        lines.append(json.dumps(line, ensure_ascii=False))
    folder = session.folder.path / CURRICULUM / f"{session.arm.name}-{session.repeat}"
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{round}.jsonl"
    draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    draft.replace(folder / f"{round}.jsonl")


def _stored(store: Store) -> list[tuple[tuple[str, int], Monitor]]:
    """The monitors of all rounds so far, in order."""
    found = []
    for place, state in monitors_of(store):
        given = {key: value for key, value in state.items() if key != "warning"}
        found.append((place, Monitor(**{**given, "unsolved": tuple(given["unsolved"])})))
    return found


def _curriculum(session: Session, learner: Learner) -> Curriculum:
    shown = {trajectory.task.name for trajectory in learner.demonstrations}
    return Curriculum(session.suite, kinds_of(session.suite, session.names, shown))


def _records(session: Session, learner: Learner, now: int) -> dict[str, Record]:
    """How each task went before round `now`, tasks that a proposer made left out: they are easier
    or harder than what is drawn."""
    tries = [
        (t.provenance.round, t.task.name, _outcome(learner, t), len(t.steps))
        for t in learner.experience
        if not t.task.parent
    ]
    tries += _broken(session)
    taught = Counter(trajectory.task.name for trajectory in learner.demonstrations)
    records = {
        name: Record(shown=shown, shown_successes=successes, demonstrations=taught[name])
        for name, (shown, successes) in learner.shown.items()
    }
    for round, name, outcome, steps in sorted(tries, key=lambda one: one[0]):
        if round < now:
            records[name] = records.get(name, Record()).and_one(round, outcome, steps)
    return records


def _outcome(learner: Learner, trajectory: Trajectory) -> Outcome:
    said = learner.success.get(trajectory.id)
    if said is None:
        return Outcome.UNJUDGED
    if said >= 0.5:
        return Outcome.SUCCESS
    strayed = any(step.decision.source == "explore" for step in trajectory.steps)
    return Outcome.STRAYED if strayed else Outcome.FAILURE


def _broken(session: Session) -> list[tuple[int, str, Outcome, int]]:
    """Attempts whose world failed, those apart that a kill cut off."""
    entries = session.store.entries(
        "finished",
        arm=session.arm.name,
        repeat=session.repeat,
        phase="collect",
        ending=[Ending.WORLD_FAILED],
    )
    names = {session.suite.task(name, 0).id: name for name in session.names}
    return [
        (entry.round, names[entry.task], Outcome.BROKEN, 0)
        for entry in entries
        if entry.error != INTERRUPTED and entry.task in names
    ]


def _attempts(learner: Learner) -> list[Attempt]:
    """Each task and seed that was tried, with how often it went well."""
    found: dict[str, Attempt] = {}
    for trajectory in learner.experience:
        success = learner.succeeded(trajectory)
        key = start_key(trajectory.task)
        old = found.get(key, Attempt(trajectory.task, 0, 0))
        found[key] = replace(old, tries=old.tries + 1, successes=old.successes + success)
    return list(found.values())


def _role(action: object, observation: Observation) -> str:
    node = observation.node(getattr(action, "mark", 0))
    return node.role if node else "page"
