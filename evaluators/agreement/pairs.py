"""What an evaluator said beside what people said, episode by episode."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evaluators.labels import Label
from webagent.errors import SetupError, unknown_name

RULES = ("majority", "first", "unanimous")


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled episode with an evaluator's value of it."""

    episode: str
    truth: bool
    """What people said."""
    value: float | None
    """What the evaluator said, in [0, 1]; None where it abstained."""
    task: str = ""
    """Episodes of one task succeed and fail together; empty where each is its own."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Such as `benchmark` and `agent`, by which figures may be told apart."""

    @property
    def cluster(self) -> str:
        """What is drawn as one when episodes are resampled."""
        return f"task {self.task}" if self.task else f"episode {self.episode}"


@dataclass(frozen=True, slots=True)
class Truths:
    """What people's labels come to."""

    values: Mapping[str, bool]
    """By episode."""
    labels: Mapping[str, Label]
    """One label of each of those episodes, for its task and groups."""
    disputed: tuple[str, ...] = ()
    """Episodes on which people do not agree enough to count."""
    unsure: tuple[str, ...] = ()
    """Episodes of which nobody was sure."""


def truths(labels: Iterable[Label], rule: str = "majority") -> Truths:
    """One truth for each episode from the labels of one score.

    `majority`: of those that were sure, with a tie left out as disputed; `first`: of the annotator
    that comes first, as AgentRewardBench takes it; `unanimous`: disputed unless all say the same. A
    label of exactly one half is one that is not sure. Raises `SetupError` for another rule.
    """
    if rule not in RULES:
        raise unknown_name("rule for several annotators", rule, RULES)
    given: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        given[label.episode].append(label)
    if len({label.score for episode in given.values() for label in episode}) > 1:
        raise SetupError("labels of several scores cannot be one truth; choose those of one score")
    values: dict[str, bool] = {}
    disputed, unsure = [], []
    for episode, theirs in given.items():
        sure = [one.value > 0.5 for one in theirs if one.value is not None and one.value != 0.5]
        if not sure or (rule == "first" and theirs[0].value in (None, 0.5)):
            unsure.append(episode)
            continue
        ayes = sum(sure)
        if rule == "first":
            values[episode] = sure[0]
        elif 2 * ayes == len(sure) or (rule == "unanimous" and ayes not in (0, len(sure))):
            disputed.append(episode)
        else:
            values[episode] = 2 * ayes > len(sure)
    firsts = {episode: given[episode][0] for episode in values}
    return Truths(values, firsts, tuple(disputed), tuple(unsure))


def paired(values: Mapping[str, float | None], truth: Truths) -> list[Pair]:
    """The episodes that are both labelled and judged, in the order of the labels."""
    pairs = []
    for episode, is_success in truth.values.items():
        if episode not in values:
            continue
        label = truth.labels[episode]
        named = {"benchmark": label.benchmark, "agent": label.agent, "task": label.task}
        groups = {name: value for name, value in named.items() if value}
        task = "/".join(part for part in (label.benchmark, label.task) if part)
        pairs.append(Pair(episode, is_success, values[episode], task if label.task else "", groups))
    return pairs
