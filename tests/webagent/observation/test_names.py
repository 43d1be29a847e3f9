"""Roles and names are those of the standards, and Chromium's own accessibility tree agrees."""

import json

import pytest

from tasks.task import Task
from webagent.browser.page.tab import Tab
from webagent.browser.sessions.profile import Profile

pytestmark = pytest.mark.browser

# Source, role and name.
CASES = (
    ("<button>Save <b>all</b></button>", "button", "Save all"),
    ("<button aria-label='Close'>X</button>", "button", "Close"),
    ("<button><img alt='Print' src='x.png'></button>", "button", "Print"),
    ("<button>Go<span aria-hidden=true> ✓</span></button>", "button", "Go"),
    ("<button>Show<span style='display: none'> hidden</span></button>", "button", "Show"),
    ("<button title='Bold'></button>", "button", "Bold"),
    ("<button class=marked>Next</button>", "button", "» Next"),
    ("<button style='text-transform: uppercase'>Loud</button>", "button", "LOUD"),
    ("<span id=l1>Billing</span><input aria-labelledby='l1 l2'>", "textbox", "Billing Name"),
    ("<i id=l2 hidden>Name</i><input aria-labelledby='l2'>", "textbox", "Name"),
    ("<button id=b1 aria-label=Cut aria-labelledby='b1 l2'>-</button>", "button", "Cut Name"),
    ("<label>Town <input></label>", "textbox", "Town"),
    ("<label for=t2>Street</label><input id=t2 placeholder=x>", "textbox", "Street"),
    ("<input title=Titled placeholder=Held>", "textbox", "Titled"),
    ("<input placeholder=Held>", "textbox", "Held"),
    ("<label>Wait <input type=number aria-label=Number> minutes</label>", "spinbutton", "Number"),
    (
        "<label><input type=checkbox> Flash <input value=7 aria-hidden=false> times</label>",
        "checkbox",
        "Flash 7 times",
    ),
    ("<input type=submit>", "button", "Submit"),
    ("<input type=reset value=Again>", "button", "Again"),
    ("<input type=image alt=Search src=x.png>", "button", "Search"),
    ("<select aria-label=Size><option>Big</select>", "combobox", "Size"),
    ("<select multiple aria-label=Many><option>A</select>", "listbox", "Many"),
    ("<input list=d aria-label=Listed><datalist id=d></datalist>", "combobox", "Listed"),
    ("<textarea aria-label=Notes></textarea>", "textbox", "Notes"),
    ("<a href=#>Read <i>more</i></a>", "link", "Read more"),
    ("<a href=#><div>One</div><div>Two</div></a>", "link", "One Two"),
    ("<a href=#><svg width=20 height=20><title>Home</title></svg></a>", "link", "Home"),
    ("<div role='nonsense button' tabindex=0>Falls back</div>", "button", "Falls back"),
    ("<button role=presentation>Still a button</button>", "button", "Still a button"),
    ("<div role=checkbox aria-checked=true tabindex=0>Ticked</div>", "checkbox", "Ticked"),
    ("<div role=slider tabindex=0 aria-valuenow=3 aria-label=Volume></div>", "slider", "Volume"),
    ("<div role=tab tabindex=0>First</div>", "tab", "First"),
    ("<div role=switch aria-checked=false tabindex=0>Wifi</div>", "switch", "Wifi"),
    ("<div contenteditable role=textbox aria-label=Body>text</div>", "textbox", "Body"),
    ("<details><summary>More</summary>text</details>", "button", "More"),
    ("<div role=button tabindex=0><my-x>In <em>custom</em></my-x></div>", "button", "In custom"),
    ("<button aria-labelledby=a1>x</button><i id=a1 aria-hidden=true>Open</i>", "button", "Open"),
    ("<input aria-labelledby=v1><input id=v1 value=Monday>", "textbox", "Monday"),
    ("<div role=button tabindex=0 aria-owns=o1>Bag</div><i id=o1>full</i>", "button", "Bag full"),
    (
        "<input type=checkbox id=c1><label for=c1>Pin <input type=password value=abc> on</label>",
        "checkbox",
        "Pin ••• on",
    ),
    (
        "<input type=checkbox id=c2><label for=c2>At <meter value=3 max=9>x</meter> bars</label>",
        "checkbox",
        "At 3 bars",
    ),
    ("<a href=#>Two<img alt=by src=x.png>four</a>", "link", "Two by four"),
    ("<button class=rated>Rate</button>", "button", "star Rate"),
    ("<button class=scored>Score</button>", "button", "two stars Score"),
    (
        "<input type=checkbox id=c3><label for=c3>Flash <span role=menu>1</span> times</label>",
        "checkbox",
        "Flash times",
    ),
    (
        "<label><input type=radio> Wait <b role=combobox tabindex=0 aria-label=n>3</b> s</label>",
        "radio",
        "Wait 3 s",
    ),
    ("<a href=#>My <img alt='' role=presentation title=x src=x.png>page</a>", "link", "My page"),
    (
        "<label for=s1>State</label><select id=s1 hidden><option>Ohio</select><span role=combobox "
        "tabindex=0 aria-labelledby=v2><b id=v2 role=textbox aria-readonly=true>Ohio</b></span>",
        "combobox",
        "Ohio",
    ),
    ("<button>Say <q>yes <q>now</q></q></button>", "button", "Say “yes ‘now’”"),
)
STYLE = (
    "<style>.marked::before { content: '» ' } .rated::before { content: '★' / 'star' }"
    ".scored::before { content: '★★' / 'two ' 'stars' }"
    "[role=slider] { width: 50px; height: 9px }</style>"
)
CHROMIUMS = {"DisclosureTriangle": "button", "TextFieldWithComboBox": "combobox"}
CHROMIUMS |= {"ComboBoxSelect": "combobox", "ComboBoxMenuButton": "combobox"}


