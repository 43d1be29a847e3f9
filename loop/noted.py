"""What runs note beside their episodes, read without loading what made it."""

from typing import Any

from benchmarks.rules import checks_hold
from webagent.store import Store

CURRICULUM = "curriculum"
"""Under `curriculum:ARM:REPEAT:ROUND` lie the monitors of a round. The run folder has a folder of
the same name, in which `ARM-REPEAT/ROUND.jsonl` has a line for each episode played."""
TRAINING = "training"
"""Under `training:ARM:REPEAT` lies what there is to say of a training."""
JUDGE = "benchmark:judge"
"""Under it lies the id of whoever scores, where it is not the rules."""


def judge_in(store: Store) -> str:
    """The id of whoever scored this run: the rules over evidence where nobody else was named."""
    return str(store.get_state(JUDGE) or checks_hold().id)


def warnings_of(store: Store) -> list[str]:
    """What trainings and monitors warned of: a sentence for each arm and repeat, of the monitors'
    the last alone."""
    trained = []
    for key, state in store.states(f"{TRAINING}:").items():
        _, arm, repeat = key.split(":")
        trained.append(f"{arm}, repeat {repeat}: {state}")
    watched = {}
    for place, noted in monitors_of(store):
        if noted.get("warning"):
            watched[place] = f"{place[0]}, repeat {place[1]}: {noted['warning']}"
    return [*trained, *watched.values()]


def monitors_of(store: Store) -> list[tuple[tuple[str, int], dict[str, Any]]]:
    """What was noted of each round, by arm and repeat, in order of the rounds."""
    found = []
    for key, state in store.states(f"{CURRICULUM}:").items():
        _, arm, repeat, _ = key.split(":")
        if isinstance(state, dict):
            found.append(((arm, int(repeat)), dict(state)))
    return sorted(found, key=lambda one: (one[0], one[1]["round"]))
