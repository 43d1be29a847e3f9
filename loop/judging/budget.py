"""What judging may spend and has spent on a run, apart from what playing it cost."""

from collections.abc import Coroutine
from typing import Any

from loop.spending import Caps, until_closed
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
    ledger = Ledger(Limits(caps.max_cost, caps.max_tokens_total), prices, entries)

    def keep(changed: Spent) -> None:
        store.put_state(_SPENT, [to_json(entry) for entry in ledger.entries.values()])

    ledger.on_change = keep
    return ledger


async def within(work: Coroutine[Any, Any, None], ledger: Ledger, minutes: float | None) -> None:
    """Do the work; where the ledger closes first, or after so many minutes, end it in order."""
    await until_closed(work, ledger, None if minutes is None else 60 * minutes)
