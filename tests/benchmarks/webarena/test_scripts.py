"""The scripts that stand for the scorers' helpers, run on pages like those of the sites."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Error, Page, async_playwright

from benchmarks.webarena import scripts
from tests.benchmarks.webarena.published import BENCHMARKS, read
from tests.fakes.site import Reply, Request, serving
from webagent.browser import find_chromium
from webagent.browser.chromium import has_sandbox

pytestmark = pytest.mark.browser

ORDER = """
<table id="my-orders-table"><tbody><tr>
  <td class="col name">Bars<dl><dt>Size</dt><dd>12 Count</dd></dl></td>
  <td class="col sku">A1 </td><td class="col qty">Ordered2</td></tr></tbody>
<tbody><tr><td class="col name">Tea</td><td class="col sku">B2</td>
  <td class="col qty">Ordered1
Shipped1</td></tr></tbody></table>
"""
PRODUCT = """
<div id="maincontent"><div class="columns"><div><div class="product-info-main">
<div class="product-info-price"><div class="price-box price-final_price"><span><span>$64.50</span>
</span></div></div></div></div></div></div>
<a id="tab-label-reviews-title">Reviews 12</a><div class="rating-result" title="80%"></div>
<table id="productDetails_detailBullets_sections1"><tbody>
<tr><th>Item Weight</th><td>2 kg</td></tr><tr><th>Brand</th><td>Acme</td></tr></tbody></table>
<h1 class="page-title">Red <b>Shoe</b></h1>
"""
COMMENT = """
<div class="comment" data-level="{level}"><div class="comment__main"><header><h1>
<a class="fg-inherit">{user}</a><span><time datetime="{time}">then</time></span></h1></header></div>
<span class="vote__net-score">3</span><div class="comment__content">{text}</div>{inner}</div>
"""
MEMBERS = """
<table><tr><td data-label="Account"><span class="gl-avatar-labeled-sublabel">@ann</span></td>
<td class="col-max-role"><span>Guest</span></td></tr>
<tr><td data-label="Account"><span class="gl-avatar-labeled-sublabel">@bob</span></td>
<td class="col-max-role"><span>Owner</span></td></tr></table>
"""


def thread() -> str:
    """A post by ann, answered by bob, who is answered by me twice; then I answer ann."""
    mine = "".join(
        COMMENT.format(level=2, user="me", time=f"2024-01-0{day}", text=text, inner="")
        for day, text in ((4, "first"), (6, "latest"))
    )
    bob = COMMENT.format(level=1, user="bob", time="2024-01-02", text="yes", inner=mine)
    last = COMMENT.format(level=1, user="me", time="2024-01-05", text="between", inner="")
    post = COMMENT.format(level=0, user="ann", time="2024-01-01", text="a post", inner=bob + last)
    return f'<main id="main">{post}</main>'


def answer_as_shop(request: Request) -> Reply:
    """The shop's interface: a token for its administrator, the latest order, reviews."""
    status: int = 200
    value: Any
    if request.path.endswith("/admin/token"):
        right = json.loads(request.body) == {"username": "admin", "password": "admin1234"}
        status, value = (200, "token") if right else (401, {"message": "wrong"})
    elif not request.path.startswith("/rest/"):
        value = "a page"
    elif request.headers["authorization"] != "Bearer token":
        status, value = 401, {"message": "who are you"}
    elif request.path.endswith("/orders"):
        assert request.query["searchCriteria[sortOrders][0][direction]"] == ["DESC"]
        value = {"items": [{"increment_id": "000000189"}]}
    else:
        rating = [{"rating_name": "Rating", "percent": 80}]
        ann = {"nickname": "ann", "detail": "fine", "ratings": rating}
        value = [] if "NONE" in request.path else [{"nickname": "old"}, ann]
    return Reply(json.dumps(value), status)


@pytest.fixture
async def shop() -> AsyncIterator[str]:
    """Address of a shop."""
    async with serving() as site:
        site.other = answer_as_shop
        yield site.address


@pytest.fixture(scope="module")
async def chrome() -> AsyncIterator[Browser]:
    """A plain Chromium."""
    async with async_playwright() as playwright:
        path = find_chromium().path
        running = await playwright.chromium.launch(
            executable_path=str(path), chromium_sandbox=has_sandbox()
        )
        yield running
        await running.close()


@pytest.fixture
async def page(chrome: Browser) -> AsyncIterator[Page]:
    """An empty page in a session of its own."""
    opened = await chrome.new_page()
    yield opened
    await opened.close()


