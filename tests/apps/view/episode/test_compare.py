"""Two episodes side by side, in a real browser."""

from html import unescape

import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.browser


async def test_two_episodes_stand_side_by_side_and_say_where_they_part(at, ids, page):
    await page.goto(at(ids[1]))
    await page.locator("#others a", has_text="self evaluate").click()
    await expect(page.locator("h1")).to_have_text("Two episodes side by side")
    await expect(page.locator(".row.head")).to_contain_text("✗ failure")
    await expect(page.locator(".row.head")).to_contain_text("✓ success")
    rows = page.locator(".two [data-row]")
    await expect(rows).to_have_count(3)
    await expect(rows.first).to_contain_text("≠ different")
    await expect(rows.nth(2)).to_contain_text("= the same")
    await expect(page.locator("main .note").first).to_contain_text("They part at row 1")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await expect(page.locator("#scene h2")).to_have_text("Step 1 of 3")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "name two episodes"),
        ("?left=played/x&right=played/y", "has no episode 'x'"),
        ("?left=other/x&right=other/y", "unknown run 'other'"),
    ],
)
async def test_what_cannot_be_compared_is_said(at, page, query, said):
    answer = await page.request.get(f"{at('').partition('/run/')[0]}/compare{query}")
    assert answer.status == 404
    assert said in unescape(await answer.text())
