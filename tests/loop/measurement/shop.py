"""A shop at http://shop.test that is on no network: served by a proxy here, recorded as a HAR."""

import asyncio
import io
import random
from functools import cache
from pathlib import Path

from tasks.task import Task
from tests.fakes.site import Reply, Request, Site, serving
from webagent.action.actions import Click, Goto
from webagent.browser import Browser
from webagent.browser.sessions.profile import Profile
from webagent.records import Observation

SHOP = "http://shop.test"
_HOME = '<title>Shop</title><p>17 lamps</p><a href="/lamps">Lamps</a>'
_LAMPS = """<title>Lamps</title><h1>Brass lamp</h1><p>12.50</p>
<form method="post" action="/cart/add"><button name="item" value="7">Buy</button></form>"""
_FOUND = '<title>Found</title><a id="first" href="/lamps">Brass lamp</a>'


@cache
def noise(seed: int) -> bytes:
    """A picture unlike those of other seeds."""
    from PIL import Image

    dice = random.Random(seed)
    picture = Image.frombytes("L", (60, 40), bytes(dice.randrange(256) for _ in range(2400)))
    picture.save(file := io.BytesIO(), "PNG")
    return file.getvalue()


def record(folder: Path) -> Path:
    """Every page of the shop as a HAR: the cart before and after the lamp was bought."""
    asyncio.run(_record(folder))
    (file,) = folder.glob("*.har")
    return file


async def _record(folder: Path) -> None:
    async with serving() as site, Browser() as browser:
        _furnish(site)
        world = await browser.world(profile=Profile(proxy=site.address, har_record=folder))
        seen = await world.reset(Task("test/record@1", f"{SHOP}/", clock="real"))
        for path in ("/cart", "/wishlist", "/other", "/search?q=lamp", "/lamp.png", "/lamps"):
            seen = await world.step(Goto(f"{SHOP}{path}"))
        await world.step(Click(mark_of(seen, "Buy")))
        await world.step(Goto(f"{SHOP}/cart"))
        await world.close()


def mark_of(page: Observation, name: str) -> int:
    """The mark of the one element of this name."""
    (node,) = [node for node in page.nodes if node.mark and node.name == name]
    return node.mark


def _furnish(site: Site) -> None:
    bought = []

    def buy(request: Request) -> Reply:
        bought.append(request.body)
        return Reply("<title>Added</title><p>Added.</p>")

    def cart(request: Request) -> Reply:
        what = "brass lamp" if bought else "nothing"
        return Reply(f'<title>Cart</title><p id="cart">{what}</p>')

    site.page("/", _HOME)
    site.page("/lamps", _LAMPS)
    site.page("/search", _FOUND)
    site.page("/wishlist", '<title>Wishes</title><p class="photo"><img src="/lamp.png"></p>')
    site.page("/other", '<title>Other</title><p class="photo"><img src="/other.png"></p>')
    site.page("/lamp.png", noise(1), Content_Type="image/png")
    site.page("/other.png", noise(2), Content_Type="image/png")
    site.pages["/cart/add"] = buy
    site.pages["/cart"] = cart
