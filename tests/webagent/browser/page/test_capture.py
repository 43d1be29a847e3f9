"""What is captured of real pages beyond their lines, and that nothing is written into them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.task import PageHooks, Task
from webagent.action.actions import Click
from webagent.browser import Browser, BrowserWorld
from webagent.browser.page.source import PageSource
from webagent.observation.variants import VARIANTS, ObservationVariant

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><title>Shop</title>
<style>.clip { overflow: hidden; height: 20px; width: 100px }</style>
<h1 id=top>Shop</h1><p data-x=1>Hello <b>you</b></p>
<form><input id=who value=old type=text><input type=password value=geheim>
<textarea>long</textarea><select><option>Red<option selected>Blue</select></form>
<div class=clip><button>In view</button><br><button style="margin-top:60px">Cut off</button></div>
<div id=host></div><div style="display:none">never</div><aside>no part</aside>
<iframe srcdoc="<button>Inside</button>"></iframe>
<script>
  host.attachShadow({ mode: "open" }).innerHTML = "<button>Deep</button>";
  who.value = "now";
</script>"""


@pytest.fixture
def task(tmp_path: Path, page_with: Callable[..., Task]) -> Task:
    """The page above as a task."""
    return page_with(PAGE)


@pytest.fixture
def page_with(tmp_path: Path) -> Callable[..., Task]:
    """Makes a task on a page of this source."""

    def make(source: str, **fields: object) -> Task:
        path = tmp_path / "page.html"
        path.write_text(source, encoding="utf-8")
        return Task("page/captured@1", path.as_uri(), **fields)

    return make


async def shown(browser: Browser, task: Task, name: str) -> tuple[str, BrowserWorld]:
    """The page as a variant writes it, and the world it is open in."""
    variant = VARIANTS[name]
    world = await browser.world(variant=variant)
    return variant.write(await world.reset(task), 5000), world


async def test_markup_shows_the_page_as_it_is_now(browser: Browser, task: Task):
    text, world = await shown(browser, task, "html")
    await world.close()
    assert 'value="now"' in text and 'value="••••••"' in text
    assert " selected>Blue</option>" in text and ">Deep</button>" in text
    assert "never" not in text and "geheim" not in text and "data-x" not in text


LISTED = """<table><thead><tr><th colspan=2>Name</th><th rowspan=2>Age</th></tr>
<tr><th>First</th><th>Last</th></tr></thead>
<tr><td rowspan=2>Ann</td><td>Lee <b>R</b>ay<br>Jr.</td><td></td></tr>
<tr><td>Fox</td><td>4</td></tr>
<tr style="display:none"><td>No</td><td>No</td><td>9</td></tr><tr><td colspan=3>Page 1</td></tr>
<tfoot><tr><td>2</td><td></td><td>4</td></tr></tfoot></table>
<div role=grid><div role=row><b role=columnheader>Day</b><b role=columnheader>Sum</b></div>
<div role=row><i role=gridcell>Mon</i><i role=gridcell>7</i></div></div>
<ul><li><h3>Tin</h3><p class=price>£3</p><p class=state>is <b>new</b></p></li>
<li><h3>Cup</h3><p class=price></p><p class=state>is <b>old</b></p></li></ul>"""


async def test_lists_are_captured_cell_by_cell(browser: Browser, page_with: Callable[..., Task]):
    variant = ObservationVariant("lists", capture=lambda page: page.lists())
    world = await browser.world(variant=variant)
    page = await world.reset(page_with(LISTED))
    table, grid, cards = (each.values() for each in json.loads(page.captured))
    await world.close()
    spanned = [["Ann", "Lee Ray Jr.", ""], ["Ann", "Fox", "4"]]
    assert [*table][1:3] == [["First", "Last", "Age"], spanned]
    assert [*grid][1:3] == [["Day", "Sum"], [["Mon", "7"]]]
    shown = [["Tin", "£3", "is new"], ["Cup", "", "is old"]]
    assert [*cards][1:] == [["h3", "price", "state"], shown, ["h3", "p"]]


async def test_marks_in_every_form_are_those_that_actions_take(browser: Browser, task: Task):
    for name in ("html", "accessibility"):
        variant = VARIANTS[name]
        world = await browser.world(variant=variant)
        page = await world.reset(task)
        mark = next(node.mark for node in page.nodes if node.name == "Deep")
        text = variant.write(page, 5000)
        expected = {
            "html": f'<button mark="{mark}">Deep</button>',
            "accessibility": f'[{mark}] button "Deep"',
        }
        assert expected[name] in text
        assert (await world.step(Click(mark))).outcome in ("", "no effect")
        await world.close()


async def test_nothing_is_written_into_the_page(world: BrowserWorld, task: Task):
    await world.reset(task)
    tab = world.source().tab
    before = await tab.evaluate("document.documentElement.outerHTML")
    await world.mark_all()
    source = world.source()
    await source.accessibility()
    await source.markup()
    assert await tab.evaluate("document.documentElement.outerHTML") == before


async def test_every_element_can_be_given_a_mark_and_acted_on(world: BrowserWorld, task: Task):
    page = await world.reset(task)
    lines = {node.mark for node in page.nodes if node.mark}
    members = await world.mark_all()
    marks = [member.mark for member in members.by_node.values()]
    assert lines < set(marks) and len(set(marks)) == len(marks)
    heading = next(m for m in members.by_node.values() if m.mark and m.box[3] > 30)
    assert (await world.step(Click(heading.mark))).outcome in ("", "no effect")
    again = await world.mark_all()
    assert [member.mark for member in again.by_node.values()] == marks, "marks stay"


async def test_numbers_of_a_new_document_are_new(world: BrowserWorld, page_with, tmp_path: Path):
    (tmp_path / "next.html").write_text("<h1>Next</h1><button>New</button>", encoding="utf-8")
    page = await world.reset(page_with('<p>Old</p><a href="next.html">Go</a>'))
    old = {member.mark for member in (await world.mark_all()).by_node.values()}
    after = await world.step(Click(page.nodes[-1].mark))
    assert not {node.mark for node in after.nodes if node.mark} & old


async def test_what_is_no_part_of_the_task_is_told_apart(browser: Browser, page_with):
    task = page_with(PAGE, hooks=PageHooks(ignore="aside"))
    text, world = await shown(browser, task, "accessibility")
    assert "no part" not in text and "Hello" in text
    members = await world.mark_all()
    assert [m.mark for m in members.by_node.values() if m.outside] == [0]
    await world.close()


async def test_only_what_is_not_cut_off_counts_as_in_view(browser: Browser, task: Task):
    world = await browser.world(variant=VARIANTS["set-of-marks"])
    page = await world.reset(task)
    names = {node.name for node in page.nodes if str(node.mark) in page.captured.split()}
    assert "In view" in names and "Cut off" not in names
    await world.close()


async def test_frames_hang_in_the_accessibility_tree_where_they_stand(world, task):
    await world.reset(task)
    source = world.source()
    assert isinstance(source, PageSource)
    nodes = await source.accessibility_nodes()
    by_id = {node["nodeId"]: node for node in nodes}
    assert len(by_id) == len(nodes)
    frame = next(node for node in nodes if node["role"]["value"] == "Iframe")
    assert by_id[frame["childIds"][-1]]["role"]["value"] == "RootWebArea"
    inside = {node["name"]["value"] for node in nodes if node["role"]["value"] == "button"}
    assert {"Inside", "Deep", "In view"} <= inside
