"""How a task went, round by round, written down in a line."""

from tasks.curriculum import TaskRecord, TryOutcome


def course(*rounds: tuple[int, int], steps: int = 3) -> TaskRecord:
    """Rounds from 1 on, each as (successes, tries), in order of successes first."""
    found = TaskRecord()
    for number, (successes, tries) in enumerate(rounds, 1):
        for i in range(tries):
            outcome = TryOutcome.SUCCESS if i < successes else TryOutcome.FAILURE
            found = found.with_try(number, outcome, steps)
    return found
