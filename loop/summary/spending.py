"""What a run has spent: tokens, seconds and money by step, by episode and in all."""

from collections.abc import Iterable, Mapping

from loop.costs import read_spending, read_stop_reason, read_stored_prices
from loop.summary.context import PHASE, RECORDING
from loop.summary.schema import CostAmount, ModelSpending, SpentRow
from webagent.models.spending import Prices, Spent
from webagent.store import Store, Where


def summarize_spending(store: Store) -> SpentRow | None:
    """From what the run noted; None for a run that keeps no ledger."""
    prices = read_stored_prices(store)
    if prices is None:
        return None
    asked = [_summarize_model(entry, prices) for entry in read_spending(store)]
    beside: Where = {"phase": [PHASE, RECORDING]}
    steps = store.count_real_steps() - store.count_real_steps(**beside)
    episodes = len(store.entries("played"))
    total = _add_up(asked, _read_noted(store))
    currencies = {row["currency"] for row in asked if row["currency"]}
    return SpentRow(
        steps=steps,
        episodes=episodes,
        run=total,
        per_step=_divide(total, steps),
        per_episode=_divide(total, episodes),
        currency=next(iter(currencies)) if len(currencies) == 1 else "",
        asked=asked,
        stopped=read_stop_reason(store),
    )


def _summarize_model(entry: Spent, prices: Prices) -> ModelSpending:
    price = prices.of(entry.model)
    known = "unknown" if price is None else "own weights" if price.own else "known"
    return ModelSpending(
        role=entry.role,
        model=entry.model,
        requests=entry.requests,
        failed=entry.failed,
        uncounted=entry.uncounted,
        input_tokens=entry.input_tokens,
        cached_input_tokens=entry.cached_input_tokens,
        output_tokens=entry.output_tokens,
        seconds=entry.seconds,
        money=entry.money(prices),
        currency=price.currency if price and not price.own else "",
        price=known,
        price_date=str(price.date) if price and price.date else "",
        price_source=price.source if price else "",
    )


def _read_noted(store: Store) -> dict[str, float]:
    """The sums over decisions that the sessions noted, of all arms and rounds."""
    total: dict[str, float] = {}
    for arm in sorted({entry.arm for entry in store.entries("any")}):
        noted = store.get_state(f"round:{arm}:0:0")
        for name, value in (noted if isinstance(noted, dict) else {}).items():
            if isinstance(value, int | float):
                total[name] = total.get(name, 0.0) + value
    return total


def _add_up(asked: Iterable[ModelSpending], noted: Mapping[str, float]) -> CostAmount:
    rows = list(asked)
    paid = [row for row in rows if row["price"] != "own weights"]
    known = [row["money"] for row in paid if row["money"] is not None]
    one_currency = len({row["currency"] for row in paid}) == 1
    is_counted = not any(row["uncounted"] for row in rows)
    read = sum(row["input_tokens"] for row in rows) if rows else noted.get("input_tokens")
    written = sum(row["output_tokens"] for row in rows) if rows else noted.get("output_tokens")
    return CostAmount(
        input_tokens=read if is_counted else None,
        output_tokens=written if is_counted else None,
        seconds=noted.get("decision_seconds", 0.0),
        world_seconds=noted.get("world_seconds", 0.0),
        money=sum(known) if paid and one_currency and len(known) == len(paid) else None,
    )


def _divide(total: CostAmount, count: int) -> CostAmount | None:
    if not count:
        return None

    def each(value: float | None) -> float | None:
        return None if value is None else value / count

    return CostAmount(
        input_tokens=each(total["input_tokens"]),
        output_tokens=each(total["output_tokens"]),
        seconds=total["seconds"] / count,
        world_seconds=total["world_seconds"] / count,
        money=each(total["money"]),
    )
