"""What comes on a page and goes before anybody looks is told at the next look."""

import pytest

from tests.local_pages import LocalWorld
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser

SAY = """<script>
  function say(text, milliseconds) {
    const toast = document.createElement("div");
    document.body.append(toast);
    toast.append(text);
    if (milliseconds) setTimeout(() => toast.remove(), milliseconds);
  }
</script>"""
SHOWN = """<style>#toast { display: none } #toast.shown { display: block }</style>
<div id=toast></div><script>
  function show(text) {
    toast.textContent = text;
    toast.className = "shown";
    setTimeout(() => { toast.className = "" }, 2000);
  }
</script>"""


OFFER = """<script>
  function offer(text, milliseconds) {
    const list = document.createElement("div");
    list.innerHTML = `<ul role=listbox><li role=option>${text}</li></ul>`;
    document.body.append(list);
    setTimeout(() => list.remove(), milliseconds);
  }
</script>"""


async def test_a_toast_that_is_gone_is_told_once(local: LocalWorld) -> None:
    await local.show(f"<button onclick='say(`Saved`, 3000)'>Save</button>{SAY}")
    page = await local.step(act.Click(1))
    assert render(page) == '[1] button "Save" focused\nappeared for 3 s: Saved'
    page = await local.step(act.Wait(100))
    assert page.outcome == "no effect"
    assert "Saved" not in render(page)


async def test_a_toast_that_only_changes_its_class_is_told(local: LocalWorld) -> None:
    await local.show(f"<button onclick='show(`Sent`)'>Send</button>{SHOWN}")
    page = await local.step(act.Click(1))
    assert "appeared for 2 s: Sent" in render(page)


@pytest.mark.parametrize(
    "does",
    [
        "say(`Here to stay`)",
        "say(`Too short`, 100)",
        "say(`Word `.repeat(100), 3000)",
        "show(` `)",
        "say(`There before`, 3000)",
        "offer(`Red`, 3000)",
    ],
)
async def test_only_what_was_read_and_went_is_told(local: LocalWorld, does: str) -> None:
    await local.show(f"<p>There before</p><button onclick='{does}'>Go</button>{SAY}{SHOWN}{OFFER}")
    page = await local.step(act.Click(1))
    assert "appeared" not in render(page)


async def test_the_real_clock_tells_of_a_toast_too(local: LocalWorld) -> None:
    await local.show(f"<button onclick='say(`Saved`, 900)'>Save</button>{SAY}", clock="real")
    page = await local.step(act.Click(1))
    if "Saved" in (node.name for node in page.nodes):
        page = await local.step(act.Wait(1500))
        assert "Saved" not in render(page)
    else:
        assert "appeared for 1 s: Saved" in render(page)


async def test_a_frame_tells_of_its_own(local: LocalWorld) -> None:
    inner = f"<button onclick='say(`Inside`, 3000)'>Save</button>{SAY}".replace('"', "&quot;")
    page = await local.show(f'<iframe srcdoc="{inner}"></iframe>')
    page = await local.step(act.Click(next(node.mark for node in page.nodes if node.mark)))
    assert "appeared for 3 s: Inside" in render(page)
