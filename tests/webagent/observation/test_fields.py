"""Forms whose fields are called like what a form is asked for: seen and acted on as any others."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.task import Task
from tests.local_pages import Gallery, LocalWorld, mark_of
from webagent.action import Action
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.observation import render
from webagent.observation.variants import VARIANTS
from webagent.records import Observation

pytestmark = pytest.mark.browser
Acts = Callable[[Observation], Action]


async def played(browser, task, acts=(), variant="text"):
    """What is seen at first and after each action: outcome, lines and what the variant captured."""
    world = await browser.world(variant=VARIANTS[variant])
    try:
        seen = [await world.reset(task)]
        for each in acts:
            seen.append(await world.step(each(seen[-1])))
    finally:
        await world.close()
    return [(page.outcome, render(page), page.captured) for page in seen]


async def both(browser, task, acts=(), variant="text"):
    """The same with fields called like members, and with fields called otherwise."""
    plain = replace(task, start_url=f"{task.start_url}?plain")
    return (await played(browser, task, acts, variant), await played(browser, plain, acts, variant))


@pytest.mark.parametrize("variant", ["set-of-marks", "pruned", "accessibility", "html"])
async def test_names_of_fields_change_nothing_of_what_is_seen(browser, page_task, variant):
    named, plain = await both(browser, page_task("fields"), variant=variant)
    assert named == [
        (outcome, lines, captured.replace("?plain", "")) for outcome, lines, captured in plain
    ]
    for name in ("Name", "Inside", "Card", "Note", "Colours", "Ticked", "Volume", "Deep"):
        assert f'"{name}"' in named[0][1]


async def test_names_of_fields_change_nothing_of_what_can_be_done(browser, page_task, tmp_path):
    letter = tmp_path / "letter.txt"
    letter.write_text("abc")
    acts: list[Acts] = [
        lambda page: act.Fill(mark_of(page, "Name"), "Ada"),
        lambda page: act.Check(mark_of(page, "Gift")),
        lambda page: act.SelectOption(mark_of(page, "Size"), "Large"),
        lambda page: act.UploadFile(mark_of(page, "Picture"), str(letter)),
        lambda page: act.Click(mark_of(page, "Inside")),
        lambda page: act.Click(mark_of(page, "Send")),
        lambda page: act.Click(mark_of(page, "Card")),
        lambda page: act.Fill(mark_of(page, "Note"), "New words"),
        lambda page: act.Clear(mark_of(page, "Note")),
        lambda page: act.SelectOption(mark_of(page, "Colours"), "Blue"),
        lambda page: act.Check(mark_of(page, "Ticked")),
        lambda page: act.Focus(mark_of(page, "Volume")),
        lambda page: act.Hover(mark_of(page, "Volume")),
        lambda page: act.Scroll(mark_of(page, "Long"), 0, 100),
        lambda page: act.Click(mark_of(page, "Deep")),
        lambda page: act.DragAndDrop(mark_of(page, "Card"), mark_of(page, "Volume")),
    ]
    named, plain = await both(browser, page_task("fields"), acts)
    assert named == plain
    lines = named[-1][1]
    for done in ('"Name" value="Ada"', '"Large" selected', "letter.txt", "click Send", "submit"):
        assert done in lines
    for done in ("click Card", "input Note", "click Ticked", "click Deep"):
        assert done in lines


@pytest.mark.sample(3)
@pytest.mark.parametrize("clock", ["virtual", "real"])
@pytest.mark.parametrize(
    "field, text, value, outcome",
    [
        ("type=number step=any value=7", "12,50", "7", "does not take 12,50; write it as 12.50"),
        ("type=number step=any value=7", "12.50", "12.50", ""),
        ("type=time value=09:00", "half past two", "09:00", "write it as 14:30"),
        ("type=time value=09:00", "14:30", "14:30", ""),
        ("type=date value=2026-01-02", "31.12.2026", "2026-01-02", "write it as 2026-12-31"),
        ("type=color value=#000000", "#FF8000", "#ff8000", ""),
        ("type=range value=3 max=10", "12", "3", "it goes from 0 to 10"),
        ("type=text maxlength=4", "London", "Lond", "does not hold all of the 6 characters"),
        ("maxlength=6", "London", "London", ""),
        ("oninput=\"value = value.replace('.', '')\"", "3.5", "35", "not hold all of the 3 char"),
        ("oninput=\"value = value.replace('X', ' ').toUpperCase()\"", "ab c", "AB C", ""),
    ],
)
async def test_a_field_says_what_it_does_not_take_and_keeps_what_it_had(
    local, clock, field, text, value, outcome
):
    page = await local.show(f"<label>Field <input {field}></label>", clock=clock)
    mark = mark_of(page, "Field")
    page = await local.step(act.Fill(mark, text))
    node = page.node(mark)
    assert node and node.value == value
    assert outcome in page.outcome and bool(outcome) == bool(page.outcome)


@pytest.mark.parametrize(
    "source, line",
    [
        (
            "<input aria-label=City list=l><datalist id=l><option value=Rome><option value=Oslo>"
            "</datalist>",
            '[1] combobox "City" (suggests Rome, Oslo)',
        ),
        ("<img draggable=true width=20 height=20 alt=Piece>", '[1] image "Piece"'),
    ],
)
async def test_what_a_browser_offers_is_listed(gallery: Gallery, source: str, line: str) -> None:
    assert render(await gallery.show(source)) == line


LOOSE = """<div><div><label>Studio <a href=#>Help</a></label><div><div><input placeholder=None>
  <input type=hidden></div></div></div><div><label>Price</label><div><select><option>above</select>
  </div><div><input></div></div><div><label>Town</label><input placeholder=Anything>
  <input placeholder=Postcode></div></div>"""
SIGN_IN = (
    "<form><h1>Sign in</h1><input placeholder=Name><label>Stay <input type=checkbox></label></form>"
)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (LOOSE, ["Studio Help", "Price", "Price", "Town", "Postcode"]),
        (SIGN_IN, ["Name"]),
        (
            "<p><label for=i hidden>X</label><label for=i aria-hidden=true>X</label><input id=i>",
            ["X"],
        ),
        ("<label>Above</label><p><input placeholder=Own></p><label>Below</label>", ["Own"]),
    ],
)
async def test_a_label_that_is_tied_to_no_field_names_the_one_behind_it(gallery, source, names):
    page = await gallery.show(source)
    assert [node.name for node in page.nodes if node.role in ("textbox", "combobox")] == names


async def test_the_second_of_two_options_of_one_label_is_chosen(local: LocalWorld) -> None:
    page = await local.show("""<select aria-label=Size onchange="document.title = value">
        <option value=none>Pick<option value=a>Large<option value=b>Large</select>""")
    marks = [node.mark for node in page.nodes if node.name == "Large"]
    assert (await local.step(act.Click(marks[1]))).title == "b"


async def test_what_the_author_says_of_a_pattern_is_said_once_it_is_broken(local):
    page = await local.show("""<form><input aria-label=Code pattern="[0-9]{4}"
        title="Four digits"><button>Send</button></form>""")
    await local.step(act.Fill(mark_of(page, "Code"), "abc"))
    page = await local.step(act.Click(mark_of(page, "Send")))
    assert "Four digits" in page.nodes[0].description


async def test_a_drawing_as_the_whole_document_is_read(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "go.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="99"><a href="#x">'
        '<text x="10" y="40">Go</text></a></svg>'
    )
    world = await browser.world()
    page = await world.reset(Task("page/drawing@1", (tmp_path / "go.svg").as_uri()))
    await world.close()
    assert [node.name for node in page.nodes if node.mark] == ["Go"]


INTERNALS = """<script>
const define = (name, set, shadow) => customElements.define(name, class extends HTMLElement {
  static formAssociated = true;
  constructor() {
    super();
    this.own = this.attachInternals();
    this.attachShadow({ mode: "closed" }).innerHTML = shadow;
    set(this.own);
    this.onclick = () => { this.own.ariaChecked = "true" };
  }
  connectedCallback() { this.tabIndex = 0 }
});
define("x-step", (own) => { own.role = "spinbutton"; own.ariaValueNow = "3" }, "<b>3</b>");
define("x-switch", (own) => Object.assign(own, { role: "switch", ariaChecked: "false" }), "<slot>");
define("x-rate", (own) => Object.assign(own, { role: "button", ariaLabel: "Rate it" }), "<b>*</b>");
</script><label for=many>Quantity</label> <x-step id=many></x-step><x-switch>Dark</x-switch><p
id=late></p><script>late.append(document.createElement("x-rate"))</script>"""


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_custom_element_is_what_it_says_of_itself(local: LocalWorld, clock: str) -> None:
    page = await local.show(INTERNALS, clock=clock)
    seen = [(node.role, node.name, node.value, node.states) for node in page.nodes if node.mark]
    step, rate = ("spinbutton", "Quantity", "3", ()), ("button", "Rate it", "", ())
    assert seen == [step, ("switch", "Dark", "", ("unchecked",)), rate]
    page = await local.step(act.Check(mark_of(page, "Dark")))
    assert "checked" in next(node.states for node in page.nodes if node.name == "Dark")
