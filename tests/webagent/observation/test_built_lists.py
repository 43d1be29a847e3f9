"""Widgets that a page draws in place of the browser's own lists are called as those lists are."""

import pytest

from tests.local_pages import Gallery, LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser

CLIPPED = "style='position: absolute; clip-path: inset(50%); width: 1px; height: 1px' tabindex=-1"
BARE = "position: absolute; border: 0; padding: 0"
SPECK = f"style='{BARE}; width: 1px; height: 1px; clip: rect(0 0 0 0)'"
CLEAR = f"style='{BARE}; width: .5px; height: 9px; opacity: 0'"
OPTIONS = "<option>Ohio<option selected>Iowa<option>Utah"


def box(number: int, shown: str) -> str:
    """A widget as Select2 draws it: named by the words that it shows."""
    return (
        f"<span><span><span role=combobox aria-haspopup=true aria-expanded=false tabindex=0 "
        f"aria-labelledby=v{number}><b id=v{number} role=textbox aria-readonly=true>{shown}</b>"
        f"</span></span></span>"
    )


NAMED = {
    "by the label of the list that stands before it": (
        f"<p><label for=a>State</label><select id=a {CLIPPED}>{OPTIONS}</select>{box(1, 'Iowa')}"
        f"<p><label for=b>Home</label><select id=b {CLIPPED}>{OPTIONS}</select>{box(2, 'Iowa')}",
        '[1] combobox "State" value="Iowa" collapsed\n[2] combobox "Home" value="Iowa" collapsed',
    ),
    "by the label of the list that stands behind it": (
        f"<label for=a>State</label>{box(1, 'Iowa')}<select id=a {SPECK}>{OPTIONS}</select>"
        f"<label for=b>Home</label>{box(2, 'Utah')}<select id=b {SPECK}><option>Utah</select>",
        '[1] combobox "State" value="Iowa" collapsed\n[2] combobox "Home" value="Utah" collapsed',
    ),
    "by the label of a list that is not drawn at all, which has no line of its own": (
        f"<p><label for=a>State</label><select id=a hidden>{OPTIONS}</select>{box(1, 'Iowa')}",
        '[1] combobox "State" value="Iowa" collapsed',
    ),
    "by the label of the list in the same widget": (
        f"<label for=a>State</label><div><select id=a {CLEAR}>{OPTIONS}</select>"
        "<button role=combobox aria-haspopup=listbox aria-expanded=false title=Iowa>Iowa</button>"
        f"</div><label for=b>Home</label><div role=combobox aria-haspopup=true tabindex=0><i>"
        f"<select id=b hidden>{OPTIONS}</select>Iowa</i></div>",
        '[1] combobox "State" value="Iowa" collapsed\n[2] combobox "Home" value="Iowa"',
    ),
    "by the label around both": (
        f"<label>State <select {CLIPPED}>{OPTIONS}</select>{box(1, 'Iowa')}</label>",
        '[1] combobox "State" value="Iowa" collapsed',
    ),
    "by the words beside it, as the list would be": (
        f"<div>State: <select {CLIPPED}>{OPTIONS}</select>{box(1, 'Iowa')}</div><table><tr>"
        f"<th>Partner<th>Code<tr><td><select {CLIPPED}>{OPTIONS}</select>{box(2, '---')}"
        "<td><input></table>",
        '[1] combobox "State:" value="Iowa" collapsed\nPartner | Code\n'
        '[2] combobox "Partner" value="---" collapsed | [3] textbox "Code"',
    ),
    "by nothing, rather than by what it shows": (
        f"<p>Pick</p><select {CLIPPED}>{OPTIONS}</select>{box(1, 'Iowa')}",
        'Pick\n[1] combobox value="Iowa" collapsed',
    ),
    "by its author's own label, unless that is only its role": (
        f"<label for=a>State</label><select id=a hidden>{OPTIONS}</select>"
        "<div role=combobox aria-label='State of birth' tabindex=0>Iowa</div>"
        f"<label for=b>Home</label><select id=b hidden>{OPTIONS}</select>"
        "<div role=combobox aria-label=Combobox tabindex=0>Iowa</div>",
        '[1] combobox "State of birth" value="Iowa"\n[2] combobox "Home" value="Iowa"',
    ),
    "by all that is chosen": (
        f"<label for=a>States</label><select id=a multiple {CLIPPED}><option selected>Ohio<option>"
        "Iowa<option selected>Utah</select><span role=combobox tabindex=-1><ul><li><i>×</i>Ohio"
        "<li><i>×</i>Utah</ul></span>",
        '[1] combobox "States" value="Ohio, Utah"',
    ),
    "where nothing says that it is a list": (
        f"<label for=a>State</label><select id=a hidden>{OPTIONS}</select>"
        "<div><a onclick='go()'><span>Iowa</span></a></div>",
        '[1] combobox "State" value="Iowa"',
    ),
    "whose field is seen only while one types": (
        f"<label for=f>State</label><select {CLIPPED}>{OPTIONS}</select><div><div onclick='go()'>"
        "<div>Iowa</div><input role=combobox id=f style='position: absolute; left: -9999px'></div>"
        "</div>",
        '[1] combobox "State" value="Iowa"',
    ),
    "by a label that refers to the widget itself": (
        f"<label for=w>Speed</label><select hidden>{OPTIONS}</select><span id=w role=combobox "
        "tabindex=0 aria-labelledby=w><i>Iowa</i></span>",
        'Speed\n[1] combobox "Speed" value="Iowa"',
    ),
    "but none where another value is shown": (
        f"<label for=a>State</label><select id=a hidden>{OPTIONS}</select><button>Send</button>",
        '[1] combobox "State" value="Iowa"\n[2] button "Send"',
    ),
    "but none that is a link, a menu or a search beside a list for other screens": (
        "<select hidden><option>Home<option>News</select><nav><ul><li><a href=/home>Home</a>"
        "<li onclick='go()'>Home</ul></nav><select hidden><option>Home</select><a href=home>Home"
        "</a><select hidden><option>All</select><button aria-haspopup=true>Shop</button>"
        "<select hidden><option>All</select><div role=combobox><input aria-label=Find></div>",
        '[1] link "Home"\n[2] generic "Home"\n[3] link "Home"\n[4] button "Shop"\n'
        '[5] textbox "Find"',
    ),
    "but none where the list lies over its words and takes the clicks": (
        "<div style='position: relative'><b onclick='go()'>Iowa</b><select aria-label=State "
        "style='position: absolute; left: 0; opacity: 0'><option>Iowa</select></div>",
        '[1] generic "Iowa"\n[2] combobox "State" value="Iowa"\n  [3] option "Iowa" selected',
    ),
    "but none where the list itself is seen": (
        "<label for=a>State</label><select id=a><option>Iowa</select>"
        "<div role=combobox aria-label=Home tabindex=0>Iowa</div>",
        '[1] combobox "State" value="Iowa"\n  [2] option "Iowa" selected\n'
        '[3] combobox "Home" value="Iowa"',
    ),
    "without the field in which it keeps its value": (
        "<b id=l>Age</b><div role=combobox tabindex=0 aria-labelledby=l>Ten</div><input value=10 "
        "aria-hidden=true tabindex=-1 style='opacity: 0; pointer-events: none'>",
        'Age\n[1] combobox "Age" value="Ten"',
    ),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("what", NAMED)
async def test_a_widget_in_place_of_a_list_is_named(gallery: Gallery, what: str) -> None:
    source, text = NAMED[what]
    assert render(await gallery.show(f"<!doctype html><meta charset=utf-8>{source}")) == text


OPENED = {
    "whose options open elsewhere": """<div role=combobox tabindex=0
      onclick="list.hidden = false">Iowa</div><p id=said></p><div id=list hidden>
      <p role=option onclick="said.textContent = 'chose ' + this.textContent">Utah</div>""",
    "without roles": """<div><a onclick="list.hidden = false">Iowa</a>
      <ul id=list hidden><li>Ohio<li>Iowa<li>Utah</ul></div><p id=said></p><script>
      list.onclick = (event) => { said.textContent = 'chose ' + event.target.textContent }
      </script>""",
}


@pytest.mark.parametrize("what", OPENED)
async def test_a_widget_in_place_of_a_list_is_chosen_from_by_label(local: LocalWorld, what: str):
    hidden = f"<!doctype html><label for=a>State</label><select id=a hidden>{OPTIONS}</select>"
    page = await local.show(hidden + OPENED[what])
    page = await local.step(act.SelectOption(mark_of(page, "State"), "Utah"))
    assert page.outcome == "" and "chose Utah" in render(page)
