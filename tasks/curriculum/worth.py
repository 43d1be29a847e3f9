"""Worths: what each task may teach in the next round, and what a try of it costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.curriculum.belief import Belief
from tasks.curriculum.blame import excused
from tasks.curriculum.curve import prospects
from tasks.curriculum.kinds import Kind, alike
from tasks.curriculum.record import Record
from tasks.curriculum.standing import Rules, Standing, standing_of, validity_of

TAUGHT, UNTAUGHT = 0.6, 0.2
"""What a success rate is taken to be where nothing was tried: of tasks whose demonstrations the
policy was trained on, and of others."""
PRIOR_TRIES = 2.0
"""How many tries what is known of similar tasks counts for."""
_MOST_CERTAIN = 0.95
"""A prior mean is never further from a half than this."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What the curriculum knows of a task before a round."""

    name: str
    record: Record
    belief: Belief
    validity: float
    doubt: str
    """Why the validity is not 1; empty where it is."""
    standing: Standing
    cost: float
    """Steps that a try takes, as far as is known."""
    gain: float
    """Validity × what a try is expected to add to the success rate, in [0, 1]."""

    @property
    def rate(self) -> float:
        """What a step is expected to add to the success rate."""
        return self.gain / self.cost

    @property
    def value(self) -> float:
        """Validity × E[p (1 - p)], in [0, 1]."""
        return self.validity * self.belief.value


def worths_of(
    kinds: Mapping[str, Kind],
    records: Mapping[str, Record],
    costs: Mapping[str, float],
    now: int,
    rules: Rules,
) -> dict[str, Worth]:
    """The worth of each task before round `now`; `costs` has the steps a try may take at most."""
    records = excused(records)
    empty = Record()
    peers = alike(kinds)
    found = {}
    expected = prospects(kinds, records)
    for name in kinds:
        record = records.get(name, empty)
        groups = [[records.get(n, empty) for n in group] for group in peers[name]]
        prior = _prior(TAUGHT if kinds[name].is_demonstrated else UNTAUGHT, groups, now, rules)
        validity, doubt = validity_of(record, rules)
        found[name] = Worth(
            name=name,
            record=record,
            belief=prior.and_seen(*record.evidence(now, rules.keep)),
            validity=validity,
            doubt=doubt,
            standing=standing_of(record, now, rules),
            cost=_cost(record, costs[name]),
            gain=validity * expected[name].gain,
        )
    return found


def _prior(start: float, groups: Sequence[Sequence[Record]], now: int, rules: Rules) -> Belief:
    """What similar tasks say: their success rate, each group as much, counted as two tries.

    Where they were not tried either, the mean is `start`.
    """
    untried = Belief(PRIOR_TRIES * start, PRIOR_TRIES * (1 - start))
    means = []
    for group in groups:
        evidence = [record.evidence(now, rules.keep) for record in group]
        known = untried.and_seen(sum(s for s, _ in evidence), sum(f for _, f in evidence))
        means.append(known.mean)
    mean = sum(means) / len(means) if means else start
    mean = min(max(mean, 1 - _MOST_CERTAIN), _MOST_CERTAIN)
    return Belief(PRIOR_TRIES * mean, PRIOR_TRIES * (1 - mean))


def _cost(record: Record, most: float) -> float:
    """Mean steps of a try, the most it may take counted in once; at least 1."""
    steps = sum(played.steps for played in record.rounds)
    return max(1.0, (steps + most) / (record.all_tries + 1))
