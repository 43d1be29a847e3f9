"""A language model as reward model: how likely it finds yes, over no."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from evaluators.evaluator import FunctionEvaluator, Verdict
from webagent.action import Answer, GiveUp
from webagent.errors import ModelError, SetupError
from webagent.models.model import Constraint, Message, Model
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.records import Trajectory
from webagent.training.language.rows import Encoded, TokenRow, make_encoded_row
from webagent.training.language.texts import NO, YES, format_turns, page_text

PROMPT = load_prompt(Path(__file__).parent / "prompts" / "reward.md")
_ANSWERS = Constraint(choices=(YES, NO))

WriteShown = Callable[[Sequence[Message], str], Encoded]
"""Messages and a reply in a model's ids."""


def ask_outcome(trajectory: Trajectory, prompt: Prompt = PROMPT) -> tuple[Message, Message]:
    """Return the request that asks whether a finished episode succeeded, in training and judging.

    The question is that of WebRL's reward model (Qi et al. 2024): task, all actions, the page at
    the end. The agent's thoughts are never shown.
    """
    steps, last = trajectory.steps, trajectory.last
    pages = [step.observation for step in steps]
    # The page that shows the end: the last one, or that before it where it shows nothing.
    shown = last if (last is not None and last.nodes) or not pages else pages[-1]
    match steps[-1].decision.action if steps else None:
        case Answer(text) if text:
            answer = fence("answer", text)
        case GiveUp():
            answer = "nothing, it gave up"
        case _:
            answer = "nothing"
    user = prompt.fill(
        "outcome",
        goal=trajectory.goal or trajectory.task.goal or (pages[0].goal if pages else ""),
        turns=format_turns(trajectory) or "Nothing was done.",
        ending=trajectory.ending.value if trajectory.ending else "it is still under way",
        answer=answer,
        page=fence("page", page_text(shown)) if shown else "It was not seen.",
    )
    return Message("system", prompt.fill("system")), Message("user", user)


class LanguageReward:
    """A model that replies yes or no and never more.

    The probability is that of yes where only the two may be said. It needs a model with
    constraints and token ids, such as weights in this process. Raises `SetupError` for another.
    """

    def __init__(self, model: Model, prompt: Prompt = PROMPT) -> None:
        if not (model.capabilities.constraints and model.capabilities.token_ids):
            raise SetupError(
                f"{model.name} cannot be held to yes or no and return how likely each is; a reward"
                " model needs a backend with constraints and token_ids, as `LocalModel` is"
            )
        self.model = model
        self.prompt = prompt

    async def probability(self, trajectory: Trajectory) -> float:
        """Return P(success) of a finished episode. Raises `ModelError`."""
        messages = ask_outcome(trajectory, self.prompt)
        completion = await self.model.complete(messages, max_tokens=16, constraint=_ANSWERS)
        [reply] = completion.replies
        if reply.text not in (YES, NO) or not reply.log_probs:
            raise ModelError(
                f"{self.model.name} replied {reply.text[:40]!r} where only yes or no was allowed"
            )
        chance = math.exp(min(0.0, sum(reply.log_probs)))
        return chance if reply.text == YES else 1.0 - chance

    def evaluator(self, threshold: float = 0.5) -> FunctionEvaluator:
        """Return an evaluator; it abstains when the model fails or nothing was done."""

        async def judge(trajectory: Trajectory) -> Verdict:
            if not trajectory.steps:
                return Verdict(None, "nothing to judge: the episode has no steps")
            try:
                chance = await self.probability(trajectory)
            except ModelError as error:
                return Verdict(None, f"the reward model failed: {error}")
            return Verdict(float(chance >= threshold), f"P(success) = {chance:.3f}")

        name = f"language_reward[{self.model.name}]"
        return FunctionEvaluator(f"{name}@1#{self.prompt.hash}", "success", judge)


def outcome_row(
    trajectory: Trajectory, succeeded: bool, write: WriteShown, prompt: Prompt = PROMPT
) -> TokenRow:
    """Return the row that teaches whether an episode succeeded.

    Raises `SetupError` when the episode is not finished or infrastructure ended it.
    """
    if trajectory.ending is None or trajectory.ending.is_infrastructure or not trajectory.steps:
        raise SetupError(f"episode {trajectory.id} has no outcome to learn from")
    encoded = write(ask_outcome(trajectory, prompt), YES if succeeded else NO)
    return replace(
        make_encoded_row(encoded, step=len(trajectory.steps) - 1),
        imagined=trajectory.provenance.imagined,
        group=f"{trajectory.task.id}:{trajectory.task.seed}",
        episode=trajectory.id,
    )
