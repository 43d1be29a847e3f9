"""What judging may spend and has spent on a run, apart from what playing it cost."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from recipes.spending import Caps
from webagent.models.metered import Ledger, Limits, Spent
from webagent.models.price import Prices
from webagent.serialize import from_json, to_json
from webagent.store import Store

_SPENT = "judging:spent"


def open_ledger(store: Store, caps: Caps, prices: Prices) -> Ledger:
    """The ledger of all judging of this run so far; it keeps itself in the store."""
    kept = store.get_state(_SPENT)
    spent = [from_json(Spent, row) for row in kept] if isinstance(kept, list) else []
    entries = {(entry.role, entry.model): entry for entry in spent}
    ledger = Ledger(Limits(caps.money, caps.tokens), prices, entries)

    def keep(changed: Spent) -> None:
        store.put_state(_SPENT, [to_json(entry) for entry in ledger.entries.values()])

    ledger.on_change = keep
    return ledger


async def within(work: Coroutine[Any, Any, None], ledger: Ledger, minutes: float | None) -> None:
    """Do the work; where the ledger closes first, or after so many minutes, end it in order."""
    doing = asyncio.ensure_future(work)
    closing = asyncio.ensure_future(ledger.closed.wait())
    clock = asyncio.ensure_future(_expire(ledger, minutes))
    try:
        await asyncio.wait({doing, closing}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            doing.cancel()
            await asyncio.wait({doing})
        if not doing.cancelled():
            doing.result()
    finally:
        for each in (doing, closing, clock):
            each.cancel()
        await asyncio.gather(doing, closing, clock, return_exceptions=True)


async def _expire(ledger: Ledger, minutes: float | None) -> None:
    if minutes is not None:
        await asyncio.sleep(60 * minutes)
        ledger.stop("its time is up")
