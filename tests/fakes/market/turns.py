"""What one does on the market's pages, and a task before it has an address."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlencode

from tasks.task import Json, TaskCheck
from tests.fakes.market.goods import Good, Stock
from webagent.action import Action
from webagent.action.actions import Answer, Click, Fill, Goto
from webagent.errors import PolicyError
from webagent.records import Observation

Turn: TypeAlias = Callable[[Observation], Action]
"""What to do on the page that is seen."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A goal with the ways to go about it, and what holds once it is reached."""

    goal: str
    honest: tuple[Turn, ...]
    wrong: tuple[Turn, ...]
    """The same, with another thing of the same kind."""
    lost: tuple[Turn, ...]
    """The way to a page without content."""
    claim: str
    """What one would say who has done it."""
    lie: str
    """The same of the wrong thing, or of nothing at all."""
    undo: tuple[Turn, ...] = ()
    """Takes back what the honest way did; empty where that cannot be."""
    state: dict[str, Json] = field(default_factory=dict)
    """Parts of the server's state as they are once it is done."""
    checks: tuple[TaskCheck, ...] = ()
    page: str = ""
    """Where one has to be at the end; empty where that is free."""


def press(role: str, name: str) -> Turn:
    """Click the element of that name."""
    return lambda page: Click(_mark(page, role, name))


def write(name: str, text: str) -> Turn:
    """Fill the field of that name."""
    return lambda page: Fill(_mark(page, "textbox", name), text)


def say(text: str) -> Turn:
    """End with an answer."""
    return lambda page: Answer(text)


def go(path: str, **query: str) -> Turn:
    """Open another page of the site."""
    asked = f"?{urlencode(query)}" if query else ""
    return lambda page: Goto(re.sub(r"(https?://[^/]+).*", rf"\1{path}", page.url) + asked)


def to_good(good: Good) -> tuple[Turn, ...]:
    """From the front page to the page of a good."""
    return press("link", "Market"), press("link", good.group.title()), press("link", good.name)


def two_goods(market: Stock, dice: random.Random) -> tuple[Good, Good]:
    """Two of one group, neither of them in the cart or on the list from the start."""
    free = [good for place, good in enumerate(market.goods) if place not in (2, 9, 12)]
    first = dice.choice(free)
    other = dice.choice([g for g in free if g.group == first.group and g != first])
    return first, other


def answer_checks(value: str, others: Sequence[str]) -> tuple[TaskCheck, ...]:
    """The answer names the value and none of the others; as `contains`, the usual weaker rule."""
    none_of = "|".join(rf"(?<!\w){re.escape(other)}(?!\w)" for other in others)
    pattern = rf"(?is)^(?!.*(?:{none_of})).*(?<!\w){re.escape(value)}(?!\w)"
    return (
        TaskCheck("episode.answer", "matches", pattern),
        TaskCheck("episode.answer", "contains", value, score="contains"),
    )


def _mark(page: Observation, role: str, name: str) -> int:
    found = [n.mark for n in page.nodes if n.mark and n.role == role and n.name == name]
    if not found:
        names = [(node.role, node.name) for node in page.nodes]
        raise PolicyError(f"expected a {role} {name!r} on {page.url}, found {names}")
    return found[0]
