"""A small shop, and models that answer as a test tells them to."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.site import Site, serving

SHOP = """<title>Shop</title><h1>Kayaks</h1><p>The blue kayak costs 420 euros.</p>
<button onclick="document.title = 'Bought'">Buy</button>"""


@pytest.fixture
async def shop() -> AsyncIterator[str]:
    """The address of a page with a price and a button."""
    async with serving() as site:
        site.page("/", SHOP)
        yield f"{site.address}/"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site to which pages can be added."""
    async with serving() as running:
        yield running
