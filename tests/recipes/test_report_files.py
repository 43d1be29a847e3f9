"""The page opens anywhere without a network."""

import pytest
from playwright.async_api import async_playwright

from loop.origin import read_origin
from loop.summary import RunMeta, summarize, write_summary
from recipes import cli
from tests.fakes.run import TASKS, fill
from webagent.browser.chromium import find_chromium
from webagent.store import Store

META = RunMeta("miniwob@1", TASKS, "webagent improve", (read_origin(),))


@pytest.mark.browser
async def test_the_page_loads_with_the_network_off_asks_for_nothing_and_complains_of_nothing(
    tmp_path,
):
    with Store.open(run := tmp_path / "run", create=True) as store:
        fill(store, {("none", 0): 0.3, ("self", 0): 0.3, ("self", 1): 0.7}, repeats=1)
        write_summary(summarize(store, META), run)
    file = tmp_path / "elsewhere" / "sent.html"
    file.parent.mkdir()
    assert cli.main(["report", str(run), "--html", str(file)]) == 0
    assert not (run / "report.html").exists()
    said, asked = [], []
    path = str(find_chromium(headless=True).path)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path)
        page = await browser.new_page()
        await page.context.set_offline(True)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(file.as_uri())
        title = await page.inner_text("h1")
        await browser.close()
    assert said == [] and asked == [file.as_uri()]
    assert "self succeeds" in title.replace("\N{NON-BREAKING HYPHEN}", "-")
