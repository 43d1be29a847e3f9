"""The viewer's pages in a real browser: opened, filtered, compared, followed, walked by keys."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, expect

from tests.apps.view.conftest import make_run
from tests.fakes.run import episode
from webagent.records import Provenance, Score
from webagent.store import Store

pytestmark = pytest.mark.browser

View = Callable[[Path], str]


async def test_a_run_that_was_played_is_found_opened_and_its_episodes_listed(real_runs, view, page):
    await page.goto(view(real_runs))
    row = page.locator("tr[data-row]")
    await expect(row).to_contain_text("miniwob@1")
    await expect(row).to_contain_text("100.0")
    await page.get_by_role("link", name="real").click()
    await expect(page.locator(".lead")).to_contain_text("oracle succeeds in 100.0 % of 4")
    await expect(page.locator(".origin")).to_contain_text("webagent benchmark --benchmark miniwob")
    await page.get_by_role("link", name="Episodes").click()
    await expect(page.locator("tr[data-row]")).to_have_count(4)
    await expect(page.locator("tr[data-row] .pill.good")).to_have_count(4)


async def test_a_run_shows_curves_comparisons_and_why_it_failed(made_runs, view, page):
    await page.goto(f"{view(made_runs)}/run/one")
    await expect(page.locator(".chart.wide .mark")).to_have_count(6)
    await expect(page.locator("table")).to_have_count(3)
    await expect(page.get_by_text("self succeeds in")).to_be_visible()
    causes = page.locator("table.causes tr[data-row]")
    await expect(causes.first).to_be_visible()
    await causes.first.get_by_role("link").click()
    await expect(page.locator("#q")).to_have_value(re.compile("^at:"))
    await expect(page.locator("tr[data-row]").first).to_be_visible()


async def test_one_line_filters_the_episodes_and_a_wrong_word_says_what_there_is(
    made_runs, view, page
):
    await page.goto(f"{view(made_runs)}/run/one/episodes")
    await page.keyboard.press("/")
    await page.keyboard.type("failed task:click* round:1 arm:self")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/episodes?q=*")
    await expect(page.locator("tr[data-row]").first).to_be_visible()
    words = await page.locator("tr[data-row]").all_inner_texts()
    assert all("failed" in text and "click-link" in text for text in words)
    await page.locator("#q").fill("arm:slef")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_contain_text("did you mean self?")
    await expect(page.locator("tr[data-row]")).to_have_count(0)


async def test_columns_sort_and_pages_turn(tmp_path: Path, view: View, page: Page) -> None:
    run = make_run(tmp_path / "runs" / "long", {("self", number): 0.5 for number in range(4)})
    await page.goto(f"{view(run.parent)}/run/long/episodes")
    await expect(page.locator("tr[data-row]")).to_have_count(100)
    await page.get_by_role("link", name="round", exact=True).click()
    head = page.get_by_role("columnheader", name="round")
    await expect(head).to_have_attribute("aria-sort", "descending")
    await expect(page.locator("tr[data-row] td").nth(3)).to_have_text("3")
    await page.keyboard.press("]")
    await expect(page.locator(".paging")).to_contain_text("101–")
    await page.keyboard.press("[")
    await expect(page.locator(".paging")).to_contain_text("1–100 of")


async def test_keys_and_buttons_work_though_the_script_comes_late(tmp_path, view, page):
    run = make_run(tmp_path / "runs" / "long", {("self", number): 0.5 for number in range(4)})
    used = asyncio.Event()

    async def come_late(route: Route) -> None:
        await used.wait()
        await route.continue_()

    await page.route("**/static/view.js", come_late)
    await page.goto(f"{view(run.parent)}/run/long/episodes", wait_until="commit")
    await expect(page.locator(".paging")).to_contain_text("1–100 of")
    await page.keyboard.press("]")
    used.set()
    await expect(page.locator(".paging")).to_contain_text("101–")
    used.clear()
    await page.reload(wait_until="commit")
    await page.get_by_role("button", name="Keys").click()
    used.set()
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


async def test_a_task_is_opened_from_the_list(made_runs: Path, view: View, page: Page) -> None:
    await page.goto(f"{view(made_runs)}/run/one/tasks")
    await expect(page.locator("tr[data-row]")).to_have_count(4)
    await page.locator("tr[data-row]", has_text="click-link").get_by_role("link").click()
    await expect(page.get_by_text("Measured", exact=True)).to_be_visible()


async def test_two_runs_are_compared(made_runs: Path, view: View, page: Page) -> None:
    await page.goto(view(made_runs))
    await page.get_by_role("link", name="Compare two runs").click()
    await page.get_by_label("run").first.select_option("one")
    await page.get_by_label("run").nth(1).select_option("two")
    await page.get_by_role("button", name="Compare").click()
    await page.wait_for_url("**a=one*b=two*")
    await expect(page.locator("p.lead")).to_contain_text(re.compile("points above A|No difference"))
    await expect(page.get_by_text("Came out otherwise")).to_be_visible()
    await expect(page.get_by_role("row", name="rounds 2 3")).to_be_visible()


async def test_rows_are_walked_and_pages_changed_by_keys(made_runs, view, page):
    await page.goto(f"{view(made_runs)}/run/one/tasks")
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    await expect(page.locator("tr.at")).to_have_count(1)
    name = await page.locator("tr.at a").inner_text()
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**/task/{name}")
    for keys, place in (("ge", "/episodes"), ("gt", "/tasks"), ("go", "/run/one"), ("gr", "/")):
        for key in keys:
            await page.keyboard.press(key)
        await page.wait_for_url(f"**{place}")
    await page.keyboard.press("?")
    overlay = page.get_by_role("dialog")
    await expect(overlay).to_contain_text("next or previous row")
    await expect(overlay).to_contain_text("compare two runs")
    await page.keyboard.press("Escape")
    await expect(overlay).to_be_hidden()


async def test_the_colours_can_be_switched_and_stay(made_runs, view, page):
    address = view(made_runs)
    await page.goto(address)
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = await page.evaluate(ground)
    await page.get_by_role("button", name="Switch between light and dark").click()
    dark = await page.evaluate(ground)
    assert light != dark
    await page.goto(f"{address}/run/one")
    assert await page.evaluate(ground) == dark


def another(store: Store, index: int, *, finish: bool) -> None:
    """One more episode, under way or over with a verdict."""
    place = Provenance(arm="self", round=3, phase="evaluate", index=index)
    whole = episode(place, "click-link", 900 + index, True)
    store.begin(replace(whole, steps=(), last=None, ending=None))
    if finish:
        for position, step in enumerate(whole.steps):
            store.add_step(whole.id, position, step)
        store.finish(whole)
        store.score(whole.id, Score("success", 1.0, "it holds", "checks_hold@2"))


async def test_pages_follow_a_run_that_goes_on(tmp_path: Path, view: View, page: Page) -> None:
    run = make_run(tmp_path / "runs" / "live", {("none", 0): 0.5})
    with Store.open(run) as store:
        store.put_state("at", "work")
        await page.goto(f"{view(run.parent)}/run/live/episodes?q=round:3")
        await expect(page.locator("#live")).to_have_text("live")
        await expect(page.get_by_text("None of 40 episodes fits.")).to_be_visible()
        another(store, 0, finish=False)
        await expect(page.locator("tr[data-row]")).to_contain_text("running")
        another(store, 1, finish=True)
        await expect(page.locator("tr[data-row]")).to_have_count(2)
        await page.goto(page.url.replace("/episodes?q=round:3", ""))
        await expect(page.locator(".facts")).to_contain_text("under way")


async def test_a_browser_without_events_asks_instead_and_says_so(tmp_path, view, page):
    run = make_run(tmp_path / "runs" / "live", {("none", 0): 0.5})
    await page.add_init_script("delete window.EventSource")
    with Store.open(run) as store:
        store.put_state("at", "work")
        await page.goto(f"{view(run.parent)}/run/live/episodes?q=round:3")
        await expect(page.locator("#live")).to_have_text("live; asked every 3 s")
        another(store, 1, finish=True)
        await expect(page.locator("tr[data-row]")).to_have_count(1)
