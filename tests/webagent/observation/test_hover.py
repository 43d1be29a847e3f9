"""What a page shows only while the mouse is over something is listed, and can be acted on."""

import pytest

from tests.local_pages import Gallery, LocalWorld, mark_of
from webagent.action import actions as act
from webagent.records import Observation

pytestmark = pytest.mark.browser
CLOCKS = pytest.mark.parametrize("clock", ["virtual", "real"])

MENU = """<style>nav li { position: relative; width: 120px } nav ul ul { display: none;
  position: absolute; left: 120px; top: 0 } nav li:hover > ul { display: block }</style>
  <nav><ul><li>Products<ul><li>Boats<ul><li><a href="#kayak" onclick="document.title = 'kayak'">
  Kayak</a></ul><li><a href="#oars">Oars</a></ul><li><a href="#about">About</a></ul></nav>"""


def listed(page: Observation) -> list[str]:
    return [node.name for node in page.nodes if node.description == "appears on hover"]


@CLOCKS
async def test_an_entry_of_a_menu_in_a_menu_is_clicked_in_one_action(local, clock):
    page = await local.show(MENU, clock=clock)
    assert listed(page) == ["Kayak", "Oars"]
    page = await local.step(act.Click(mark_of(page, "Kayak")))
    assert (page.title, page.outcome) == ("kayak", "")


@pytest.mark.sample(3)
@CLOCKS
@pytest.mark.parametrize(
    "hidden, shown",
    [
        ("opacity: 0", "opacity: 1"),
        ("visibility: hidden", "visibility: visible"),
        ("display: none", "display: inline-block"),
        ("max-height: 0; overflow: hidden; display: inline-block", "max-height: 50px"),
    ],
)
async def test_a_button_of_a_row_that_the_mouse_brings_up_is_pressed(local, clock, hidden, shown):
    page = await local.show(
        f"""<style>.edit {{ {hidden} }} .row:hover .edit {{ {shown} }}</style>
        <div class=row>Rope <span class=edit><button onclick="document.title = 'edited'">Edit
        </button></span></div><div class=row>Kayak</div>""",
        clock=clock,
    )
    assert listed(page) == ["Edit"]
    assert (await local.step(act.Click(mark_of(page, "Edit")))).title == "edited"


PIN = "<button class=pin onclick=\"document.title = 'pinned'\">Pin</button>"


@pytest.mark.parametrize(
    "source",
    [
        f"""<style>.pin {{ opacity: 0; &:is(:where(.group):hover *) {{ @media (hover: hover) {{
        opacity: 1 }} }} }}</style><p class=group>Note {PIN}""",
        f"""<p><template shadowrootmode=open><style>.pin {{ display: none }}
        :host(:hover) .pin {{ display: inline }}</style>Note {PIN}</template>""",
    ],
    ids=["nested in the rule of what it shows", "over the host of a shadow tree"],
)
async def test_a_rule_in_another_form_is_read(local: LocalWorld, source: str) -> None:
    page = await local.show(source)
    assert listed(page) == ["Pin"]
    assert (await local.step(act.Click(mark_of(page, "Pin")))).title == "pinned"


async def test_items_of_plain_text_are_listed_too(local: LocalWorld) -> None:
    page = await local.show("""<style>ul { display: none } div:hover ul { display: block }</style>
        <div onclick="document.title = event.target.textContent">Account
        <ul><li>Profile<li>Log out</ul></div>""")
    assert listed(page) == ["Profile", "Log out"]
    assert (await local.step(act.Click(mark_of(page, "Log out")))).title == "Log out"


async def test_what_no_style_brings_up_stays_out(gallery: Gallery) -> None:
    page = await gallery.show("""<style>.x { display: none } .y:hover { display: block }
        a:hover { color: red } .card:hover .z { color: red }</style>
        <button class=x>One</button><button class=x hidden>Two</button>
        <div class=card><button class=z hidden>Three</button></div><a href=#>Four</a>""")
    assert [node.name for node in page.nodes if node.mark] == ["Four"]


async def test_what_does_not_appear_after_all_is_said(local: LocalWorld) -> None:
    page = await local.show("""<style>.x { display: none } .row:hover .x { display: block }
        </style><div class=row onmouseenter="this.className = ''">Row
        <button class=x>Go</button>""")
    page = await local.step(act.Click(mark_of(page, "Go")))
    assert "is hidden" in page.outcome
