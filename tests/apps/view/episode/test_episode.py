"""The page of an episode in a real browser: steps, marks, what lacks, what is too much."""

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from html import unescape

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from tests.apps.view.episode.conftest import JUDGE
from webagent.store import Store

pytestmark = pytest.mark.browser

At = Callable[[str], str]


async def test_the_strip_is_walked_by_keys_and_a_step_has_an_address(at, ids, page):
    await page.goto(at(ids[0]))
    await expect(page.locator(".frame")).to_have_count(4)
    await expect(page.locator("#scene h2")).to_have_text("Step 1 of 3")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#scene h2")).to_have_text("Step 3 of 3")
    await expect(page.locator(".frame[aria-current=step]")).to_contain_text("click(3)")
    assert page.url.endswith("?step=3")

    await page.reload()
    await expect(page.locator("#scene h2")).to_have_text("Step 3 of 3")
    await page.keyboard.press("ArrowLeft")
    await expect(page.locator("#scene h2")).to_have_text("Step 2 of 3")
    await page.keyboard.press("End")
    await expect(page.locator("#scene h2")).to_have_text("The page at the end")


async def test_a_step_tells_what_was_thought_done_considered_and_spent(at, ids, page):
    await page.goto(at(ids[0]))
    told = page.locator(".told")
    await expect(told.locator(".thought")).to_contain_text("The goal is <b>plain</b>: fill(1")
    await expect(told.locator(".action")).to_contain_text("on textbox “Username”")
    await expect(told.locator(".action")).to_contain_text("chosen by look-ahead")
    rows = told.locator(".candidates tbody tr")
    await expect(rows).to_have_count(2)
    await expect(rows.first).to_contain_text("✓ taken")
    await expect(rows.first).to_contain_text("87 %")
    await expect(rows.nth(1)).to_contain_text("0.25")
    await expect(told.locator(".took")).to_contain_text("1,200 in, 34 out")
    await expect(page.locator(".facts")).to_contain_text("3,600 in 102 out")
    await expect(told.locator(".changes")).to_contain_text('[1] textbox "Username" value=')


async def test_marks_lie_on_the_elements_of_the_screenshot_and_can_be_switched(at, ids, page):
    await page.goto(at(ids[0]))
    picture, target = page.locator(".canvas img"), page.locator(".overlay rect.target")
    assert await picture.evaluate("image => image.naturalWidth") == 320
    await expect(target).to_have_count(1)
    marks = page.locator(".overlay .marks g")
    await expect(marks).to_have_count(3)
    await expect(marks.first).to_be_hidden()
    await page.keyboard.press("m")
    await expect(marks.first).to_be_visible()
    await expect(page.locator("#marks")).to_have_attribute("aria-pressed", "true")
    box, around = (
        await marks.first.locator("rect").first.bounding_box(),
        await target.bounding_box(),
    )
    assert box and around
    assert around["x"] <= box["x"] and around["y"] <= box["y"]
    assert around["x"] + around["width"] >= box["x"] + box["width"]
    await page.reload()
    await expect(marks.first).to_be_visible()


async def test_verdicts_quote_pages_that_can_be_gone_to(at, ids, page):
    await page.goto(at(ids[1]))
    judge = page.locator(".verdicts li", has_text=JUDGE)
    await expect(judge).to_contain_text("≠ departs from checks_hold@2")
    await judge.get_by_role("link").click()
    await expect(page.locator("#scene h2")).to_have_text("Step 2 of 3")
    await expect(page.locator("#scene mark")).to_contain_text("nobody")
    checks = page.locator(".checks li")
    await expect(checks).to_have_count(3)
    await expect(checks.first).to_contain_text("✓ holds")
    await expect(checks.nth(1)).to_contain_text("✗ fails")


async def test_the_step_where_it_went_wrong_is_named_and_marked(at, ids, page):
    await page.goto(at(ids[1]))
    await expect(page.locator("#scene")).to_contain_text("Here it went wrong")
    await page.goto(f"{at(ids[1])}?step=last")
    cause = page.locator(".cause")
    await expect(cause).to_contain_text("✗ grounding")
    link = cause.get_by_role("link")
    number = (await link.inner_text()).removeprefix("step ")
    assert await page.locator(".frame", has_text="went wrong").get_attribute("data-step") == number
    await link.click()
    await expect(page.locator("#scene")).to_contain_text("Here it went wrong")


