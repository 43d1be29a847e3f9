"""Shadow trees are part of the page, open or closed, however deep, and are acted in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks.task import Task
from tests.local_pages import mark_of
from webagent.action import actions as act
from webagent.browser import BrowserWorld
from webagent.observation import render

pytestmark = pytest.mark.browser
MakePage = Callable[..., Task]

CLOSED = """
<title>Closed</title><div id=host></div><script>
  const root = host.attachShadow({ mode: "closed" });
  root.innerHTML = "<button>Inside</button><span>Listens</span><input aria-label=Field>";
  root.querySelector("button").onclick = () => { document.title = "pressed"; };
  root.querySelector("span").addEventListener("click", () => { document.title = "heard"; });
</script>
"""
DECLARED = """
<title>Declared</title><p>Before</p>
<div><template shadowrootmode=closed><button onclick="document.title = 'pressed'">Inside</button>
  <div><template shadowrootmode=closed><button>Deeper</button></template></div></template></div>
<section><b>Not in a slot</b><template shadowrootmode=closed><a href=#>Link</a></template></section>
<div style="height: 30px"></div>
"""
DEEP = """
<title>Deep</title><div id=host></div><script>
  let level = host;
  for (let depth = 0; depth < 50; depth++) {
    const root = level.attachShadow({ mode: depth % 2 ? "open" : "closed" });
    level = document.createElement("div");
    root.append(level);
  }
  level.innerHTML = "<button onclick='document.title = `bottom`'>Bottom</button>";
</script>
"""
SLOTTED = """
<title>Slotted</title><my-button><b>Press me</b></my-button><script>
  const root = document.querySelector("my-button").attachShadow({ mode: "closed" });
  root.innerHTML = "<button><slot></slot></button>";
  root.firstChild.onclick = () => { document.title = "pressed"; };
</script>
"""


@pytest.fixture
def written(tmp_path: Path) -> MakePage:
    """Makes a task on a page with this source."""

    def make(source: str, **fields: Any) -> Task:
        (tmp_path / "page.html").write_text(source)
        url = (tmp_path / "page.html").as_uri()
        return Task(id="page/shadows@1", start_url=url, **fields)

    return make


async def test_what_is_in_a_closed_shadow_tree_is_seen_and_clicked(
    world: BrowserWorld, written: MakePage
) -> None:
    seen = await world.reset(written(CLOSED))
    assert render(seen) == '[1] button "Inside"\n[2] generic "Listens"\n[3] textbox "Field"'
    assert (await world.step(act.Click(1))).title == "pressed"
    assert (await world.step(act.Click(2))).title == "heard"
    assert 'value="typed" focused' in render(await world.step(act.Fill(3, "typed")))


async def test_closed_shadow_trees_of_the_pages_source_are_seen_too(
    world: BrowserWorld, written: MakePage
) -> None:
    seen = await world.reset(written(DECLARED))
    assert [node.name for node in seen.nodes] == ["Before", "Inside", "Deeper", "Link"]
    assert (await world.step(act.Click(mark_of(seen, "Inside")))).title == "pressed"


async def test_fifty_shadow_trees_in_each_other_are_gone_through(
    world: BrowserWorld, written: MakePage
) -> None:
    seen = await world.reset(written(DEEP))
    assert (await world.step(act.Click(mark_of(seen, "Bottom")))).title == "bottom"


async def test_a_button_around_a_slot_is_reached_through_what_is_in_the_slot(
    world: BrowserWorld, written: MakePage
) -> None:
    seen = await world.reset(written(SLOTTED))
    assert (await world.step(act.Click(mark_of(seen, "Press me")))).title == "pressed"


async def test_handing_a_closed_tree_over_leaves_nothing_on_the_page(
    world: BrowserWorld, written: MakePage
) -> None:
    left = {"left": "[CSS.highlights.size, host.shadowRoot, document.documentElement.outerHTML]"}
    task = written(CLOSED, evidence=left)
    await world.reset(task)
    size, root, html = (await world.evidence(task))["left"]  # type: ignore[misc, union-attr]
    assert (size, root) == (0, None) and "webagent" not in str(html)
