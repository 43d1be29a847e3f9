"""The predicted site in a browser's eyes: pages, forms, what is not known, and who may click."""

import http.client
import re
from urllib.parse import urlencode

import pytest

from apps.predicted_site import PredictedSite, server_of
from tests.fakes.lessons import node
from tests.fakes.listening import running
from tests.worldmodel.test_map import HOME, SEEN
from tests.worldmodel.test_recall import KNOWN, LISTING, at
from worldmodel.recall import RememberedWorld
from worldmodel.simulate import DreamStart


@pytest.fixture
def site() -> PredictedSite:
    """The shop as it is remembered."""
    world = RememberedWorld()
    world.learn(SEEN)
    return PredictedSite(world, DreamStart(HOME), world.page_at)


def test_a_walk_goes_from_page_to_page_and_back(site: PredictedSite) -> None:
    assert "a real page: the walk begins here" in site.render()
    assert "Nobody has been" not in site.render(), "somebody began there"
    site.submit({"token": site.token, "op": "click", "mark": "4"})
    site.submit({"token": site.token, "op": "click", "mark": "5"})
    shown = site.render()
    assert "/catalogue/pan_9/" in shown
    assert "remembered" in shown and "£9.50" in shown
    site.submit({"token": site.token, "op": "back"})
    assert LISTING.url in site.render()


def test_what_is_not_known_is_marked_and_cannot_be_clicked(site: PredictedSite) -> None:
    site.submit({"token": site.token, "op": "click", "mark": "4"})
    site.submit({"token": site.token, "op": "click", "mark": "6"})
    shown = site.render()
    assert '<span class="unknown">text: … (not known)</span>' in shown
    assert "Nobody has been at this address." in shown


def test_the_real_page_stands_beside_the_predicted_one(site: PredictedSite) -> None:
    site.submit({"token": site.token, "op": "click", "mark": "4"})
    real = site.render().split("<details>")[1]
    assert all(f"<span>{n.name} </span>" in real for n in LISTING.nodes if n.name)
    site.seen = lambda url: None  # no action led to the first page
    site.submit({"token": site.token, "op": "back"})
    site.submit({"token": site.token, "op": "fill", "mark": "1", "text": "tea"})
    assert "Nobody has been" not in site.render()


def test_text_of_a_page_is_text(site: PredictedSite) -> None:
    site.start = DreamStart(at("/x", node(4, "link", '<img src=x onerror="a()">')))
    site.__post_init__()
    assert "<img" not in site.render()


def ask(address: str, form: dict[str, str] | None = None, host: str = "") -> tuple[int, str]:
    """Status and page of an answer."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
    headers = {"Host": host} if host else {}
    if form is None:
        connection.request("GET", "/", headers=headers)
    else:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request("POST", "/", urlencode(form), headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_it_is_served_to_this_machine_and_clicks_need_its_own_form(site: PredictedSite) -> None:
    with running(server_of(site)) as address:
        status, shown = ask(address)
        token = re.search(r'name="token" value="([^"]+)"', shown)
        assert status == 200 and token is not None
        assert ask(address, {"op": "click", "mark": "4", "token": token[1]})[0] == 303
        assert LISTING.url in ask(address)[1]
        assert ask(address, {"op": "click", "mark": "5", "token": "guessed"})[0] == 400
        assert ask(address, host="evil.test")[0] == 403
        assert KNOWN[1].after.url not in ask(address)[1]


@pytest.mark.browser
async def test_a_person_clicks_through_it_in_a_real_browser(site: PredictedSite) -> None:
    from playwright.async_api import async_playwright

    from webagent.browser.chromium import find_chromium, has_sandbox

    with running(server_of(site)) as address:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium().path, chromium_sandbox=has_sandbox()
            )
            page = await browser.new_page()
            await page.goto(f"{address}/")
            await page.get_by_role("button", name="All products").click()
            await page.get_by_role("button", name="Pan").click()
            assert "£9.50" in await page.inner_text("main")
            assert "remembered" in await page.get_by_role("status").inner_text()
            await page.get_by_label("Search").fill("tea")
            await page.get_by_role("button", name="Type").click()
            assert await page.get_by_label("Search").input_value() == "tea"
            await browser.close()