@pytest.fixture(scope="module")
async def compared(browser, tmp_path_factory):
    """Ours and Chromium's role and name of the last element of each case that has any."""
    path = tmp_path_factory.mktemp("names") / "names.html"
    lines = (f"<section>{source}</section>" for source, _, _ in CASES)
    path.write_text(f"<meta charset=utf-8>{STYLE}{''.join(lines)}", encoding="utf-8")
    tabs = await browser.open_tabs(Task(id="page/names@1", start_url=path.as_uri()), Profile())
    await tabs.start(path.as_uri())
    await tabs.first.view(ignore="", firstMark=1)
    pairs = await both_sides(tabs.first)
    await browser.close_tabs(tabs)
    return pairs


async def both_sides(tab: Tab) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """What is said of every marked element, by us and by Chromium, in the order of the marks."""
    answer, numbers = await tab.ask_for_elements("called")
    said = [(role, name) for role, name, _ in json.loads(answer)]
    await tab.send("Accessibility.enable")
    tree = {
        node["backendDOMNodeId"]: (
            CHROMIUMS.get(role := node["role"]["value"], role),  # in the standards' words
            " ".join(node["name"]["value"].split()),
        )
        for node in (await tab.send("Accessibility.getFullAXTree"))["nodes"]
        if "name" in node and "backendDOMNodeId" in node
    }
    theirs = [tree.get(number, ("none", "")) for number in numbers]
    return list(zip(said, theirs, strict=True))


@pytest.mark.sample(4)
@pytest.mark.parametrize(("source", "role", "name"), CASES, ids=[case[0] for case in CASES])
async def test_an_element_is_called_what_the_standards_call_it(compared, source, role, name):
    assert (role, name) in [mine for mine, _ in compared]


async def test_chromium_calls_them_the_same(compared):
    differing = [
        (mine, theirs) for mine, theirs in compared if mine != theirs and mine[0] != "option"
    ]
    assert len(compared) >= len(CASES)
    assert differing == []


async def test_descriptions_come_from_references_and_titles(browser, tmp_path):
    path = tmp_path / "described.html"
    path.write_text("""<p id=help>At least 8 signs</p>
      <input aria-label=Secret aria-describedby=help><button title="Saves it">Save</button>
      <button title=Same>Same</button>""")
    tabs = await browser.open_tabs(Task(id="page/described@1", start_url=path.as_uri()), Profile())
    await tabs.start(path.as_uri())
    await tabs.first.view(ignore="", firstMark=1)
    said = json.loads((await tabs.first.ask_for_elements("called"))[0])
    await browser.close_tabs(tabs)
    assert [description for _, _, description in said] == ["At least 8 signs", "Saves it", ""]


ICONS = "<style>button, i { min-width: 20px; min-height: 20px; display: inline-block }</style>"
DRAWING = "<svg width=16 height=16><path d='M0 0h9v9'/></svg>"


@pytest.mark.parametrize(
    "source, name",
    [
        (f"<button class='v-btn v-btn--round theme--light v-size--small'>{DRAWING}</button>", ""),
        (f"<button class='css-1yxmbwk' data-bs-original-title=Print>{DRAWING}</button>", "Print"),
        (f"<button class='v-icon theme--light' data-tooltip=Archive>{DRAWING}</button>", "Archive"),
        (
            "<style>b::before { content: '_'; display: inline-block; width: 0 }</style>"
            "<button><b></b>Print</button>",
            "Print",
        ),
        (f"<button class='delete-row theme--light'>{DRAWING}</button>", "delete row"),
        (f"<table><tr><th>Name<th>Remove<tr><td>Rope<td><button>{DRAWING}</button>", "Remove"),
        (f"<table><tr><td>Rope<td><button class=btn-sm>{DRAWING}</button>", "Rope"),
        (
            "<div class='v-image v-responsive' onclick=1 style='width: 60px; height: 60px; "
            "background: url(kayak-blue.png)'></div>",
            "kayak blue",
        ),
    ],
)
async def test_an_icon_is_called_by_anything_but_its_style(gallery, source, name):
    page = await gallery.show(ICONS + source)
    assert [node.name for node in page.nodes if node.mark] == [name]