async def test_an_imagined_episode_says_so_and_leads_to_the_real_page(at, ids, page):
    await page.goto(at("dream"))
    await expect(page.locator("h1")).to_contain_text("imagined")
    await expect(page.locator("#scene")).to_contain_text("nothing real to hold it against")
    await expect(page.locator(".notice")).to_contain_text("P(success) = 0.83")
    await page.get_by_role("link", name="step 1 of the real episode").click()
    await expect(page).to_have_url(f"{at(ids[1])}?step=1")
    await expect(page.locator("h1")).not_to_contain_text("imagined")


@pytest.mark.parametrize(
    ("episode", "said", "drawn"),
    [
        ("drawn", "No screenshot: drawn from the elements' boxes.", True),
        ("bare", "there is only text", False),
        ("lost", "is not in the run's images folder", True),
    ],
)
async def test_a_page_without_its_screenshot_is_drawn_or_told(at, page, episode, said, drawn):
    await page.goto(at(episode))
    await expect(page.locator("figcaption")).to_contain_text(said)
    image = page.locator(".canvas img")
    await expect(image).to_have_count(int(drawn))
    if drawn:
        assert await image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 320


async def test_a_huge_page_is_folded_and_its_text_stays_text(at: At, page: Page) -> None:
    await page.goto(at("huge"))
    lines = page.locator(".lines")
    await expect(lines.locator("> div")).to_have_count(40)
    await expect(lines.locator("details")).to_contain_text("960 more lines")
    await expect(page.locator(".text-side")).to_contain_text("2,001 further lines")
    await expect(lines).to_contain_text("</script><script>alert(1)")
    whole = await page.request.get(f"{at('huge')}/step/1/text")
    assert len(await whole.text()) > 100_000


@pytest.mark.parametrize(
    ("episode", "said"), [("nowhere", "has no episode 'nowhere'"), ("a%2Fb", "Not here")]
)
async def test_an_episode_that_is_not_there_is_said_so(at, page, episode, said):
    found = await page.request.get(at(episode))
    assert found.status == 404
    assert said in unescape(await found.text())


async def test_an_episode_that_never_began_has_its_reason(at: At, page: Page) -> None:
    await page.goto(at("never"))
    await expect(page.locator(".problem").first).to_contain_text("no page")
    await expect(page.locator("#scene")).to_contain_text("nothing to show")
    await expect(page.locator("#findings")).to_contain_text("says nothing about the agent")


async def test_a_damaged_episode_is_told_and_the_others_still_open(
    played, view, ids, page, tmp_path
):
    shutil.copytree(played / "played", tmp_path / "runs" / "torn")
    with sqlite3.connect(tmp_path / "runs" / "torn" / "run.sqlite") as database:
        database.execute("UPDATE steps SET decision = x'00' WHERE episode = ?", (ids[1],))
    database.close()
    address = f"{view(tmp_path / 'runs')}/run/torn/episode"
    found = await page.request.get(f"{address}/{ids[1]}")
    assert found.status == 422
    assert "damaged" in await found.text()
    await page.goto(f"{address}/{ids[0]}")
    await expect(page.locator("#scene h2")).to_have_text("Step 1 of 3")


async def test_an_episode_under_way_is_followed_to_its_end(played, view, ids, page, tmp_path):
    shutil.copytree(played / "played", tmp_path / "runs" / "live")
    await page.goto(f"{view(tmp_path / 'runs')}/run/live/episode/running?step=last")
    await expect(page.locator("h1")).to_contain_text("interrupted")
    await expect(page.locator(".frame")).to_have_count(1)
    await expect(page.locator("#labels")).to_contain_text("once it is over")
    with Store.open(tmp_path / "runs" / "live") as store:
        store.put_state("at", "work")
        await page.reload()
        await expect(page.locator("h1")).to_contain_text("under way")
        bad = store.load(ids[1])
        store.add_step("running", 1, bad.steps[1])
        await expect(page.locator(".frame")).to_have_count(2)
        await expect(page.locator("#scene h2")).to_have_text("Step 2 of 2")
        store.add_step("running", 2, bad.steps[2])
        store.finish(replace(bad, id="running"))
    await expect(page.locator("h1")).to_contain_text("task over")
    await expect(page.locator(".label-form")).to_be_visible()


@pytest.mark.sample(4)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
async def test_nothing_serious_stands_in_anybodys_way(at, ids, page, scheme, width):
    await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    await page.set_viewport_size({"width": width, "height": 800})
    good, bad = ids
    compare = at("").split("/run/")[0] + f"/compare?left=played/{good}&right=played/{bad}"
    for address in (f"{at(bad)}?step=2", at("dream"), compare):
        await page.goto(address)
        found = await Axe().run(page)
        serious = [
            (each["id"], [node["html"][:120] for node in each["nodes"]])
            for each in found.response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], address
        wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, address
