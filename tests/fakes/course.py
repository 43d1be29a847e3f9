"""How a task went, round by round, written down in a line."""

from tasks.curriculum import Outcome, Record


def course(*rounds: tuple[int, int], steps: int = 3) -> Record:
    """Rounds from 1 on, each as (successes, tries), in order of successes first."""
    found = Record()
    for number, (successes, tries) in enumerate(rounds, 1):
        for i in range(tries):
            outcome = Outcome.SUCCESS if i < successes else Outcome.FAILURE
            found = found.and_one(number, outcome, steps)
    return found
