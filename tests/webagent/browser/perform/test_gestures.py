"""Dragging, keys and the mouse at points: pages hear what they hear from a person."""

import pytest

from tests.local_pages import LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render
from webagent.records import Observation

pytestmark = pytest.mark.browser


def middle_of(observation: Observation, name: str) -> tuple[int, int]:
    """The middle of the element with this name, in CSS pixels."""
    box = next(node.box for node in observation.nodes if node.name == name)
    return box[0] + box[2] // 2, box[1] + box[3] // 2


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("Alpha", "Gamma", ("todo:Beta,Gamma,Alpha", "dragstart dragenter drop dragend")),
        ("Beta", "Omega", ("todo:Alpha,Gamma done:Omega,Beta",)),
        ("One", "Three", ("pointer:Two,Three,One",)),
    ],
    ids=["within a native list", "from one list to another", "in a list of pointer events"],
)
async def test_items_are_sorted_by_dragging(local, source, target, said):
    page = await local.open("sorting")
    after = render(await local.step(act.DragAndDrop(mark_of(page, source), mark_of(page, target))))
    assert all(part in after for part in said)


async def test_an_item_is_dragged_by_its_handle(local: LocalWorld) -> None:
    page = await local.show("""<ol id=l><li><i class=drag-handle>=</i> One, a long one<li>Two</ol>
        <script>l.onpointerdown = ({ target }) => { if (target.className)
          onpointerup = ({ target: to }) => { document.title = to.id; };
        }; l.onclick = () => 0; l.lastChild.id = "moved";</script>""")
    one = next(node.mark for node in page.nodes if "One" in node.name)
    after = await local.step(act.DragAndDrop(one, mark_of(page, "Two")))
    assert after.title == "moved"