async def test_helpers_find_what_they_look_for_and_else_what_the_scorers_give(page: Page) -> None:
    body = ORDER + PRODUCT + MEMBERS + thread()
    expected = {
        scripts.ordered_names(): ("Bars\n\nSize\n12 Count |OR| Tea", ""),
        scripts.ordered_quantity("A1"): (2, 0),
        scripts.ordered_quantity("Z9 |OR| A1"): (2, 0),
        scripts.ordered_quantity("B2"): (0, 0),
        scripts.ordered_option("A1", "Size"): ("12 Count", ""),
        scripts.ordered_option("B2", "Size"): ("", ""),
        scripts.product_price(): (64.5, 0),
        scripts.review_count(): (12, 0),
        scripts.rating_percentage(): (80, 0),
        scripts.product_attributes("weight |OR| brand"): ("2 kg, Acme", ""),
        scripts.query_text(".page-title"): ("Red Shoe", ""),
        scripts.query_text_lowercase(".page-title"): ("red shoe", ""),
        scripts.query_text("no[such"): ("", ""),
        scripts.member_role("bob"): ("Owner", ""),
        scripts.member_role("cid"): ("", ""),
        scripts.latest_comment("me"): ("latest", ""),
        scripts.latest_comment("ann"): ("a post", ""),
        scripts.latest_comment("cid"): ("", ""),
        scripts.answered_user("me"): ("bob", ""),
        scripts.answered_user("bob"): ("ann", ""),
    }
    await page.set_content(body)
    found = {script: await page.evaluate(script) for script in expected}
    await page.set_content("<p>another page</p>")
    nothing = {script: await page.evaluate(script) for script in expected}

    names = scripts.ordered_names()
    assert found[names].split() == expected[names][0].split()
    assert {**found, names: ""} == {script: each[0] for script, each in expected.items()} | {
        names: ""
    }
    assert nothing == {script: each[1] for script, each in expected.items()}


async def test_what_locators_give_is_text_and_what_throws_is_empty(page: Page) -> None:
    await page.set_content("<p id=a>5</p><input type=checkbox checked>")
    expected: dict[str, Any] = {
        scripts.located("document.querySelector('#a').outerText"): "5",
        scripts.located("document.querySelectorAll('p').length;"): "1",
        scripts.located("document.querySelector('input').checked"): True,
        scripts.located("document.querySelector('#b')"): "None",
        scripts.located("document.querySelector('#b').outerText"): "",
        scripts.located("[...document.querySelectorAll('p')].map(x => x.outerText)"): ["5"],
        scripts.computed("(() => document.querySelector('#a').outerText)()"): "5",
        scripts.computed("() => 7"): 7,
        scripts.computed("(() => '')()"): False,
        scripts.computed("(() => document.querySelector('#b').outerText)()"): False,
    }
    assert {script: await page.evaluate(script) for script in expected} == expected
    await page.evaluate(scripts.prepared("document.querySelector('#a').remove()"))
    await page.evaluate(scripts.prepared("document.querySelector('#a').remove()"))
    assert await page.evaluate(scripts.pictured(".x")) == []
    assert await page.locator("#a").count() == 0


async def test_the_shop_is_asked_for_its_latest_order_and_review(page: Page, shop: str) -> None:
    account = ("admin", "admin1234")
    await page.goto(shop)

    assert await page.evaluate(scripts.latest_order(shop, account)) == (
        f"{shop}/sales/order/view/order_id/189/"
    )
    for field, expected in (("nickname", "ann"), ("percent", "80"), ("detail", "fine")):
        assert await page.evaluate(scripts.latest_review(shop, account, "A1", field)) == expected
    assert await page.evaluate(scripts.latest_review(shop, account, "NONE", "nickname")) == ""
    with pytest.raises(Error, match="admin/token answered 401"):
        await page.evaluate(scripts.latest_order(shop, ("admin", "guess")))


async def test_of_a_post_or_one_of_its_comments_the_posts_address_is_made(page, shop):
    places = {
        "/f/books/12/a-title/comment/7?sort=new#top": "/f/books/12/",
        "/f/books": "/f/books",
        "/user/ann/7/8": "/user/ann/7/8",
    }
    for place, expected in places.items():
        await page.goto(shop + place)
        assert await page.evaluate(scripts.POST_URL) == shop + expected


async def test_every_script_of_every_task_can_be_read(benchmarks: Path, page: Page) -> None:
    tasks = [task for benchmark in BENCHMARKS for task in read(benchmark, benchmarks)]
    probes = [probe for task in tasks for probe in task.probes]
    made = {script for probe in probes for script in (probe.script, *probe.prepare)}
    find_broken = """(made) => made.filter((script) => {
        try { new Function(`return (${script})`); } catch (error) { return true; }
    })"""

    assert len(made) > 150
    assert await page.evaluate(find_broken, sorted(made - {""})) == []
    assert await page.evaluate(find_broken, ["document.querySelector("]) == [
        "document.querySelector("
    ]
