"""The built-in learner: the small network trained anew every round, and the memory beside it."""

import math
from collections import Counter
from collections.abc import Sequence

from loop.learners.state import ArmState, Purpose
from loop.notes import TRAINING
from loop.session import SHARED, Session, TrainingProgress
from webagent.memory import Memory, MemoryMismatch
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.policy.builtin import BuiltinPolicy
from webagent.policy.remembering import MEMORY, Exploration, is_example, remember_judged
from webagent.records import Trajectory
from webagent.rollout import Batcher
from webagent.training.fit import FitConfig, FitReport, fit
from webagent.training.rows import grow_vocabulary, make_avoided_rows, make_policy_rows

UNCERTAIN = 0.3
"""Success rate below which a task's random actions are worth imitating when they led to success."""
AVOIDANCE = 0.3
"""Weight of making the action that ended an episode in failure less likely."""
FEW_PASSES, ENOUGH_PASSES = 5, 15
"""Over the demonstrations: with 15 a policy learnt 40 % of 42 MiniWoB++ tasks, with 1.7 none of
Fossil's (docs/log/2026-11.md)."""

RANDOM_SHARE = 0.1
"""Share of random actions where the policy explores during collection."""

TOKENS = 500_000
"""Prompt and target tokens of a training where no others are given."""


class BuiltinLearner:
    """Imitates demonstrations and judged successes, and remembers them."""

    def __init__(self, session: Session, model: BuiltinModel | None = None) -> None:
        self._session = session
        self.model = model or BuiltinModel.create(session.repeat)
        self.memory: Memory | None = None
        """What it remembers of demonstrations and judged successes; None where memory is off."""
        self.unsaid = Counter[str]()
        """Steps that the latest training left out, having no way to say them, by operation."""

    async def learn(self, state: ArmState, arm: str, round: int) -> None:
        """Train network and memory on what the arm may learn from, or load what that gave; a memory
        that another version wrote is built again from the run's episodes."""
        session = self._session
        if not session.folder.has_weights(arm, session.repeat, round):
            tokens = session.config.round_tokens if round else session.config.base_tokens
            stage = "policy" if round else "first training"
            report = self.train(
                state, session.fit_config(tokens or TOKENS, round), session.report_loss(stage)
            )
            session.charge(round, report)
            if arm == SHARED:
                self.report_first_training(report)
            session.folder.save(self.model, arm, session.repeat, round, "policy")
        self.model = session.folder.load(arm, session.repeat, round, "policy")
        is_fixed = round and session.arm.learns_from != "experience"
        if is_fixed or session.config.memory == "off":
            return
        key = (arm, session.repeat, round, MEMORY)
        if session.folder.has_weights(*key):
            try:
                self.memory = Memory.load(session.folder.weights(*key))
                return
            except MemoryMismatch as error:
                session.report("memory", 1.0, f"built again: {error}")
        self.memory = self.memory or Memory()
        self.memory.remember_all(state.demonstrations)
        judged = [t for t in state.experience if t.id in state.success]
        remember_judged(self.memory, ((t, state.success[t.id]) for t in judged))
        shown = [*state.demonstrations, *filter(state.succeeded, judged)]
        self.memory.learn(shown, 1000 * session.repeat + round)
        if not self.memory.has_prior and not all(map(self.memory.has_examples, session.names)):
            # Demonstrations alone: own successes would teach what exploring happened to find.
            self.memory.learn_prior(state.demonstrations, 1000 * session.repeat + round)
        session.folder.save(self.memory, *key)
        session.report("memory", 1.0, f"{len(self.memory)} steps remembered")

    def policy(self, purpose: Purpose) -> BuiltinPolicy:
        """Return the network, with the memory in front of it where there is one."""
        config = self._session.config
        exploration = {"measure": None, "vote": Exploration(1.0, 0.0)}.get(
            purpose, Exploration(config.exploring_temperature, RANDOM_SHARE, where_failed=True)
        )
        return BuiltinPolicy(
            self.model, exploration=exploration, batched=Batcher, memory=self.memory
        )

    def remember(self, state: ArmState, episodes: Sequence[Trajectory]) -> None:
        """Take judged episodes into the memory, where there is one."""
        if self.memory is not None:
            remember_judged(self.memory, ((t, state.success.get(t.id)) for t in episodes))

    async def close(self) -> None:
        """Hold nothing that would have to be given back."""

    def train(self, state: ArmState, config: FitConfig, progress: TrainingProgress) -> FitReport:
        """Imitate demonstrations and judged successes, every task as much.

        With nothing to imitate yet, as without demonstrations in the first round, nothing is done.
        """
        successes = [t for t in state.experience if is_example(t, state.success.get(t.id))]
        grow_vocabulary(self.model.vocabulary, [*state.demonstrations, *successes])
        grammar = ActionGrammar(Codec(self.model.vocabulary))
        unsaid = self.unsaid = Counter[str]()
        rows = [
            row for t in state.demonstrations for row in make_policy_rows(grammar, t, unsaid=unsaid)
        ]
        for trajectory in successes:
            is_uncertain = state.rate(trajectory.task.name) < UNCERTAIN
            rows += make_policy_rows(
                grammar, trajectory, imitate_random=is_uncertain, unsaid=unsaid
            )
        for trajectory in state.experience:
            if not state.succeeded(trajectory) and trajectory.id in state.success:
                rows.extend(make_avoided_rows(grammar, trajectory, AVOIDANCE))
        if not rows:
            return FitReport(0, 0, 0.0, 0.0, passes=0.0, loss=0.0)
        return fit(self.model.network, rows, config, progress)

    def report_first_training(self, report: FitReport) -> None:
        """Report where the demonstrations were gone over too seldom to learn from them, and what of
        them the network has no way to say."""
        session, warnings = self._session, []
        if report.tokens and report.passes < FEW_PASSES:
            enough = ENOUGH_PASSES * report.tokens / report.passes
            warnings.append(
                f"the first training went over the demonstrations {report.passes:.1f} times, too"
                f" seldom to learn much from them; {ENOUGH_PASSES} times are --base-tokens"
                f" {math.ceil(enough / 100_000) * 100_000}"
            )
        if self.unsaid:
            ops = ", ".join(f"{op} {count}" for op, count in self.unsaid.most_common())
            warnings.append(
                f"the network has no way to say {self.unsaid.total()} demonstrated steps and was"
                f" not trained on them ({ops})"
                + ("; memory has them" if session.config.memory == "on" else "")
            )
        if warnings:
            session.store.put_state(f"{TRAINING}:{SHARED}:{session.repeat}", "; ".join(warnings))
            session.report("first training", 1.0, "; ".join(warnings))
