"""The learner: what one arm knows, and how each of its three models is trained on it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from evaluators.reward.builtin import RewardModel, calibrate_judge
from webagent.memory import Memory
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.policy.remembering import remember_judged
from webagent.records import Trajectory
from webagent.training.fit import FitConfig, FitReport, fit
from webagent.training.rows import TrainingRow, grow_vocabulary, make_avoided_rows, make_policy_rows
from worldmodel.model import WorldModel
from worldmodel.transitions import transitions
from worldmodel.trust import is_held_back

Progress = Callable[[float, float], None]

UNCERTAIN = 0.3
"""Success rate below which a task's random actions are worth imitating when they led to success."""
AVOIDANCE = 0.3
"""Weight of making the action that ended an episode in failure less likely."""


@dataclass(slots=True)
class Learner:
    """Models and experience of one arm in one repeat."""

    policy: BuiltinModel
    memory: Memory | None = None
    """What it remembers of demonstrations and judged successes; None where memory is off."""
    unsaid: Counter[str] = field(default_factory=Counter)
    """Steps that the network's latest training left out, having no way to say them, by
    operation."""
    world: WorldModel | None = None
    reward: RewardModel | None = None
    judge: RewardModel | None = None
    """The judge an arm trains on its own verdicts, where the checks are not to be seen."""
    frozen: RewardModel | None = None
    """The judge as it was before the first round; never trained."""
    actor: BuiltinModel | None = None
    """The policy as it was before the first round; judges ask how likely it finds what was done."""
    demonstrations: list[Trajectory] = field(default_factory=list)
    shown: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By task: how often a demonstrator tried it, and how often it succeeded."""
    labelled: list[Trajectory] = field(default_factory=list)
    """Real episodes whose true outcome the loop was told, for its first judge."""
    experience: list[Trajectory] = field(default_factory=list)
    """Real episodes collected so far, failures included."""
    dreams: list[Trajectory] = field(default_factory=list)
    """Imagined episodes believed to be successes, of the latest round only."""
    hidden: frozenset[str] = frozenset()
    """Tasks whose checks the loop may not see."""
    success: dict[str, float | None] = field(default_factory=dict)
    """What the loop's judge said, by episode id."""

    def succeeded(self, trajectory: Trajectory) -> bool:
        """Whether the loop's judge passed it."""
        return (self.success.get(trajectory.id) or 0.0) >= 0.5

    def rate(self, task: str) -> float:
        """Success rate of a task over the latest round it was tried in; 1 when never tried."""
        tries = [t for t in self.experience if t.task.name == task]
        latest = max((t.provenance.round for t in tries), default=0)
        tries = [t for t in tries if t.provenance.round == latest]
        return sum(map(self.succeeded, tries)) / len(tries) if tries else 1.0


def train_policy(
    learner: Learner, config: FitConfig, imagined_share: float, progress: Progress
) -> FitReport:
    """Imitate demonstrations, judged successes and believed dreams, every task as much.

    With nothing to imitate yet, as without demonstrations in the first round, nothing is done.
    """
    successes = [t for t in learner.experience if learner.succeeded(t)]
    grow_vocabulary(learner.policy.vocabulary, [*learner.demonstrations, *successes])
    grammar = ActionGrammar(Codec(learner.policy.vocabulary))
    unsaid = learner.unsaid = Counter()
    rows = [
        row for t in learner.demonstrations for row in make_policy_rows(grammar, t, unsaid=unsaid)
    ]
    for trajectory in successes:
        is_uncertain = learner.rate(trajectory.task.name) < UNCERTAIN
        rows += make_policy_rows(grammar, trajectory, imitate_random=is_uncertain, unsaid=unsaid)
    for trajectory in learner.experience:
        if not learner.succeeded(trajectory) and trajectory.id in learner.success:
            rows.extend(make_avoided_rows(grammar, trajectory, AVOIDANCE))
    dreamt = [row for t in learner.dreams for row in make_policy_rows(grammar, t)]
    rows.extend(capped(dreamt, len(rows), imagined_share, config.seed))
    if not rows:
        return FitReport(0, 0, 0.0, 0.0, passes=0.0, loss=0.0)
    return fit(learner.policy.network, rows, config, progress)


def train_memory(learner: Learner, seed: int) -> None:
    """Remember demonstrations and what was judged since, and learn from the former and from the
    successes when to trust what is remembered."""
    if learner.memory is None:
        return
    for trajectory in learner.demonstrations:
        learner.memory.remember(trajectory)
    judged = [t for t in learner.experience if t.id in learner.success]
    remember_judged(learner.memory, ((t, learner.success[t.id]) for t in judged))
    learner.memory.learn([*learner.demonstrations, *filter(learner.succeeded, judged)], seed)


def train_world(learner: Learner, model: WorldModel, config: FitConfig, progress: Progress) -> None:
    """Learn what pages do from real transitions, failures included and weighted up."""
    episodes = _trained_on(learner)
    grow_vocabulary(model.model.vocabulary, episodes)
    rows = model.rows(transitions(episodes, learner.success), failure_weight=2.0)
    fit(model.model.network, rows, config, progress)
    learner.world = model


def train_reward(
    learner: Learner, model: RewardModel, config: FitConfig, progress: Progress
) -> None:
    """Learn to tell success from failure on episodes whose outcome is known, not believed."""
    demonstrated = len(learner.demonstrations)
    episodes = [
        episode
        for place, episode in enumerate(_trained_on(learner))
        if place < demonstrated or episode.task.name not in learner.hidden
    ]
    grow_vocabulary(model.model.vocabulary, episodes)
    fit(model.model.network, model.rows(episodes, learner.success), config, progress)
    learner.reward = model


def train_judge(
    learner: Learner, network: BuiltinModel, config: FitConfig, progress: Progress
) -> RewardModel:
    """Learn to tell success from failure from what was told and what was believed since.

    A third of what was told is kept for the calibration, which draws the line at one false
    positive in twenty.
    """
    # Every third seed of a task is kept for the calibration.
    kept = [t for t in learner.labelled if t.task.seed % 3 == 0]
    episodes = [*learner.demonstrations, *learner.labelled, *learner.experience]
    taught = [t for t in episodes if t not in kept]
    grow_vocabulary(network.vocabulary, taught)
    rows = RewardModel(network).rows(taught, learner.success, seed=config.seed)
    fit(network.network, rows, config, progress)
    judge = RewardModel(network, actor=learner.actor)
    known = [t for t in kept if t.steps and learner.success.get(t.id) is not None]
    labels = [learner.succeeded(t) for t in known]
    if len(set(labels)) < 2:
        return judge
    return calibrate_judge(judge, known, labels)


def _trained_on(learner: Learner) -> list[Trajectory]:
    """All real episodes but those held back to check the world model against."""
    return learner.demonstrations + [t for t in learner.experience if not is_held_back(t)]


def capped(dreamt: Sequence[TrainingRow], real: int, share: float, seed: int) -> list[TrainingRow]:
    """As many imagined rows as make up at most `share` of all rows, drawn at random."""
    most = int(real * share / (1 - share))
    order = np.random.default_rng(seed).permutation(len(dreamt))[:most]
    return [dreamt[int(i)] for i in order]
