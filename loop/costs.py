"""Spending on models: the limits of a run and what it spent, stored across all its sessions."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loop.flat import Important
from tasks.task import Json
from webagent.errors import UsageError
from webagent.models.spending import (
    Ledger,
    Price,
    Prices,
    SpendingLimits,
    Spent,
    default_prices,
    read_prices,
)
from webagent.records import Decision, Trajectory
from webagent.serialize import from_json, to_json
from webagent.store import Store

PRICES = Path("prices.toml")
"""Read if it exists and no other file is named."""
_SPENT, _PRICES, _STOPPED = "spent", "prices", "stopped"
_SPENT_ON_JUDGING = "judging:spent"


@dataclass(frozen=True)
class Caps:
    """Limits at which a run stops."""

    max_cost: Important[float | None] = None
    """Maximum money spent on models, over all sessions; the run then stops."""
    max_tokens_total: int | None = None
    """Maximum tokens, input and output, over all sessions."""
    max_minutes: float | None = None
    """Maximum duration in minutes, over all sessions."""

    def __str__(self) -> str:
        caps = {
            "money": self.max_cost,
            "tokens": self.max_tokens_total,
            "minutes": self.max_minutes,
        }
        given = [f"{value:g} {name}" for name, value in caps.items() if value is not None]
        return ", ".join(given) or "no cap"

    def seconds_left(self, spent: float = 0.0) -> float | None:
        """Return how long the run may go on after so many seconds; None without such a cap."""
        return None if self.max_minutes is None else 60 * self.max_minutes - spent

    def check(self) -> None:
        """Check that every cap is above 0. Raises `SetupError`."""
        named = {
            "--max-cost": self.max_cost,
            "--max-tokens-total": self.max_tokens_total,
            "--max-minutes": self.max_minutes,
        }
        for flag, value in named.items():
            if value is not None and not value > 0:
                raise UsageError(f"{flag} {value:g} leaves nothing to spend; give more, or no cap")


def load_prices() -> Prices:
    """Return the prices in ./prices.toml, if it exists; other models have the built-in prices.
    Raises `SetupError`."""
    return read_prices(PRICES) if PRICES.is_file() else default_prices()


def check_cost_cap(caps: Caps, model: str, prices: Prices) -> None:
    """Check that a cap on money can be enforced. Raises `SetupError` if the spending is unknown.

    `model` is the paid model; empty if there is none.
    """
    if caps.max_cost is None:
        return
    flag = f"--max-cost {caps.max_cost:g}"
    others = "cap it with --max-tokens-total or --max-minutes"
    if not model:
        raise UsageError(f"{flag} is for --policy endpoint: no other is paid for; {others}")
    if reason := prices.why_untold(model):
        raise UsageError(f"{flag} cannot be kept: {reason}, or {others}")


def open_ledger(store: Store, caps: Caps, prices: Prices) -> Ledger:
    """Return the run's ledger with its spending so far and these limits; it saves itself in the
    store."""
    ledger = _restore_ledger(store, _SPENT, caps, prices)
    rows = sorted(prices.models.items())
    state: list[Json] = [{"model": name, **price.model_dump(mode="json")} for name, price in rows]
    store.put_state(_PRICES, state)
    store.put_state(_STOPPED, "")
    return ledger


def open_judging_ledger(store: Store, caps: Caps, prices: Prices) -> Ledger:
    """Return the ledger of all judging of this run so far, separate from the cost of playing."""
    return _restore_ledger(store, _SPENT_ON_JUDGING, caps, prices)


def _restore_ledger(store: Store, key: str, caps: Caps, prices: Prices) -> Ledger:
    entries = {(entry.role, entry.model): entry for entry in read_spending(store, key)}
    ledger = Ledger(SpendingLimits(caps.max_cost, caps.max_tokens_total), prices, entries)

    def keep(changed: Spent) -> None:
        store.put_state(key, [to_json(entry) for entry in ledger.entries.values()])

    ledger.on_change = keep
    return ledger


def read_spending(store: Store, key: str = _SPENT) -> list[Spent]:
    """Return the usage of each model per role, as stored in the run's ledger."""
    kept = store.get_state(key)
    return [from_json(Spent, row) for row in kept] if isinstance(kept, list) else []


