"""The stages of the loop, each a function of a session and the state of its arm.

Every stage can be called again after a kill: what the store or the weights folder already contains
is loaded instead of recomputed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.oracles import ORACLES, OraclePolicy
from loop.imagination import build_world
from loop.jobs import NEWS
from loop.learners import ArmState, RemembersAtOnce
from loop.measurement.scoring import HEADLINE
from loop.notes import LEARNING, read_judge_id
from loop.playing import play_episodes, score_episodes
from loop.session import SHARED, Session
from loop.task_split import is_shown
from tasks import curriculum
from tasks.curriculum import TriedTask
from tasks.task import Json, Task
from webagent.errors import SetupError
from webagent.records import Trajectory
from webagent.rollout import PlannedEpisode, StepBudget, episode_id, plan_episodes
from webagent.store import Store, Where
from worldmodel.lookahead import Gate, LookAhead, Reranked, Vote
from worldmodel.recall import RememberedWorld
from worldmodel.simulate import start_key
from worldmodel.transitions import transitions

WAVE = 32
"""Tasks played between two updates of the memory."""


FIRST_FRESH = 100_000
"""Training seeds below this one are reserved for demonstrations."""


async def begin(session: Session, state: ArmState) -> None:
    """Play the built-in demonstrations, and train the initial state on them."""
    await demonstrate(session, state)
    await state.learner.learn(state, SHARED, 0)


async def demonstrate(session: Session, state: ArmState) -> None:
    """Return as many successful demonstrations per task as requested: those of a run, or on
    training seeds of this repeat.

    A few additional attempts are planned for each task, and played if the first ones failed.
    """
    if session.config.demonstrating.demonstrated is not None:
        _take_demonstrations(session, state, session.config.demonstrating.demonstrated)
        return
    wanted = session.config.demonstrating.demonstrations
    tries = wanted + 2 + wanted // 10
    names = [name for name in session.names if name in ORACLES and name not in session.withheld]
    seeds = range(session.repeat * tries, (session.repeat + 1) * tries)
    tasks = [session.suite.task(name, seed) for name in names if wanted for seed in seeds]
    plan = plan_episodes(tasks, session.provenance("demonstrate", arm=SHARED))
    first = [one for place, one in enumerate(plan) if place % tries < wanted]
    later = [one for place, one in enumerate(plan) if place % tries >= wanted]
    await _shown(session, state, first, "demonstrations")
    short = [one for one in later if state.shown.get(one.task.name, (0, 0))[1] < wanted]
    if short:
        await _shown(session, state, short, "more demonstrations")


def _take_demonstrations(session: Session, state: ArmState, run: Path) -> None:
    """Copy another run's successes on training tasks into this one, which then no longer needs it:
    all of them if `--demonstrations` is 0. Raises `SetupError` if there are none."""
    taken_key = f"demonstrated:{session.repeat}"
    if not session.store.get_state(taken_key):
        names = {*session.names, *session.split.shown} - session.withheld
        taken = Counter[str]()
        place = session.provenance("demonstrate", arm=SHARED)
        with Store.open(run) as store:
            scores = store.scores()
            for episode in store.trajectories():
                name = episode.task.name
                if name not in names or not is_shown(episode, scores.get(episode.id, ())):
                    continue
                most = session.config.demonstrating.demonstrations
                if not most or taken[name] < most:
                    here = replace(place, index=taken.total())
                    known = episode_id(episode.task, here)
                    if session.store.load(known) is None:
                        session.store.add(replace(episode, id=known, provenance=here))
                    taken[name] += 1
        if not taken:
            raise SetupError(
                f"{run} holds no success, on a seed for training, at one of the {len(names)} tasks"
                " to learn on; collect or record some, or leave --demonstrated out"
            )
        session.store.put_state(taken_key, taken.total())
    for episode in session.store.trajectories(
        arm=SHARED, repeat=session.repeat, phase="demonstrate"
    ):
        tries, successes = state.shown.get(episode.task.name, (0, 0))
        state.shown[episode.task.name] = tries + 1, successes + 1
        state.demonstrations.append(episode)
        state.success[episode.id] = 1.0


async def _shown(
    session: Session, state: ArmState, plan: Sequence[PlannedEpisode], stage: str
) -> None:
    """Play the built-in scripted solutions; the state keeps the requested number of successes."""
    episodes = await play_episodes(session.player, plan, OraclePolicy(), stage)
    for trajectory, success in zip(
        episodes, await score_episodes(session.player, episodes), strict=True
    ):
        name = trajectory.task.name
        tries, successes = state.shown.get(name, (0, 0))
        state.shown[name] = tries + (success is not None), successes + bool(success)
        if success and successes < session.config.demonstrating.demonstrations:
            state.demonstrations.append(trajectory)
            state.success[trajectory.id] = 1.0


async def recall(session: Session, state: ArmState, round: int) -> None:
    """Load the state of the arm `weights_of` after a round, with all its experience."""
    arm, repeat = session.arm.weights_of, session.repeat
    await demonstrate(session, state)
    state.experience = list(session.store.trajectories(arm=arm, repeat=repeat, phase="collect"))
    await judge(session, state, state.experience)
    await state.learner.learn(state, arm, round)


def sample_tasks(session: Session, state: ArmState, round: int) -> list[Task]:
    """Return the tasks of a round, as many as it has steps: those that are not mastered, on fresh
    training seeds, some derived from earlier attempts."""
    rng = np.random.default_rng([session.repeat, round])
    used = Counter({name: FIRST_FRESH for name in session.names})
    outcomes: dict[str, list[bool]] = {name: [] for name in session.names}
    attempts: dict[str, TriedTask] = {}
    for trajectory in state.experience:
        task, success = trajectory.task, state.succeeded(trajectory)
        used[task.name] = max(used[task.name], task.seed + 1)
        is_judged = state.success.get(trajectory.id) is not None
        # Variants are easier or harder than the task, so that they say nothing of it.
        if is_judged and not task.parent and task.name in outcomes:
            outcomes[task.name].append(success)
        key = start_key(task)
        old = attempts.get(key, TriedTask(task, 0, 0))
        attempts[key] = replace(old, tries=old.tries + 1, successes=old.successes + success)
    steps = session.config.steps
    variants = curriculum.make_variants(session.suite, list(attempts.values()), steps, rng)
    return curriculum.sample_tasks(session.suite, outcomes, steps, used, variants, rng)


async def practise(
    session: Session, state: ArmState, tasks: Sequence[Task], round: int
) -> tuple[list[Trajectory], list[float | None]]:
    """Play the tasks in the browser, with exploration, until the round's real steps are spent;
    return the episodes and the ground truth about each.

    They are played in waves: judged episodes are remembered before the next wave, in an order that
    does not depend on which episode ended first.
    """
    config, learner = session.config, state.learner
    tasks = [task for task in tasks for _ in range(config.samples)]
    plan = plan_episodes(tasks, session.provenance("collect", round))
    policy = learner.policy("collect")
    remembers = isinstance(learner, RemembersAtOnce)
    size = WAVE * config.samples if remembers else max(len(plan), 1)
    budget = StepBudget(config.steps)
    episodes: list[Trajectory] = []
    truth: list[float | None] = []
    for start in range(0, len(plan), size):
        wave = plan[start : start + size]
        played = await play_episodes(session.player, wave, policy, "collect", budget, len(episodes))
        is_first = not any(map(state.succeeded, state.experience))
        state.experience.extend(played)
        truth += await judge(session, state, played)
        if is_first and (passed := next(filter(state.succeeded, played), None)):
            goal = passed.steps[0].observation.goal if passed.steps else passed.task.goal
            session.report(NEWS, 1.0, f"first success: {passed.task.name}, {goal!r:.80}")
        if isinstance(learner, RemembersAtOnce):
            learner.remember(state, played)
        episodes += played
        if budget.is_used_up:
            break
    if plan and not episodes:
        least, given = plan[0].task.max_steps, config.steps
        note = f"nothing played: {plan[0].task.name} may take {least} steps, --steps is {given}"
        session.report("collect", 1.0, note)
    return episodes, truth


async def judge(
    session: Session, state: ArmState, episodes: Sequence[Trajectory]
) -> list[float | None]:
    """Store the verdict that the loop uses for each episode: its checks', or the named judge's.
    The ground truth is stored next to it either way, and returned."""
    truth = await score_episodes(session.player, episodes)
    verdicts = truth
    if session.judge is not None and episodes:
        session.report("judge", 0.0, f"{len(episodes)} episodes")
        place = episodes[0].provenance
        arm = f"{place.arm}:{session.repeat}"
        verdicts = await session.judge.judge_round(episodes, arm, place.round)
    state.success |= {t.id: value for t, value in zip(episodes, verdicts, strict=True)}
    return truth


def learn_world(state: ArmState) -> None:
    """Remember all real transitions."""
    memory = RememberedWorld()
    memory.learn(transitions([*state.demonstrations, *state.experience], state.success))
    memory.study()
    state.world = memory


def record_learning(session: Session, state: ArmState, round: int) -> None:
    """Store what a round was trained on: the judge, the numbers of episodes and of imagined
    ones."""
    store, arm, repeat = session.store, session.arm.name, session.repeat
    values = [state.success.get(t.id) for t in state.experience if t.provenance.round == round]
    judged = [value >= 0.5 for value in values if value is not None]
    named = session.judge
    judge = named.evaluator.id if named else HEADLINE.id
    dreams = store.entries(arm=arm, repeat=repeat, round=round, phase="imagine")
    silent = ""
    if named and values and not judged:
        found = store.scores(arm=arm, repeat=repeat, round=round, phase="collect").values()
        reasons = Counter(s.reason for each in found for s in each if s.evaluator == judge)
        silent = reasons.most_common(1)[0][0] if reasons else "its model failed"
    known = {*session.proposed, *session.split.proposed}
    noted: dict[str, Json] = {
        "judge": judge,
        "collected": len(values),
        "played": sum(
            t.provenance.round == round and t.task.name in known for t in state.experience
        ),
        "succeeded": sum(judged),
        "unjudged": len(values) - len(judged),
        "silent": silent,
        "dreamt": len(dreams),
        "dreams_kept": len(state.dreams),
        "demonstrations": len(state.demonstrations),
        "successes": sum(map(state.succeeded, state.experience)),
    }
    refused = [
        [str(each["rule"]) for each in find_violations(t)]
        for t in state.experience
        if t.provenance.round == round
    ]
    noted["violations"] = dict(Counter(rule for rules in refused for rule in rules))
    noted["violating"] = sum(map(bool, refused))
    store.put_state(f"{LEARNING}:{arm}:{repeat}:{round}", noted)


def find_violations(trajectory: Trajectory) -> list[dict[str, Json]]:
    """Return what the agent tried in an episode and the guard refused, as the evidence has it; what
    a page tried by itself is not among it."""
    guard = trajectory.evidence.get("guard")
    refusals = guard.get("refusals") if isinstance(guard, dict) else None
    found = refusals if isinstance(refusals, list) else []
    return [each for each in found if isinstance(each, dict) and each.get("where") == "action"]


async def evaluate(session: Session, state: ArmState, round: int) -> None:
    """Play held-out seeds without exploration, and store the frozen judge's scores."""
    config = session.config
    is_full = round in (0, config.rounds)
    tasks = [
        session.suite.task(name, index, config.evaluation.split)
        for index in config.seeds_measured(session.suite.is_seeded, between=not is_full)
        for name in session.split.measured
    ]
    plan = plan_episodes(tasks, session.provenance("evaluate", round))
    plain, acts_by = state.learner.policy("measure"), session.arm.acts_by
    choice = session.config.lookahead
    if acts_by == "policy":
        policy = plain
    elif acts_by == "best_of_k":
        vote = Vote(state.learner.policy("vote"), choice.candidates)
        policy = Reranked(plain, vote, acts_by, Gate(choice.candidates))
    else:
        world = build_world(session, state) if acts_by == "lookahead" else None
        gate, judge = Gate(choice.candidates), session.outcome_judge
        policy = LookAhead(world, gate, choice.steps_ahead, judge)(plain, session.ledger)
    episodes = await play_episodes(session.player, plan, policy, f"measure {round}")
    known = [value for value in await score_episodes(session.player, episodes) if value is not None]
    solved = f"{sum(known):.0f} of {len(known)} {config.evaluation.split} episodes succeed"
    session.report(NEWS, 1.0, f"round {round}: {solved}")


def track_round(session: Session, round: int) -> None:
    """Send a round's figures to the trackers, once."""
    names, store = session.config.fit.track, session.store
    arm, repeat = session.arm.name, session.repeat
    sent = f"tracked:{arm}:{repeat}:{round}"
    if not names or store.get_state(sent):
        return
    at: Where = {"arm": arm, "repeat": repeat, "round": round, "phase": "evaluate"}
    judge = read_judge_id(store)
    values = [
        score.value
        for found in store.scores(**at).values()
        for score in found
        if score.name == "success" and score.evaluator.startswith(judge)
    ]
    known = [value for value in values if value is not None]
    figures: dict[str, float] = {"episodes": len(known)} if known else {}
    if known:
        figures["success"] = sum(known) / len(known)
    at["phase"] = "collect"
    figures["real_steps"] = store.count_real_steps(**at)
    figures |= session.read_costs(round)
    session.trackers.log({f"round/{name}": value for name, value in figures.items()}, round)
    store.put_state(sent, list(names))
