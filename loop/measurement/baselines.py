"""What takes no skill: doing nothing, giving up at once, and a blind replay of a success."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loop.folder import read_judge_id
from loop.measurement.scoring import HEADLINE
from loop.measurement.selection import TaskSelection
from loop.summary.context import GIVE_UP, NOTHING, PHASE, RECORDING, REPLAY
from tasks.task import Task
from webagent.action import Action, Answer, GiveUp
from webagent.policy.policy import Script, ScriptedPolicy, play_actions, replay_recording
from webagent.records import Ending, Observation, Provenance, Trajectory
from webagent.rollout import PlannedEpisode, plan_episodes
from webagent.store import Store

ORACLES = "oracles"
TRIES = 3
"""Seeds on which an oracle is tried until it has succeeded once."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Recordings:
    """Successes to replay, by the names of their tasks, and where they come from."""

    source: str
    by_task: Mapping[str, Trajectory]


def describe_replay(source: str, known: Collection[str], names: Sequence[str]) -> str:
    """Of which tasks there is a success to replay, in a sentence."""
    missing = [name for name in names if name not in known]
    if len(missing) == len(names):
        return (
            f"{REPLAY}: not played, {source} show no success of these tasks; give --replay RUN"
            " with episodes that went well"
        )
    if not missing:
        return f"{REPLAY}: of a success of each task that {source} show"
    more = f" and {len(missing) - _SHOWN} more" * (len(missing) > _SHOWN)
    return (
        f"{REPLAY}: of successes that {source} show; nothing to replay for {len(missing)} of"
        f" {len(names)} tasks ({', '.join(missing[:_SHOWN])}{more})"
    )


def is_infeasible(task: Task) -> bool:
    """Whether the right thing to do is to give up."""
    return "infeasible" in task.skills or any(
        check.rule.endswith("_unachievable")
        or (check.evidence == "episode.ending" and check.expected == str(Ending.GAVE_UP))
        for check in task.checks
    )


def plan_solutions(chosen: TaskSelection, names: Iterable[str], trial: int) -> list[PlannedEpisode]:
    """Episodes in which oracles show their tasks, on seeds that are not measured."""
    from benchmarks.oracles import ORACLES

    split = "train" if chosen.split == "development" else "development"
    tasks = [chosen.suite.task(name, trial, split) for name in names]
    known = [task for task in tasks if task.name in ORACLES]
    return plan_episodes(known, Provenance(arm="oracle", phase=RECORDING, round=trial))


def plan_baselines(
    chosen: TaskSelection, known: Collection[str], seeds: int
) -> list[PlannedEpisode]:
    """The episodes of all baselines, on the first seeds that are measured; a replay of the tasks
    that are `known`."""
    tasks = chosen.tasks(seeds)
    by_arm = {NOTHING: tasks}
    if any(map(is_infeasible, tasks)):
        by_arm[GIVE_UP] = tasks
    by_arm[REPLAY] = [task for task in tasks if task.name in known]
    return [
        entry
        for arm, own in by_arm.items()
        for entry in plan_episodes(own, Provenance(arm=arm, phase=PHASE))
    ]


def build_policy(recordings: Recordings) -> ScriptedPolicy:
    """Plays each episode as the baseline that its arm names."""
    scripts: dict[str, Script] = {
        NOTHING: play_actions([Answer("")]),
        GIVE_UP: play_actions([GiveUp("at once")]),
    }

    def script(trajectory: Trajectory, observation: Observation) -> Action | None:
        arm = trajectory.provenance.arm
        played = scripts.get(arm) or replay_recording(recordings.by_task[trajectory.task.name])
        return played(trajectory, observation)

    return ScriptedPolicy(script, source="script", name="baseline")


def find_recordings(run: Path, chosen: TaskSelection) -> Recordings:
    """The first success that a run holds of each task: on another seed, where tasks have seeds.

    Raises `StoreError` for a folder that is no run.
    """
    wanted = {task.id: task.name for task in chosen.tasks(1)}
    measured = {(task.id, task.seed) for task in chosen.tasks()} if chosen.suite.is_seeded else ()
    found: dict[str, Trajectory] = {}
    with Store.open(run) as store:
        judges = {read_judge_id(store), HEADLINE.id}
        successes = {
            episode
            for episode, scores in store.scores().items()
            if any(s.name == "success" and s.value == 1.0 and s.evaluator in judges for s in scores)
        }
        for entry in store.entries(world="browser"):
            name = wanted.get(entry.task, "")
            is_usable = entry.id in successes and (entry.task, entry.seed) not in measured
            if name and name not in found and is_usable and (played := store.load(entry.id)):
                found[name] = played
    return Recordings(f"the episodes of {run}", found)
