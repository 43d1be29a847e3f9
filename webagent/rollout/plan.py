"""What is to be played: tasks in order, each with the provenance that names its episode."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tasks.task import Task
from webagent.records import Provenance
from webagent.serialize import dumps, to_json


@dataclass(frozen=True, slots=True)
class Planned:
    """One episode to be played."""

    task: Task
    provenance: Provenance


def planned(tasks: Iterable[Task], provenance: Provenance) -> list[Planned]:
    """The tasks in order, numbered by `Provenance.index`."""
    return [Planned(task, replace(provenance, index=index)) for index, task in enumerate(tasks)]


def episode_id(task: Task, provenance: Provenance, attempt: int = 1) -> str:
    """The name of an episode: the same whenever and wherever the same plan is played.

    Made from the task's id and seed but not from its address, which may hold a port that changes
    from run to run.
    """
    named = dumps([task.id, task.seed, to_json(provenance)])
    return f"{hashlib.sha256(named).hexdigest()[:20]}-{attempt}"
