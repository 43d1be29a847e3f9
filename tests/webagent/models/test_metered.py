"""A ledger books every request, and no request is begun once a limit is reached."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from webagent.errors import ModelError
from webagent.models.canned import CannedModel
from webagent.models.model import Capabilities, Completion, Message, Reply, Tokens
from webagent.models.spending import Ledger, MeteredModel, Price, Prices, SpendingLimits, Spent

ASK = (Message("user", "What now?"),)
PRICES = Prices({"paid": Price(input=1.0, output=2.0, currency="USD")})


@dataclass
class SlowModel:
    """Replies when the test opens its gate; every request takes 10 tokens in and 5 out."""

    name: str = "paid"
    capabilities: Capabilities = field(default_factory=Capabilities)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0
    usage: dict[str, int] = field(
        default_factory=lambda: {"input_tokens": 10, "output_tokens": 5, "requests": 1}
    )

    async def complete(self, prompt: Sequence[Message] | Tokens, **how: Any) -> Completion:
        self.asked += 1
        await self.gate.wait()
        return Completion((Reply("done"),), "served", self.usage, seconds=0.5)

    async def close(self) -> None:
        """Nothing is held."""


def ready(name: str = "paid", **fields: Any) -> SlowModel:
    """A model whose gate is open."""
    model = SlowModel(name, **fields)
    model.gate.set()
    return model


async def test_everything_asked_is_booked_by_role_and_model() -> None:
    kept: list[Spent] = []
    ledger = Ledger(prices=PRICES, on_change=kept.append)
    model = ready()
    for role in ("policy", "policy", "judge"):
        await MeteredModel(model, ledger, role).complete(ASK)
    policy, judge = ledger.entries["policy", "paid"], ledger.entries["judge", "paid"]
    assert (policy.requests, policy.input_tokens, policy.output_tokens) == (2, 20, 10)
    assert (judge.tokens, policy.seconds) == (15, 1.0)
    assert ledger.tokens == 45
    assert ledger.money() == pytest.approx((30 * 1 + 15 * 2) / 1e6)
    assert kept == [Spent("policy", "paid", 1, 0, 0, 10, 0, 5, 0.5), policy, judge]


async def test_a_limit_is_exceeded_by_no_more_than_the_requests_in_flight() -> None:
    ledger = Ledger(SpendingLimits(tokens=50))
    model = SlowModel()
    metered = MeteredModel(model, ledger)

    async def ask_again_and_again() -> None:
        while True:
            await metered.complete(ASK)

    tasks = [asyncio.ensure_future(ask_again_and_again()) for _ in range(4)]
    await asyncio.sleep(0.01)
    assert (model.asked, ledger.in_flight) == (4, 4)
    model.gate.set()
    await asyncio.wait_for(ledger.closed.wait(), 5)
    assert ledger.in_flight == 0
    assert 50 <= ledger.tokens < 50 + 4 * 15
    assert ledger.tokens == 15 * model.asked
    assert ledger.reason == f"{ledger.tokens} tokens of 50 are spent"
    assert not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert model.asked * 15 == ledger.tokens


async def test_requests_in_flight_come_to_their_ends_before_the_ledger_closes() -> None:
    ledger = Ledger(SpendingLimits(tokens=15))
    slow, quick = SlowModel(), ready()
    waiting = asyncio.ensure_future(MeteredModel(slow, ledger).complete(ASK))
    await asyncio.sleep(0)
    await MeteredModel(quick, ledger).complete(ASK)
    refused = asyncio.ensure_future(MeteredModel(quick, ledger).complete(ASK))
    await asyncio.sleep(0.01)
    assert ledger.reason and not ledger.closed.is_set()
    slow.gate.set()
    assert (await waiting).replies[0].text == "done"
    assert ledger.closed.is_set()
    assert (quick.asked, ledger.tokens) == (1, 30)
    refused.cancel()
    await asyncio.gather(refused, return_exceptions=True)


async def test_money_is_not_told_where_any_price_is_unknown() -> None:
    ledger = Ledger(prices=PRICES)
    for name in ("paid", "unheard of"):
        await MeteredModel(ready(name), ledger).complete(ASK)
    assert ledger.entries["policy", "unheard of"].money(PRICES) is None
    assert ledger.money() is None


async def test_a_server_that_does_not_count_tokens_keeps_no_limit() -> None:
    usage = {"input_tokens": 0, "output_tokens": 0, "requests": 1}
    free, limited = Ledger(prices=PRICES), Ledger(SpendingLimits(tokens=1000))
    for ledger in (free, limited):
        await MeteredModel(ready(usage=usage), ledger).complete(ASK)
    assert free.money() is None
    assert free.reason == ""
    assert "does not say how many tokens" in limited.reason


async def test_a_call_that_failed_is_booked_as_one_whose_cost_is_not_known() -> None:
    ledger = Ledger()
    model = CannedModel([ModelError("gone")], name="paid")
    with pytest.raises(ModelError):
        await MeteredModel(model, ledger).complete(ASK)
    assert ledger.entries["policy", "paid"].failed == 1
    assert ledger.in_flight == 0


async def test_what_was_spent_earlier_counts_against_the_limit() -> None:
    ledger = Ledger(
        SpendingLimits(tokens=20),
        entries={("policy", "paid"): Spent("policy", "paid", 1, input_tokens=30)},
    )
    assert ledger.reason == "30 tokens of 20 are spent"
    model = SlowModel()
    asking = asyncio.ensure_future(MeteredModel(model, ledger).complete(ASK))
    await asyncio.wait_for(ledger.closed.wait(), 5)
    assert model.asked == 0
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
