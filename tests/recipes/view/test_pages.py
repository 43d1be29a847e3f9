"""The viewer's pages in a real browser."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

pytestmark = pytest.mark.browser


async def test_a_run_is_found_opened_and_its_episodes_listed(
    real_runs: Path, view: Callable[[Path], str], page: Page
) -> None:
    await page.goto(view(real_runs))
    await page.get_by_role("link", name="real").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("real")
    await page.get_by_role("link", name="Episodes").click()
    await expect(page.locator("tr[data-row]")).to_have_count(4)
