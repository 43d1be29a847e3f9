"""Widgets that pages build themselves: what a person sees and does there, the agent can."""

import pytest

from tasks.task import Task
from tests.local_pages import mark_of
from webagent.action import Action
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.observation import render
from webagent.records import Observation

pytestmark = pytest.mark.browser
LISTENS = "<script>{}.addEventListener('{}', (event) => document.title = event.type)</script>"


async def look(
    browser: Browser, body: str, *actions: Action, clock: str = "virtual"
) -> Observation:
    """The page after the actions."""
    world = await browser.world()
    task = Task("test/widget@1", f"data:text/html,<!doctype html>{body}", clock=clock)
    try:
        page = await world.reset(task)
        for action in actions:
            page = await world.step(action)
    finally:
        await world.close()
    return page


async def test_a_label_that_is_not_its_controls_name_is_shown(browser: Browser) -> None:
    page = render(await look(browser, "<label>Day <input aria-label='Use the arrow keys'></label>"))
    assert page.splitlines() == ["Day", '[1] textbox "Use the arrow keys"']
    page = render(await look(browser, "<label>Day <input aria-label='Day of arrival'></label>"))
    assert page.splitlines() == ['[1] textbox "Day of arrival"']


async def test_what_a_built_list_shows_is_its_value(browser: Browser) -> None:
    page = await look(browser, "<div role=combobox aria-label=Size tabindex=0>Small</div>")
    assert '[1] combobox "Size" value="Small"' in render(page)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("<ul id=l><li>One<li>Two</ul>", ['[1] generic "One"', '[2] generic "Two"']),
        ("<div id=l><span>1</span> <span>2</span></div>", ['[1] generic "1"', '[2] generic "2"']),
        (
            "<div id=l><table><tr><th>Tea<td>3<tr><th>Milk<td>5</table></div>",
            ['[1] generic "Tea" | [2] generic "3"', '[3] generic "Milk" | [4] generic "5"'],
        ),
        ("<div id=l><h3>Trip</h3><p>Two days</p></div>", ['[1] generic "Trip Two days"']),
        ("<div id=l style='cursor:pointer'><i>A</i><b>B</b></div>", ['[1] generic "AB"']),
    ],
    ids=["list", "cells of a calendar", "table", "a card is one thing", "a button is one thing"],
)
async def test_items_of_what_listens_for_clicks_are_elements_of_their_own(browser, body, lines):
    page = await look(browser, body + LISTENS.format("l", "click"))
    assert render(page).splitlines() == lines


async def test_items_of_a_list_that_listens_for_drags_only_are_elements_however_long_it_is(browser):
    items = "".join(f"<li>Item {number}" for number in range(60))
    page = await look(browser, f"<ul id=l>{items}</ul>" + LISTENS.format("l", "pointerdown"))
    assert sum(node.mark > 0 for node in page.nodes) == 60
    page = await look(browser, f"<ul id=l>{items}</ul>" + LISTENS.format("l", "click"))
    assert not any(node.mark for node in page.nodes)


async def test_a_transparent_list_over_its_words_can_be_chosen_from(browser: Browser) -> None:
    body = (
        "<div style='position:relative'>November<select style='opacity:0;position:absolute;left:0'"
        " aria-label=Month onmousedown='window.pressed = true'"
        " onchange='document.title = this.value + window.pressed'>"
        "<option>November<option>December</select></div>"
    )
    page = await look(browser, body, act.SelectOption(1, "December"))
    assert page.title == "Decembertrue"


async def test_a_label_beside_other_words_hides_none_of_them(browser: Browser) -> None:
    page = render(await look(browser, "<div role=group tabindex=0 aria-label='1 / 3'>Sea</div>"))
    assert page.splitlines() == ['[1] group "1 / 3"', "  Sea"]


async def test_words_in_a_slot_name_the_widget(browser: Browser) -> None:
    body = (
        "<x-item>Trees</x-item><script>customElements.define('x-item', class extends HTMLElement {"
        "constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML ="
        " '<div class=open-button tabindex=0><slot></slot></div>' }})</script>"
    )
    assert render(await look(browser, body)) == '[1] generic "Trees"'


async def test_icons_that_are_called_alike_are_told_apart(browser: Browser) -> None:
    icon = (
        "<span class='bar-item bar-item_{0}'><button class=bar-item__button>"
        "<svg class=icon_{0}></svg></button></span>"
    )
    page = render(await look(browser, icon.format("bold") + icon.format("italic")))
    assert '[1] button "bold' in page
    assert '[2] button "italic' in page


async def test_a_field_is_not_called_by_the_choices_below_it(browser: Browser) -> None:
    choices = "<div><div><input></div><ul><li>Ohio<li>Iowa<li>Utah</ul></div>"
    page = await look(browser, f"<p>Pick</p>{choices}<ul><li>Town<li><input></ul>")
    assert [node.name for node in page.nodes if node.mark] == ["", "Town"]


