"""What came of a task: the answer, how it ended, every step, and what it cost."""

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, Self

from webagent.action import Answer, GiveUp, format_action
from webagent.errors import (
    AnswerError,
    CaptchaError,
    GuardError,
    ModelError,
    PolicyError,
    StoppedError,
    WebAgentError,
    WorldError,
)
from webagent.guard.writes import read_verified
from webagent.models.spending import Ledger
from webagent.records import Ending, Step, Trajectory
from webagent.store.database import ImageStore

_RAISED: Mapping[Ending, type[WebAgentError]] = {
    Ending.GAVE_UP: AnswerError,
    Ending.STEP_LIMIT: StoppedError,
    Ending.STOPPED: StoppedError,
    Ending.POLICY_UNREADABLE: PolicyError,
    Ending.GUARD_REFUSED: GuardError,
    Ending.WORLD_FAILED: WorldError,
    Ending.MODEL_FAILED: ModelError,
    Ending.CAPTCHA: CaptchaError,
}


_NO_REPLY = "the model gave no reply"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a task took from models."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float | None = None
    """None where it is not known: `unknown` says why. It is never taken to be nothing."""
    currency: str = ""
    unknown: str = ""

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.input_tokens + self.output_tokens

    def __str__(self) -> str:
        if not self.requests and not self.tokens:
            return self.unknown if self.unknown == _NO_REPLY else "no model was asked"
        price = f"{self.money:.4g} {self.currency}".rstrip() if self.money is not None else ""
        why = self.unknown.partition(",")[0]
        return f"{self.tokens:,} tokens, {price or f'cost not known ({why})'}"

    @classmethod
    def of(cls, ledger: Ledger, ending: Ending | None = None) -> "Cost":
        """Return what a ledger has booked for an episode of this ending."""
        spent = list(ledger.entries.values())
        money = ledger.money()
        prices = [price for name in ledger.model_names if (price := ledger.prices.of(name))]
        is_silent = not any(each.requests for each in spent) and ending is Ending.MODEL_FAILED
        unknown = _NO_REPLY if is_silent else "" if money is not None else "no model was asked"
        for entry in ledger.entries.values() if money is None else ():
            reason = ledger.prices.why_untold(entry.model)
            if not is_silent and (reason or entry.uncounted):
                unknown = reason or "the server does not say how many tokens a request took"
                break
        return cls(
            requests=sum(each.requests for each in spent),
            input_tokens=sum(each.input_tokens for each in spent),
            output_tokens=sum(each.output_tokens for each in spent),
            money=money,
            currency=" ".join(sorted({price.currency for price in prices})) if prices else "",
            unknown=unknown,
        )

    @classmethod
    def of_steps(cls, trajectory: Trajectory) -> "Cost":
        """Return what a policy that asks its models by itself has noted in its decisions."""
        usages = [step.decision.usage for step in trajectory.steps]
        return cls(
            requests=sum(usage.get("requests", 0) for usage in usages),
            input_tokens=sum(usage.get("input_tokens", 0) for usage in usages),
            output_tokens=sum(usage.get("output_tokens", 0) for usage in usages),
            unknown="the policy asks its models by itself",
        )


@dataclass(frozen=True, slots=True)
class Result:
    """A finished task; `raise_for_ending` turns every ending but a good one into an error."""

    trajectory: Trajectory
    """The episode, as it is stored."""
    cost: Cost
    value: Any = None
    """The answer as data, where a schema was given, or as an instance of the type that was."""
    misfit: str = ""
    """What was wrong with the answer even when it was asked for again; empty where it fits."""
    images: ImageStore | None = field(default=None, repr=False, compare=False)
    """Has the screenshots of the pages."""

    def __repr__(self) -> str:
        outcome = self.answer or self.reason
        return f"Result({self.ending}: {outcome[:80]!r}, {len(self.steps)} steps, {self.cost})"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the pages as plain data, which JSON can hold where `value` can."""
        return {
            "outcome": str(self.ending),
            "answer": self.answer,
            "value": self.value,
            "reason": self.reason,
            "verified": self.verified,
            "url": self.url,
            "seconds": self.trajectory.seconds,
            "episode": self.trajectory.id,
            "cost": asdict(self.cost),
            "steps": [
                {
                    "url": step.observation.url,
                    "thought": step.decision.thought,
                    "action": format_action(step.decision.action),
                }
                for step in self.steps
            ],
        }

    def _repr_html_(self) -> str:
        """Return what a notebook shows: answer, cost, and each step with its picture."""
        rows = "".join(
            f"<tr><td>{number}</td><td>{self._picture(step)}</td><td style='text-align:left'>"
            f"<code>{escape(format_action(step.decision.action))}</code><br>"
            f"{escape(step.decision.thought)}</td></tr>"
            for number, step in enumerate(self.steps, 1)
        )
        outcome = escape(self.answer or self.reason)
        return f"<b>{self.ending}</b>: {outcome}<br>{escape(str(self.cost))}<table>{rows}</table>"

    def _picture(self, step: Step) -> str:
        if self.images is None or not step.observation.screenshot:
            return ""
        data = base64.b64encode(self.images.get(step.observation.screenshot)).decode("ascii")
        return f"<img width='320' alt='' src='data:image/png;base64,{data}'>"

    @property
    def asked(self) -> str:
        """Return what was asked, without what was added for the model."""
        return self.trajectory.task.goal.partition("\n\n")[0]

    @property
    def ending(self) -> Ending:
        """Return why the task was over."""
        assert self.trajectory.ending is not None
        return self.trajectory.ending

    @property
    def verified(self) -> bool | None:
        """Return whether all that was sent to change something was found again on pages opened
        anew; None where changes are not confirmed, or nothing could be compared."""
        return read_verified(self.trajectory)

    @property
    def is_answered(self) -> bool:
        """Return whether the agent said that it was done. It may be wrong: judges tell."""
        return self.ending is Ending.ANSWERED

    @property
    def answer(self) -> str:
        """Return what the agent answered; empty where it did not answer or had nothing to say."""
        last = self._last_action()
        return last.text if isinstance(last, Answer) and self.is_answered else ""

    @property
    def reason(self) -> str:
        """Return why there is no answer; empty where there is one."""
        last = self._last_action()
        if self.ending is Ending.GAVE_UP and isinstance(last, GiveUp):
            return last.reason
        if self.ending is Ending.STEP_LIMIT:
            return f"all of its {self.trajectory.task.max_steps} steps were taken"
        return self.trajectory.error

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return what was seen and done, in order."""
        return self.trajectory.steps

    @property
    def url(self) -> str:
        """Return where it ended; empty where the page was lost."""
        return self.trajectory.last.url if self.trajectory.last else ""

    def raise_for_ending(self) -> Self:
        """Return itself where the task was answered or the page declared it over.

        Raises `AnswerError` where the agent gave up or its answer had not the form that was asked
        for, `StoppedError` at a limit or where it was stopped, `PolicyError` for replies that could
        not be read, `GuardError`, and `WorldError`, `CaptchaError` or `ModelError` where something
        failed that is not the agent's.
        """
        kind = _RAISED.get(self.ending)
        if kind is None:
            return self
        if self.misfit:
            raise AnswerError(self.misfit)
        raise kind(f"{self.ending}: {self.reason}")

    def _last_action(self) -> object:
        return self.steps[-1].decision.action if self.steps else None
