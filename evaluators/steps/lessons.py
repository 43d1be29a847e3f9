"""What trainers take from a judgement of steps: labels, weights and rewards."""

from evaluators.steps.judgement import StepJudgement


def step_labels(judgement: StepJudgement) -> dict[int, bool]:
    """Whether a step is to be imitated, by index; what is open is left out.

    For `labels` of `webagent.training.language.selection.step_weights`, which judges by its own
    rules where nothing is said.
    """
    return {
        index: not (step.is_error or step.is_redundant or step.label == "incorrect")
        for index, step in enumerate(judgement.steps)
        if step.label is not None or step.is_redundant
    }


def step_weights(judgement: StepJudgement) -> tuple[float, ...]:
    """How much imitation counts each step: 0 for mistakes and for what could be left out, else 1.

    For `weights` of `webagent.training.language.rows.step_rows`.
    """
    labels = step_labels(judgement)
    return tuple(float(labels.get(index, True)) for index in range(len(judgement.steps)))


def step_rewards(judgement: StepJudgement, outcome: float) -> tuple[float, ...]:
    """A reward for each step, all of them adding up to the episode's outcome.

    Each step has its progress, an open one nothing, and what is then missing from the outcome is
    spread over all steps alike (as RUDDER does, arXiv 1806.07857). So a judgement that abstains
    gives every step the same, which is what an episode's outcome alone says. For
    `webagent.training.language.advantages.step_advantages`.
    """
    progress = [step.progress or 0.0 for step in judgement.steps]
    rest = (outcome - sum(progress)) / len(progress) if progress else 0.0
    return tuple(made + rest for made in progress)
