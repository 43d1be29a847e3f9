"""Shadow trees are part of the page, open or closed, however deep, and are acted in."""

import pytest

from tasks.task import Task
from tests.local_pages import LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser

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


async def test_what_is_in_a_closed_shadow_tree_is_seen_and_clicked(local: LocalWorld) -> None:
    seen = await local.show(CLOSED)
    assert render(seen) == '[1] button "Inside"\n[2] generic "Listens"\n[3] textbox "Field"'
    assert (await local.step(act.Click(1))).title == "pressed"
    assert (await local.step(act.Click(2))).title == "heard"
    assert 'value="typed" focused' in render(await local.step(act.Fill(3, "typed")))


@pytest.mark.parametrize(
    ("source", "button", "title"),
    [(DECLARED, "Inside", "pressed"), (DEEP, "Bottom", "bottom"), (SLOTTED, "Press me", "pressed")],
    ids=["declared in the source", "fifty in each other", "around a slot"],
)
async def test_a_button_in_shadow_trees_of_any_form_is_clicked(local, source, button, title):
    seen = await local.show(source)
    if source == DECLARED:
        assert [node.name for node in seen.nodes] == ["Before", "Inside", "Deeper", "Link"]
    assert (await local.step(act.Click(mark_of(seen, button)))).title == title


async def test_handing_a_closed_tree_over_leaves_nothing_on_the_page(world, tmp_path):
    left = {"left": "[CSS.highlights.size, host.shadowRoot, document.documentElement.outerHTML]"}
    (tmp_path / "page.html").write_text(CLOSED)
    task = Task("page/shadows@1", (tmp_path / "page.html").as_uri(), evidence=left)
    await world.reset(task)
    size, root, html = (await world.evidence(task))["left"]  # type: ignore[misc, union-attr]
    assert (size, root) == (0, None) and "webagent" not in str(html)
