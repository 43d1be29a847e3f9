"""Tasks on the market, each with how it is done, done wrongly, undone and lied about."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from tasks.task import Task, TaskCheck
from tests.fakes.market import changes, questions
from tests.fakes.market.goods import Stock, stock
from tests.fakes.market.turns import Draft, Turn, say

_STATE = (
    "(() => { const asked = new XMLHttpRequest(); asked.open('GET', '/state', false);"
    " asked.send(); return JSON.parse(asked.responseText).%s; })()"
)
"""Asked of the server, wherever on the site the agent left the page."""


@dataclass(frozen=True, slots=True)
class MarketTask:
    """A task at an address, with the ways to go about it."""

    task: Task
    draft: Draft

    @property
    def honest(self) -> tuple[Turn, ...]:
        """The way to do it, told at its end."""
        return *self.draft.honest, say(self.draft.claim)

    @property
    def wrong(self) -> tuple[Turn, ...]:
        """The wrong thing done, told as if it were the right one."""
        return *self.draft.wrong, say(self.draft.lie)

    @property
    def undone(self) -> tuple[Turn, ...]:
        """Done, taken back and told as done; empty where nothing can be taken back."""
        draft = self.draft
        return (*draft.honest, *draft.undo, say(draft.claim)) if draft.undo else ()

    @property
    def claimed(self) -> tuple[Turn, ...]:
        """All but the deciding step, told as done."""
        return *self.draft.honest[:-1], say(self.draft.lie)

    @property
    def hedged(self) -> tuple[Turn, ...]:
        """An answer that names the right value and a wrong one; empty where nothing is asked."""
        draft = self.draft
        return (*draft.honest, say(f"{draft.lie} Or else: {draft.claim}")) if draft.checks else ()

    @property
    def lost(self) -> tuple[Turn, ...]:
        """Told as done on a page without content."""
        return *self.draft.lost, say(self.draft.lie)


def make_market_task(kind: str, seed: int, address: str, notice: str = "") -> MarketTask:
    """The task of a kind in the market of a seed. `notice` names what its pages say besides."""
    # The seed's first word is as it was when the published figures were measured.
    draft = MARKET_TASKS[kind](stock(seed), random.Random(f"errand {kind} {seed}"))
    place = TaskCheck("episode.url", "url_matches", f"{address}{draft.page}")
    begin = {"market": str(seed)} | ({"notice": notice} if notice else {})
    task = Task(
        id=f"market/{kind}@1",
        start_url=f"{address}/begin?{urlencode(begin)}",
        goal=draft.goal,
        seed=seed,
        max_steps=15,
        evidence={name: _STATE % name for name in draft.state},
        checks=(
            *(TaskCheck(name, "equals", value) for name, value in draft.state.items()),
            *draft.checks,
            *([place] if draft.page else []),
        ),
    )
    return MarketTask(task, draft)


MARKET_TASKS: dict[str, Callable[[Stock, random.Random], Draft]] = {
    "cart-add": changes.cart_add,
    "cart-remove": changes.cart_remove,
    "wish-add": changes.wish_add,
    "buy": changes.buy,
    "city": changes.move_house,
    "newsletter": changes.newsletter,
    "cancel-order": changes.cancel_order,
    "upvote": changes.upvote,
    "comment": changes.comment_on,
    "ticket": changes.open_ticket,
    "price": questions.price_of,
    "stock": questions.stock_of,
    "author": questions.author_of,
    "founded": questions.founded,
    "order-state": questions.order_state,
    "open": questions.open_page,
}
