"""What a run's store notes beside its episodes: trainings, rounds, proposals and the judge."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.rules import checks_hold
from webagent.records import Score
from webagent.store import Store

TRAINING = "training"
"""`training:ARM:REPEAT` stores the notes on a training."""
LEARNING = "learning"
"""`learning:ARM:REPEAT:ROUND` stores what a round was trained on."""
PROPOSED = "proposed"
"""`proposed:ARM:REPEAT:ROUND` stores the proposals before a round; in the folder of this name,
`ARM-REPEAT/ROUND-PLACE` is the run that proposed them."""
JUDGE = "benchmark:judge"
"""Key of the judge's id, if it is not the rules."""


def read_judge_id(store: Store) -> str:
    """Return the id of the judge of this run: by default the rules over evidence."""
    return str(store.get_state(JUDGE) or checks_hold().id)


def choose_judge(named: str, scores: Mapping[str, Sequence[Score]]) -> str:
    """Return the start of the id of the judge whose verdicts count: the one the run names, else the
    one with most verdicts."""
    given = Counter(
        score.evaluator for each in scores.values() for score in each if score.name == "success"
    )
    if not given or any(evaluator.startswith(named) for evaluator in given):
        return named
    return min(given, key=lambda evaluator: (-given[evaluator], evaluator))


def find_headline(scores: Sequence[Score], judge: str) -> Score | None:
    """Return what the judge whose id begins so says of an episode's success."""
    named = (s for s in scores if s.name == "success" and s.evaluator.startswith(judge))
    return next(named, None)


def read_warnings(store: Store) -> list[str]:
    """Return the warnings of trainings: a sentence for each arm and repeat."""
    warnings = []
    for key, state in store.states(f"{TRAINING}:").items():
        _, arm, repeat = key.split(":")
        warnings.append(f"{arm}, repeat {repeat}: {state}")
    return warnings


def read_rounds(store: Store, kind: str) -> dict[tuple[str, int, int], dict[str, Any]]:
    """Return the notes of each round under a key of this kind, by arm, repeat and round."""
    found = {}
    for key, state in store.states(f"{kind}:").items():
        _, arm, repeat, number = key.split(":")
        if isinstance(state, dict):
            found[arm, int(repeat), int(number)] = dict(state)
    return found
