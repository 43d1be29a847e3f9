"""The elements that were acted on, each as it was just before."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from tasks.task import Task
from tests.local_pages import mark_of
from webagent.action import Action
from webagent.action import actions as act
from webagent.browser import Browser, BrowserWorld
from webagent.browser.evidence import probes
from webagent.browser.sessions.profile import Profile
from webagent.records import Observation

pytestmark = pytest.mark.browser

PAGE = """<title>Shop</title><body class="shop"><header><nav>Top</nav></header>
<div id="main" class="wide two"><p>Text</p><p><a class="item" href="/a?b=1&c">First</a></p>
<p><a class="item" href="/b" aria-label="The &quot;second&quot;">Second</a></p>
<input name="q" placeholder="Search" value="old">
<select aria-label="Size"><option>Small</option><option>Large</option></select>
<button onclick="this.remove()">Remove</button></div>
<iframe srcdoc="<button id=inner>Inside</button>"></iframe>
<x-box></x-box><script>
const box = document.querySelector("x-box").attachShadow({ mode: "open" });
box.innerHTML = "<button>Shadow</button>";
for (const link of document.links) link.onclick = () => false;
</script>"""


@pytest.fixture
def shop(tmp_path: Path) -> Task:
    """A task on the page that asks for its elements."""
    (tmp_path / "shop.html").write_text(PAGE)
    return Task(id="t/shop@1", start_url=(tmp_path / "shop.html").as_uri(), records=("elements",))


async def play(
    world: BrowserWorld, task: Task, *makes: Callable[[Observation], Action]
) -> list[dict[str, Any]]:
    """What is noted of these actions."""
    page = await world.reset(task)
    for make in makes:
        page = await world.step(make(page))
    noted = (await world.evidence(task))["elements"]
    assert isinstance(noted, list)
    return [each for each in noted if isinstance(each, dict)]


async def test_an_element_is_told_by_its_place_text_value_and_attributes(world, shop):
    (link,) = await play(world, shop, lambda page: act.Click(mark_of(page, 'The "second"')))
    outline = link.pop("outline")
    assert link == {
        "step": 0,
        "action": "click",
        "url": shop.start_url,
        "frame": None,
        "tag": "a",
        "selector": "p:nth-of-type(3) > a",
        "xpath": "/html/body/div/p[3]/a",
        "text": "Second",
        "value": "",
        "attributes": {"class": "item", "href": "/b", "aria-label": 'The "second"'},
    }
    tree = BeautifulSoup(outline, "html.parser")
    for selector in (
        "#main > p:nth-child(3) > a",
        "body.shop header + div.wide.two a[href='/b']",
        "div p ~ p + p > a.item",
        link["selector"],
    ):
        assert [each["aria-label"] for each in tree.select(selector)] == ['The "second"'], selector
    assert tree.select("p:nth-child(2) > a[data-acted]") == []
    assert "Text" not in outline


async def test_what_was_put_in_stands_beside_what_was_there(world, shop):
    noted = await play(
        world,
        shop,
        lambda page: act.Fill(mark_of(page, "Search"), "new"),
        lambda page: act.SelectOption(mark_of(page, "Size"), "Large"),
        lambda page: act.Press(mark_of(page, "Search"), "End"),
        lambda page: act.KeyboardType("er"),
        lambda page: act.Wait(1),
        lambda page: act.Clear(mark_of(page, "Search")),
    )
    assert [(e["step"], e["action"], e.get("value_before"), e["value"]) for e in noted] == [
        (0, "fill", "old", "new"),
        (1, "select_option", "Small", "Large"),
        (2, "press", None, "new"),
        (3, "keyboard_type", "new", "newer"),
        (5, "clear", "newer", ""),
    ]


async def test_actions_at_points_in_frames_and_shadows_name_their_elements(world, shop):
    def point(page: Observation, name: str) -> tuple[int, int]:
        left, top, width, height = next(n.box for n in page.nodes if n.name == name)
        return left + width // 2, top + height // 2

    noted = await play(
        world,
        shop,
        lambda page: act.Click(mark_of(page, "Inside")),
        lambda page: act.MouseClick(*point(page, "Inside")),
        lambda page: act.MouseClick(*point(page, "Shadow")),
        lambda page: act.DragAndDrop(mark_of(page, "First"), mark_of(page, "Remove")),
    )
    told = [(each["step"], each["selector"], each["frame"]) for each in noted]
    assert told == [
        (0, "#inner", "about:srcdoc"),
        (1, "#inner", "about:srcdoc"),
        (2, "x-box >>> button", None),
        (3, "p:nth-of-type(2) > a", None),
        (3, "button", None),
    ]
    assert noted[-1]["text"] == "Remove" and noted[2]["xpath"] is None


async def test_what_could_not_be_done_was_not_acted_on(world: BrowserWorld, shop: Task) -> None:
    noted = await play(
        world,
        shop,
        lambda page: act.Click(99),
        lambda page: act.Fill(mark_of(page, "Remove"), "x"),
        lambda page: act.Click(mark_of(page, "Remove")),
    )
    assert [(each["step"], each["text"]) for each in noted] == [(2, "Remove")]


async def test_what_opens_a_dialog_was_acted_on(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "ask.html").write_text(
        "<input aria-label=Typed oninput=alert(1)><button onclick=alert(2)>Ask</button>"
    )
    task = Task(id="t/ask@1", start_url=(tmp_path / "ask.html").as_uri(), records=("elements",))
    world = await browser.world(profile=Profile(dialogs="ask"))
    noted = await play(
        world,
        task,
        lambda page: act.Fill(mark_of(page, "Typed"), "x"),
        lambda page: act.AnswerDialog("accept"),
        lambda page: act.Click(mark_of(page, "Ask")),
    )
    await world.close()
    assert [(each["step"], each["tag"]) for each in noted] == [(0, "input"), (2, "button")]


async def test_more_elements_than_are_kept_are_none(world, shop, monkeypatch):
    monkeypatch.setattr(probes, "MOST_ELEMENTS", 1)
    page = await world.reset(shop)
    for _ in range(2):
        page = await world.step(act.Hover(mark_of(page, "First")))
    evidence = await world.evidence(shop)
    assert evidence == {"uncaptured": {"elements": "more than 1 elements were acted on"}}


async def test_notes_cost_one_command_and_none_where_they_are_not_asked_for(world, shop, commands):
    counts = []
    for records in ((), ("network",), ("elements",), ("elements", "network")):
        page = await world.reset(Task(id=shop.id, start_url=shop.start_url, records=records))
        page = await world.step(act.Hover(mark_of(page, "Remove")))
        commands.clear()
        await world.step(act.Click(mark_of(page, "First")))
        counts.append(len(commands))
    plain = counts[0]
    assert counts == [plain, plain, plain + 1, plain + 1]
