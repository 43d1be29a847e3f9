"""Every task counts as much in a round's training, however often it was drawn."""

from collections import Counter

from webagent.training.language.rows import TokenRow
from webagent.training.language.units import TrainingUnit, balance_units


def lesson(episode: str, *ids: int) -> TrainingUnit:
    """A unit of one row of these ids, the last one taught."""
    weights = (0.0,) * (len(ids) - 1) + (1.0,)
    return TrainingUnit((TokenRow(ids, weights, episode=episode),))


def test_a_task_that_was_drawn_seldom_counts_as_much_as_one_drawn_often() -> None:
    often = [lesson(f"often-{i}", 1, 2, i) for i in range(7)]
    seldom = [lesson("seldom-0", 5, 6, 7), lesson("seldom-1", 5, 6, 8)]
    tasks = {unit.rows[0].episode: unit.rows[0].episode.split("-")[0] for unit in often + seldom}
    balanced = balance_units([*often, *seldom], tasks)
    counts = Counter(unit.rows[0].episode for unit in balanced)
    assert all(counts[unit.rows[0].episode] == 1 for unit in often), "nothing is left out"
    assert (counts["seldom-0"], counts["seldom-1"]) == (4, 3), "the first ones once more"


def test_the_same_lesson_played_again_and_again_counts_once() -> None:
    same = [lesson(f"a-{i}", 1, 2, 3) for i in range(5)]
    balanced = balance_units([*same, lesson("a-5", 1, 2, 4)], {f"a-{i}": "a" for i in range(6)})
    assert [unit.rows[0].episode for unit in balanced] == ["a-0", "a-5"]
