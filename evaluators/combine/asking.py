"""Asking one evaluator: its score with the seconds, requests and tokens that it took."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from evaluators.evaluator import Evaluator
from webagent.errors import ModelError
from webagent.models.metered import Spent
from webagent.models.model import Capabilities, Completion, Constraint, Message, Model, Tokens
from webagent.records import Score, Trajectory


@dataclass(frozen=True, slots=True)
class Asked:
    """What an evaluator said and what that took."""

    score: Score
    seconds: float = 0.0
    """From asking to hearing, waiting included."""
    spent: Mapping[str, Spent] = field(default_factory=dict)
    """By the names of the models that were asked for it, where they are `CountedModel`s."""
    failure: str = ""
    """Why it had to abstain: its model failed, or time was up. Empty where it spoke for itself."""

    @property
    def was_in_vain(self) -> bool:
        """Whether it abstained because a model failed or time was up: another time it may not."""
        lost = any(spent.failed for spent in self.spent.values())
        return self.score.value is None and (bool(self.failure) or lost)


async def ask(
    evaluate: Evaluator,
    trajectory: Trajectory,
    *,
    seconds: float | None = None,
    score: str = "success",
) -> Asked:
    """The evaluator's score of that name; a failed model or `seconds` gone by make it abstain.

    What was asked of models until then is counted. Raises what the evaluator raises otherwise.
    """
    account = _Account(_ACCOUNT.get())
    token = _ACCOUNT.set(account)
    started, failure = time.monotonic(), ""
    try:
        said = await asyncio.wait_for(evaluate(trajectory), seconds)
    except ModelError as error:
        failure = f"its model failed: {error}"
    except TimeoutError:
        failure = "it gave no verdict" + (f" within {seconds:g} s" if seconds else " in time")
    finally:
        _ACCOUNT.reset(token)
    if failure:
        said = Score(score, None, failure, evaluate.id)
    return Asked(said, time.monotonic() - started, account.spent, failure)


class CountedModel:
    """The model, with each request put to the account of the evaluator that makes it.

    Evaluators that are asked at the same time have accounts of their own, and one inside another
    counts for both.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """As the model's."""
        return self._model.name

    @property
    def capabilities(self) -> Capabilities:
        """As the model's."""
        return self._model.capabilities

    async def complete(
        self,
        prompt: Sequence[Message] | Tokens,
        *,
        n: int = 1,
        temperature: float = 0.0,
        seed: int | None = None,
        max_tokens: int = 1024,
        constraint: Constraint | None = None,
    ) -> Completion:
        """As the model's."""
        completion = None
        try:
            completion = await self._model.complete(
                prompt,
                n=n,
                temperature=temperature,
                seed=seed,
                max_tokens=max_tokens,
                constraint=constraint,
            )
        finally:
            account = _ACCOUNT.get()
            if account is not None:
                account.book(self._model.name, completion)
        return completion

    async def close(self) -> None:
        """As the model's."""
        await self._model.close()


class _Account:
    """What one asking has spent so far, and those within it."""

    def __init__(self, around: "_Account | None") -> None:
        self.spent: dict[str, Spent] = {}
        self._around = around

    def book(self, model: str, completion: Completion | None) -> None:
        """One more request; without a completion it failed."""
        before = self.spent.get(model, Spent("judge", model))
        self.spent[model] = (
            replace(before, failed=before.failed + 1)
            if completion is None
            else before.after(completion)
        )
        if self._around is not None:
            self._around.book(model, completion)


_ACCOUNT: ContextVar[_Account | None] = ContextVar("account", default=None)
