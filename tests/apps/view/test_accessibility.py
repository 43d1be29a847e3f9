"""No page of the viewer has a serious finding by axe-core, light or dark, wide or narrow."""

import os
from pathlib import Path

import axe_playwright_python
import pytest

from tests.apps.view.conftest import make_run
from webagent.store import Store

AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
CUT = """[...document.querySelectorAll('.scroll')]
    .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.ariaLabel)"""
"""The tables whose last columns are out of sight."""
PAGES = {
    "runs": "/",
    "run": "/run/one",
    "tasks": "/run/one/tasks",
    "task": "/run/one/task/click-link",
    "episodes": "/run/one/episodes?q=failed+arm:self+round:2",
    "wrong filter": "/run/one/episodes?q=arm:slef",
    "compare": "/compare/runs?a=one&b=two",
    "not here": "/run/nine",
}


@pytest.mark.sample(4)
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1280])
async def test_no_page_has_a_serious_finding(made_runs, view, chromium, theme, width):
    address = view(made_runs)
    size = {"width": width, "height": 800}
    context = await chromium.new_context(viewport=size, color_scheme=theme, bypass_csp=True)
    page = await context.new_page()
    serious = []
    for name, path in PAGES.items():
        await page.goto(address + path)
        if name == "run":
            await page.locator(".chart").first.wait_for(state="attached")
        if name == "not here":
            await page.locator("#help").click()
        serious += [(name, *found) for found in await findings(page)]
        wide = await page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} pixels wide"
        cut = await page.evaluate(CUT)
        assert width == 390 or not cut, f"columns of {name} are cut at {width} pixels: {cut}"
    await context.close()
    assert serious == []


@pytest.mark.browser
async def test_a_list_with_long_names_is_not_cut_on_a_laptop(tmp_path, view, chromium):
    arms = make_run(tmp_path / "one", {("control", 0): 0.5, ("none", 0): 0.5, ("self", 12): 0.9})
    for file in arms.iterdir():
        os.utime(file, (1e9, 1e9))  # thousands of days ago
    Store.open(tmp_path / "not-played-yet", create=True).close()
    page = await chromium.new_page(viewport={"width": 1280, "height": 800})
    await page.goto(view(tmp_path))
    assert await page.evaluate(CUT) == []
    await page.close()


async def findings(page) -> list[tuple[str, str]]:
    """What axe-core calls serious or critical: the rule and the first element."""
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    results = await page.evaluate("() => axe.run({resultTypes: ['violations']})")
    assert results["passes"]
    return [
        (found["id"], found["nodes"][0]["html"])
        for found in results["violations"]
        if found["impact"] in ("serious", "critical")
    ]
