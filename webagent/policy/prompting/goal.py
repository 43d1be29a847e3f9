"""The goal with the pictures that belong to it: attached where the model looks, else named."""

from contextlib import suppress

from tasks.task import Task
from webagent.errors import StoreError
from webagent.policy.prompting.sight import Picture, Sight
from webagent.policy.prompting.wording import line

_LONGEST_NAME = 120


def pictured(goal: str, task: Task, sight: Sight) -> tuple[str, tuple[Picture, ...]]:
    """The goal with a word on its pictures, and those that are attached, before all others."""
    if not task.images:
        return goal, ()
    shown: dict[str, Picture] = {}
    for name in task.images if sight.images else ():
        with suppress(StoreError):
            shown[name] = sight.goal_picture(name)
    unseen = [name for name in task.images if name not in shown]
    said = []
    if shown:
        said.append(f"Pictures that belong to the task, attached first: {_listed(list(shown))}.")
    if unseen:
        said.append(f"Pictures that belong to the task but are not shown: {_listed(unseen)}.")
    return "\n".join([goal, "", *said]), tuple(shown.values())


def _listed(names: list[str]) -> str:
    short = [line(name)[-_LONGEST_NAME:] for name in names]
    return ", ".join(f"{place}. {name}" for place, name in enumerate(short, start=1))