async def test_a_thing_is_dropped_on_a_canvas(local: LocalWorld) -> None:
    page = await local.open("sorting")
    left, top, width, height = next(node.box for node in page.nodes if node.kind == "canvas")
    x, y = middle_of(page, "Alpha")
    after = await local.step(act.MouseDrag(x, y, *(left + width // 2, top + height // 2)))
    assert f"canvas got Alpha at {width // 2 - 1}," in render(after)


async def test_a_native_drag_in_single_steps_is_dropped_when_the_button_comes_up(local):
    page = await local.open("sorting")
    x, y = middle_of(page, "Alpha")
    to = middle_of(page, "Gamma")
    await local.step(act.MouseDown(x, y))
    await local.step(act.MouseMove(x, y + 20))
    await local.step(act.MouseMove(*to))
    after = await local.step(act.MouseUp(to[0], to[1] + 5))
    assert "todo:Beta,Gamma,Alpha" in render(after)


async def test_the_mouse_is_pressed_moved_and_let_go_in_single_steps(local: LocalWorld) -> None:
    page = await local.open("keys")
    left, top, _, _ = next(node.box for node in page.nodes if node.kind == "canvas")
    await local.step(act.MouseDown(left + 10, top + 10))
    await local.step(act.MouseMove(left + 30, top + 10))
    after = await local.step(act.MouseUp(left + 30, top + 30))
    assert "down0 move1 up" in render(after)


async def test_clicks_at_points_know_button_and_number(local: LocalWorld) -> None:
    page = await local.open("keys")
    x, y = middle_of(page, "Target")
    assert "dblclick:0" in render(await local.step(act.MouseDoubleClick(x, y)))
    assert "auxclick:1" in render(await local.step(act.MouseClick(x, y, "middle")))


async def test_a_click_with_keys_held_carries_them(local: LocalWorld) -> None:
    page = await local.open("keys")
    target = mark_of(page, "Target")
    after = await local.step(act.ClickWith(target, "ctrl+Shift"))
    assert "click:0:ctrlKey+shiftKey" in render(after)
    assert "click:0 " in render(await local.step(act.Click(target))) + " "
    twice = await local.step(act.ClickWith(target, "", 2, "right"))
    assert render(twice).count("contextmenu:2") == 2
    assert "1 to 3 times" in (await local.step(act.ClickWith(target, "", 9))).outcome


async def test_held_keys_stay_down_until_they_are_let_go(local: LocalWorld) -> None:
    page = await local.open("keys")
    target = mark_of(page, "Target")
    await local.step(act.KeyboardDown("Shift"))
    assert "click:0:shiftKey" in render(await local.step(act.Click(target)))
    await local.step(act.KeyboardUp("Shift"))
    assert render(await local.step(act.Click(target))).endswith("click:0")


async def test_text_is_typed_and_put_in_at_the_focus(local: LocalWorld) -> None:
    page = await local.open("keys")
    second = mark_of(page, "Second")
    await local.step(act.Focus(second))
    await local.step(act.KeyboardType("typed, "))
    filled = (await local.step(act.KeyboardInsertText("put in"))).node(second)
    assert filled is not None and filled.value == "typed, put in"


@pytest.mark.parametrize("combination", ["Control+a", "ctrl+A", "CONTROL+KeyA"])
async def test_a_combination_may_be_written_as_people_do(local, combination):
    page = await local.open("keys")
    first = mark_of(page, "First")
    selected = (await local.step(act.Press(first, combination))).node(first)
    assert selected is not None and "highlighted" in selected.states


async def test_function_keys_and_meta_are_heard(local: LocalWorld) -> None:
    await local.open("keys")
    assert "key F2" in render(await local.step(act.Press(0, "F2")))
    assert "key k metaKey" in render(await local.step(act.Press(0, "Cmd+k")))


async def test_shift_and_tab_go_back_to_the_field_before(local: LocalWorld) -> None:
    page = await local.open("keys")
    back = await local.step(act.Press(mark_of(page, "Second"), "Shift+Tab"))
    assert back.focus == mark_of(page, "First")


async def test_a_misspelt_key_is_answered_with_the_close_ones(local: LocalWorld) -> None:
    await local.open("keys")
    entr = await local.step(act.Press(0, "Entr"))
    assert entr.outcome.startswith("there is no key 'Entr'; did you mean Enter")
    assert (await local.step(act.KeyboardDown("é"))).outcome == "there is no key 'é'"


async def test_the_wheel_is_turned_over_a_point(local: LocalWorld) -> None:
    page = await local.open("keys")
    left, top, width, height = next(node.box for node in page.nodes if node.kind == "canvas")
    zoomed = await local.step(act.ScrollAt(left + width // 2, top + height // 2, 0, 120))
    assert "zoom 120" in render(zoomed)
    assert "outside" in (await local.step(act.ScrollAt(5000, 10, 0, 120))).outcome


async def test_the_wheel_scrolls_what_lies_under_the_point(world, page_task):
    task = page_task("keys", evidence={"top": "document.getElementById('pane').scrollTop"})
    page = await world.reset(task)
    await world.step(act.ScrollAt(*middle_of(page, "Pane"), 0, 200))
    assert await world.evidence(task) == {"top": 200}


@pytest.mark.parametrize("clock", ["virtual", "real"])
@pytest.mark.parametrize("is_native", [True, False])
async def test_a_drag_reaches_a_target_out_of_view(local, clock, is_native):
    by_mouse = """onmousedown="held = true" """, """onmouseup="if (held) document.title = 'in'" """
    by_browser = (
        """draggable=true ondragstart="event.dataTransfer.setData('text', 'x')" """,
        """ondragover="event.preventDefault()" ondrop="document.title = 'in'" """,
    )
    from_, to = by_browser if is_native else by_mouse
    page = await local.show(
        f"""<script>let held = false</script><div {from_} style="width: 90px">Card</div>
        <div style="height: 3000px"></div><div {to} tabindex=0 style="height: 90px">Done</div>""",
        clock=clock,
    )
    page = await local.step(act.DragAndDrop(mark_of(page, "Card"), mark_of(page, "Done")))
    assert (page.title, page.outcome) == ("in", "")


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_the_wheel_turns_over_a_map_that_zooms(local: LocalWorld, clock: str) -> None:
    page = await local.show(
        """<div id=map tabindex=0 aria-label=Map role=button style="height: 300px; width: 300px">
        </div><div style="height: 3000px"></div><script>map.addEventListener("wheel", (event) => {
        event.preventDefault(); document.title = event.deltaY }, { passive: false })</script>""",
        clock=clock,
    )
    page = await local.step(act.Scroll(mark_of(page, "Map"), 0, 120))
    assert page.title == "120" and page.scroll[0] == 0
