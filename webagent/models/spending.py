"""The cost of models: maintained prices, tokens booked per request, and limits."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date as Date
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webagent.errors import ModelError, SetupError
from webagent.exchange import EXCHANGES, Exchange, GivenReply, SentMessage
from webagent.files import describe_invalid, read_toml
from webagent.models.model import Capabilities, Completion, Constraint, Message, Model, Tokens

_MILLION = 1_000_000
_SHIPPED = Path(__file__).parent / "prices.toml"


class Price(BaseModel):
    """A model's price per million tokens, as of a day."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(default=0.0, ge=0)
    output: float = Field(default=0.0, ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Price of cached input; None for the full price."""
    currency: str = ""
    date: Date | None = None
    source: str = ""
    own: bool = False
    """Your own weights on your own machine: tokens and seconds are counted, but no money."""

    def money(self, usage: Mapping[str, int]) -> float | None:
        """Return the cost of so many tokens; None for your own weights."""
        if self.own:
            return None
        cached = usage.get("cached_input_tokens", 0)
        fresh = usage.get("input_tokens", 0) - cached
        reread = self.input if self.cached_input is None else self.cached_input
        tokens = fresh * self.input + cached * reread
        return (tokens + usage.get("output_tokens", 0) * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """Known prices by model name, in which `*` matches anything."""

    models: Mapping[str, Price] = field(default_factory=dict)
    path: Path | None = None

    def of(self, model: str) -> Price | None:
        """Return a model's price: by its exact name, else by the longest matching pattern."""
        if model in self.models:
            return self.models[model]
        fitting = [name for name in self.models if "*" in name and fnmatchcase(model, name)]
        return self.models[max(fitting, key=len)] if fitting else None

    def why_untold(self, model: str) -> str:
        """Return why the model's cost in money is unknown; empty if it is known."""
        price = self.of(model)
        if price is None:
            is_own = self.path not in (None, _SHIPPED)
            where = f"{self.path} has none" if is_own else "there is no prices.toml"
            return (
                f"the price of {model!r} is not known, {where}; add"
                f' [models."{model}"] with input and output for a million tokens'
            )
        if price.own:
            return f"{model!r} runs on own weights, which cost no money"
        return ""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    currency: str = ""
    models: dict[str, Price] = Field(default_factory=dict)


@cache
def default_prices() -> Prices:
    """Return the built-in prices, each with its day and source."""
    return Prices(_read_file(_SHIPPED), _SHIPPED)


def read_prices(path: Path) -> Prices:
    """Return the prices in a TOML file, and the built-in ones for other models.

    Raises `SetupError` with what is wrong, and where.
    """
    return Prices({**default_prices().models, **_read_file(path)}, path)


def _read_file(path: Path) -> dict[str, Price]:
    try:
        found = _File.model_validate(read_toml(path))
    except ValidationError as error:
        raise SetupError(f"{path}: {describe_invalid(error)}; see docs/cost.md") from error
    prices = {}
    for name, price in found.models.items():
        currency = price.currency or found.currency
        missing = [key for key in ("input", "output") if key not in price.model_fields_set]
        missing += ["currency"] * (not currency)
        if missing and not price.own:
            raise SetupError(
                f'{path}: [models."{name}"] lacks {", ".join(missing)}; a price left out would'
                " count as nothing: give it, write 0 where that is the price, or own = true for own"
                " weights"
            )
        prices[name] = price.model_copy(update={"currency": currency})
    return prices


@dataclass(frozen=True, slots=True)
class Spent:
    """The usage of one model in one role."""

    role: str = "policy"
    """`policy`, `judge`, or another role."""
    model: str = ""
    """The requested name."""
    requests: int = 0
    failed: int = 0
    """Calls without a reply; their cost is unknown."""
    uncounted: int = 0
    """Calls for which the server returned no token counts."""
    input_tokens: int = 0
    cached_input_tokens: int = 0
    """The part of the input that came from the server's cache."""
    output_tokens: int = 0
    seconds: float = 0.0
    """Seconds waited for replies; parallel calls each count."""

    @property
    def tokens(self) -> int:
        """Return input and output tokens."""
        return self.input_tokens + self.output_tokens

    def after(self, completion: Completion) -> "Spent":
        """Return the usage with one more completion."""
        usage = completion.usage
        counted = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        return replace(
            self,
            requests=self.requests + usage.get("requests", 1),
            uncounted=self.uncounted + (not counted),
            input_tokens=self.input_tokens + usage.get("input_tokens", 0),
            cached_input_tokens=self.cached_input_tokens + usage.get("cached_input_tokens", 0),
            output_tokens=self.output_tokens + usage.get("output_tokens", 0),
            seconds=self.seconds + completion.seconds,
        )

    def plus(self, other: "Spent") -> "Spent":
        """Return both together, under the role and the model of this one."""
        counts = [each.name for each in fields(self) if each.name not in ("role", "model")]
        sums = {name: getattr(self, name) + getattr(other, name) for name in counts}
        return replace(self, **sums)

    def money(self, prices: Prices) -> float | None:
        """Return the cost; None if price or tokens are unknown, or for your own weights."""
        price = prices.of(self.model)
        if price is None or self.uncounted:
            return None
        counts = ("input_tokens", "cached_input_tokens", "output_tokens")
        return price.money({name: getattr(self, name) for name in counts})


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """Limits on the total spending; None for no limit."""

    money: float | None = None
    tokens: int | None = None


@dataclass(slots=True)
class Ledger:
    """Adds up the cost of a run's models, over all its sessions.

    Once a limit is reached, no new request starts, and those in flight finish, so that a limit is
    exceeded by at most those. `closed` is set once a request was rejected and none is in flight.
    """

    limits: SpendingLimits = SpendingLimits()
    prices: Prices = field(default_factory=Prices)
    entries: dict[tuple[str, str], Spent] = field(default_factory=dict)
    """By role and model."""
    on_change: Callable[[Spent], None] = lambda spent: None
    """Called with each changed entry, to store it."""
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    in_flight: int = 0
    _stopped: str = ""
    _is_wanted: bool = False
    """Whether a request was rejected."""

    @property
    def reason(self) -> str:
        """Return why no more requests start: stopped, a limit reached or unenforceable; else ''."""
        limits = self.limits
        if self._stopped or limits == SpendingLimits():
            return self._stopped
        if limits.tokens is not None and self.tokens >= limits.tokens:
            return f"{self.tokens:,} tokens of {limits.tokens:,} are spent"
        money = None if limits.money is None else self.money()
        if limits.money is not None and money is not None and money >= limits.money:
            return f"{money:.4g} of {limits.money:g} in money is spent"
        if any(spent.uncounted for spent in self.entries.values()):
            return (
                "the server does not say how many tokens a request took, so that no limit on tokens"
                " or money can be kept"
            )
        return ""

    @property
    def tokens(self) -> int:
        """Return the tokens of all models and roles."""
        return sum(spent.tokens for spent in self.entries.values())

    @property
    def model_names(self) -> list[str]:
        """Return the names of the queried models."""
        return sorted({spent.model for spent in self.entries.values()})

    def money(self) -> float | None:
        """Return the cost of all models with a price; None if a queried one has no known price."""
        known = []
        for spent in self.entries.values():
            price = self.prices.of(spent.model)
            if price is not None and price.own:
                continue
            amount = spent.money(self.prices)
            if amount is None:
                return None
            known.append(amount)
        return sum(known) if known else None

    def stop(self, reason: str) -> None:
        """Start no more requests, whatever the limits."""
        self._stopped = self.reason or reason
        self._is_wanted = True
        self._settle()

    async def begin(self) -> None:
        """Return once a request may be sent: at once, or never."""
        if self.reason:
            self._is_wanted = True
            self._settle()
            await asyncio.Event().wait()
        self.in_flight += 1

    def end(self, role: str, model: str, completion: Completion | None) -> None:
        """Book a finished request; without a completion it failed."""
        before = self.entries.get((role, model), Spent(role, model))
        after = (
            before.after(completion)
            if completion is not None
            else replace(before, failed=before.failed + 1)
        )
        self.entries[role, model] = after
        self.in_flight -= 1
        self.on_change(after)
        self._settle()

    def _settle(self) -> None:
        if self.reason and self._is_wanted and not self.in_flight:
            self.closed.set()


class MeteredModel:
    """A model whose requests are booked in a ledger under a role, and stored with the step of the
    episode for which they are made."""

    def __init__(self, model: Model, ledger: Ledger, role: str = "policy") -> None:
        self._model, self._ledger, self._role = model, ledger, role

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
        """Return as the model's; once a limit is reached it waits until it is cancelled."""
        await self._ledger.begin()
        completion, began = None, time.monotonic()
        options = {"temperature": temperature, "max_tokens": max_tokens, "n": n}
        sent = Exchange(self._role, self.name, (), options)
        try:
            completion = await self._model.complete(
                prompt,
                n=n,
                temperature=temperature,
                seed=seed,
                max_tokens=max_tokens,
                constraint=constraint,
            )
            said = tuple(
                GivenReply(reply.text, reply.finish_reason, reply.reasoning)
                for reply in completion.replies
            )
            sent = replace(sent, replies=said, attempts=completion.attempts, usage=completion.usage)
        except ModelError as error:
            sent = replace(sent, attempts=error.attempts, error=str(error))
            raise
        finally:
            self._ledger.end(self._role, self._model.name, completion)
            kept = EXCHANGES.get()
            if kept is not None and (sent.replies or sent.error):
                seconds, messages = time.monotonic() - began, describe_prompt(prompt)
                kept.append(replace(sent, messages=messages, seconds=seconds))
        return completion

    async def close(self) -> None:
        """As the model's."""
        await self._model.close()


def describe_prompt(prompt: Sequence[Message] | Tokens) -> tuple[SentMessage, ...]:
    """Return the messages in stored form, with images as references into the image store."""

    def refer(images: Sequence[bytes]) -> tuple[str, ...]:
        return tuple(f"{hashlib.sha256(image).hexdigest()}.png" for image in images)

    if isinstance(prompt, Tokens):
        return (SentMessage("prompt", f"{len(prompt.ids)} token ids", refer(prompt.images)),)
    return tuple(SentMessage(each.role, each.text, refer(each.images)) for each in prompt)