def join_spending(store: Store, parts: Iterable[Store]) -> None:
    """Keep in the store what all these runs spent together."""
    sums: dict[tuple[str, str], Spent] = {}
    for entry in (entry for part in parts for entry in read_spending(part)):
        key = (entry.role, entry.model)
        sums[key] = sums[key].plus(entry) if key in sums else entry
    if sums:
        store.put_state(_SPENT, [to_json(entry) for entry in sums.values()])


def read_stored_prices(store: Store) -> Prices | None:
    """Return the prices of the run's last session; None for a run without a ledger."""
    kept = store.get_state(_PRICES)
    if not isinstance(kept, list):
        return None
    rows = [dict(row) for row in kept if isinstance(row, dict)]
    return Prices({str(row.pop("model")): Price.model_validate(row) for row in rows})


def read_stop_reason(store: Store) -> str:
    """Return why the run stopped early; empty if it did not."""
    return str(store.get_state(_STOPPED) or "")


def format_spending(ledger: Ledger) -> str:
    """Return the spending so far, in a few words; empty if there was none."""
    if not ledger.entries:
        return ""
    money = ledger.money()
    currencies = {
        price.currency for name in ledger.model_names if (price := ledger.prices.of(name))
    }
    known = f", {money:.4g} {' '.join(sorted(currencies))}".rstrip() if money is not None else ""
    return f"{ledger.tokens:,} tokens{known}"


async def run_within_caps(
    work: Coroutine[Any, Any, object], ledger: Ledger, store: Store, seconds: float | None
) -> None:
    """Run the work; stop it cleanly if the ledger closes, or after so many seconds.

    Finished steps are then safe, requests in flight are booked, and the store contains the reason.
    """
    await run_until_closed(work, ledger, seconds, lambda: store.put_state(_STOPPED, ledger.reason))


async def run_until_closed(
    work: Coroutine[Any, Any, object],
    ledger: Ledger,
    seconds: float | None,
    on_stop: Callable[[], object] = lambda: None,
) -> None:
    """Run the work; stop it cleanly if the ledger closes, or after so many seconds.

    `on_stop` is called before it is cancelled.
    """
    doing = asyncio.ensure_future(work)
    closing = asyncio.ensure_future(ledger.closed.wait())
    clock = None
    if seconds is not None:
        loop = asyncio.get_running_loop()
        clock = loop.call_later(max(seconds, 0.0), ledger.stop, "its time is up")
    try:
        await asyncio.wait({doing, closing}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            on_stop()
            doing.cancel()
            await asyncio.wait({doing})
        if not doing.cancelled():
            doing.result()
    finally:
        if clock is not None:
            clock.cancel()
        for each in (doing, closing):
            each.cancel()
        await asyncio.gather(doing, closing, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class RunPrices:
    """The prices of one run."""

    prices: Prices
    requested: str
    """The only model that policies requested, whatever name its server returned; empty for several
    or none."""

    @classmethod
    def of(cls, store: Store) -> "RunPrices":
        """As the run's ledger has it."""
        requested = {entry.model for entry in read_spending(store) if entry.role == "policy"}
        return cls(
            read_stored_prices(store) or Prices(), requested.pop() if len(requested) == 1 else ""
        )

    def step(self, decision: Decision) -> tuple[float | None, str | None]:
        """Return money and its currency; None if price or tokens are unknown, or for in-process
        weights."""
        price = self.prices.of(decision.weights) or (
            self.prices.of(self.requested) if self.requested else None
        )
        counted = decision.usage.get("input_tokens", 0) + decision.usage.get("output_tokens", 0)
        money = price.money(decision.usage) if price and counted else None
        return money, price.currency if price and money is not None else None

    def episode(self, trajectory: Trajectory) -> tuple[float | None, str | None]:
        """Return the sum over the steps; None if any of them is unknown."""
        steps = [self.step(step.decision) for step in trajectory.steps]
        known = [money for money, _ in steps if money is not None]
        if not known or len(known) < len(steps):
            return None, None
        return sum(known), steps[0][1]
