"""Which learner a run has, by the name of its policy."""

from loop.learners.state import Learner
from loop.measurement.settings import contestant
from loop.presets import PRESETS
from loop.session import Session
from loop.settings import ImproveConfig
from loop.training.settings import WeightSettings
from webagent.errors import UsageError, unknown_name
from webagent.observation.variants import variant_named

LEARNERS = ("builtin", "local:FOLDER", "endpoint")
_COMPARING = ("dpo", "grpo")
"""Objectives that learn nothing from one episode of a task and seed."""


def make_learner(session: Session) -> Learner:
    """Return the learner of a session, which has learnt nothing yet."""
    if session.config.learner == "builtin":
        from loop.learners.builtin import BuiltinLearner

        return BuiltinLearner(session)
    large: Learner
    if session.config.learner == "endpoint":
        from loop.learners.knowledge import KnowledgeLearner

        large = KnowledgeLearner(session)
    else:
        from loop.learners.language import LanguageLearner

        large = LanguageLearner(session)
    if not session.config.student.student:
        return large
    from loop.learners.student import StudentLearner

    return StudentLearner(session, large)


def check_learner(config: ImproveConfig) -> None:
    """Find what is wrong with the settings of who learns. Raises `SetupError`."""
    kind = config.learner
    if kind not in {name.partition(":")[0] for name in LEARNERS}:
        raise unknown_name("policy to improve", config.model.policy, LEARNERS)
    variant_named(config.prompting.observation)
    every = config.evaluation.evaluate_every
    if min(config.samples, every) < 1:
        raise UsageError(
            f"--samples {config.samples} --evaluate-every {every}: at least 1 of each is needed"
        )
    config.student.check(config.model.policy)
    if config.replay and config.weights.objective != "grpo":
        raise UsageError(
            f"--replay goes with --objective grpo; {config.weights.objective} learns from all"
            " rounds or compares episodes of one"
        )
    if kind == "builtin":
        if config.prompting.site_memory is not None:
            raise UsageError(
                "--site-memory is for language models; the built-in policy has a memory of its own"
            )
        if config.actions:
            raise UsageError(
                "--actions is for language models; the built-in policy learns what to do"
            )
        return
    contestant(config.played).check()
    config.weights.check()
    objective = config.weights.objective
    usual = PRESETS[config.preset].weights if config.preset in PRESETS else WeightSettings()
    if kind == "endpoint" and config.weights not in (usual, WeightSettings()):
        raise UsageError(
            "--policy endpoint has no weights to train; leave --objective, --lora and what belongs"
            " to them out, or name weights with --policy local:FOLDER"
        )
    if objective in _COMPARING and config.samples < 2:
        raise UsageError(
            f"--objective {objective} compares episodes of one task with each other; give"
            " --samples 4, say"
        )