async def test_an_icon_keeps_its_name_while_what_it_opens_is_open(browser: Browser) -> None:
    toggle = "<div class='group {0}'><button class='more {0}'></button></div>"
    style = "<style>.more::after { content: ''; border-top: 4px solid }</style>"
    page = await look(browser, style + toggle.format("") + toggle.format("show"))
    assert [node.name for node in page.nodes] == ["more", "more"]


async def test_a_map_that_is_moved_by_its_surface_can_be_acted_on(browser: Browser) -> None:
    body = "<div id=m aria-label=Map style='height:200px'><button>Zoom in</button></div>"
    page = await look(browser, body + LISTENS.format("m", "mousedown"))
    assert page.nodes[0].name == "Map"
    assert page.nodes[0].box[3] == 200


async def test_what_an_action_brings_on_later_is_seen_once_it_has_come_in(browser: Browser) -> None:
    body = (
        "<style>@keyframes in {from {opacity: 0} to {opacity: 1}} .in {animation: in .3s}</style>"
        "<button onclick=\"setTimeout(() => document.body.insertAdjacentHTML('beforeend',"
        " '<ul class=in><li><button>Pro</button></ul>'), 100)\">Plan</button>"
    )
    assert mark_of(await look(browser, body, act.Click(1)), "Pro")


SLIDER = (
    "<div role=slider tabindex=0 aria-label=Price aria-valuenow=20 aria-valuemin=0"
    " aria-valuemax=100 {}>o</div>"
)
KEYS = (
    "onkeydown=\"this.setAttribute('aria-valuenow', Number(this.getAttribute('aria-valuenow'))"
    ' + ({ArrowRight: 5, ArrowLeft: -5}[event.key] || 0))"'
)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("keys", "value", "shown", "said"),
    [
        (KEYS, "60", "60", ""),
        (KEYS, "5", "5", ""),
        (KEYS, "61", "60", "to 60, not to 61"),
        (KEYS, "200", "20", "from 0 to 100"),
        ("", "60", "20", "try to drag it"),
        (KEYS, "much", "20", "is not a text field"),
    ],
)
async def test_a_built_slider_is_set_by_its_value(browser, keys, value, shown, said):
    page = await look(browser, SLIDER.format(keys), act.Fill(1, value))
    assert page.nodes[0].value == shown
    assert said in page.outcome


async def test_a_slider_whose_track_takes_the_keys_is_set(browser):
    body = SLIDER.format(KEYS).replace("tabindex=0", "").replace(">o<", "><b tabindex=0>o</b><")
    page = await look(browser, body, act.Fill(1, "35"))
    assert page.nodes[0].value == "35"


async def test_hidden_radio_buttons_on_top_of_each_other_are_chosen_by_their_labels(browser):
    one = (
        "<input type=radio name=s id=s{0} style='position:absolute;left:9px;width:1px'>"
        "<label for=s{0}>{0} *</label>"
    )
    page = await look(browser, one.format(1) + one.format(2), act.Check(2))
    assert "checked" in page.nodes[1].states


async def test_a_field_below_the_words_of_its_own_widget_is_clicked_there(browser: Browser) -> None:
    body = (
        "<div id=w style='position:relative;width:200px;height:30px'><input aria-label=Zone"
        " readonly style='width:200px'><span style='position:absolute;inset:0'>Zone</span></div>"
        "<script>w.addEventListener('click', () => document.title = 'opened')</script>"
    )
    page = await look(browser, body)
    field = next(node.mark for node in page.nodes if node.role == "textbox")
    assert (await look(browser, body, act.Click(field))).title == "opened"


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_drag_begins_with_a_small_move_and_goes_on_by_frames(browser, clock):
    body = (
        "<div id=b style='width:50px;height:50px;background:red'>B</div><script>"
        "let start = null, frames = 0;"
        "const count = () => { frames++; requestAnimationFrame(count) };"
        "b.onmousedown = (e) => { start = [e.clientX]; frames = 0; count() };"
        "document.onmousemove = (e) => { if (start) start.push(e.clientX) };"
        "document.onmouseup = () =>"
        " document.title = [start[1] - start[0], frames > 4].join()</script>"
    )
    assert (
        await look(browser, body, act.MouseDrag(30, 30, 330, 30), clock=clock)
    ).title == "6,true"


async def test_boxes_are_given_of_text_too(browser: Browser) -> None:
    page = await look(browser, "<p>Bin</p>")
    assert render(page, boxes=True).startswith("Bin at 8,")
    assert render(page) == "Bin"


async def test_fields_of_a_form_that_listens_keep_their_words_beside_them(browser: Browser) -> None:
    body = (
        "<form id=f><table><tr><th>Priority<td><select><option>low</select>"
        "<tr><th>Status<td><select><option>new</select></table></form>"
    )
    page = await look(browser, body + LISTENS.format("f", "click"))
    assert [node.name for node in page.nodes if node.role == "combobox"] == ["Priority", "Status"]
