"""A tick box that a component draws is a tick box, ticked or not, and called by its row."""

import pytest

from tests.local_pages import Gallery, mark_of
from webagent.action import actions as act
from webagent.records import Node, Observation

pytestmark = pytest.mark.browser
CLOCKS = pytest.mark.parametrize("clock", ["virtual", "real"])

DRAWN = """<style>.box { width: 20px; height: 20px; background: #ccc; cursor: pointer }
  input { NOT_SEEN }</style><table><tr><th><th>Item<th>Stock
  <tr><td>BOX<td>Kayak<td>3<tr><td>BOX<td>Rope<td>12</table>"""
BESIDE = """<div class=field><input type=checkbox><div class=box
  onclick="this.previousElementSibling.click()"></div></div>"""
INSIDE = "<div class=box onclick='this.firstChild.click()'><input type=checkbox></div>"
NO_FIELD = """<div class="box simple-checkbox" onclick="this.firstChild.className =
  'icon-checkbox-' + (this.firstChild.className.endsWith('blank') ? 'marked' : 'blank')"
  ><i class=icon-checkbox-blank></i></div>"""


def ticks(page: Observation) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(node.role, node.name, node.states) for node in page.nodes if node.mark]


@pytest.mark.sample(3)
@CLOCKS
@pytest.mark.parametrize("box", [BESIDE, INSIDE, NO_FIELD])
@pytest.mark.parametrize("unseen", ["display: none", "visibility: hidden; position: absolute"])
async def test_a_drawn_box_is_checked_and_unchecked(local, clock, box, unseen):
    page = await local.show(DRAWN.replace("NOT_SEEN", unseen).replace("BOX", box), clock=clock)
    off, on = ("unchecked",), ("checked",)
    assert ticks(page) == [("checkbox", "Kayak", off), ("checkbox", "Rope", off)]
    rope = mark_of(page, "Rope")
    page = await local.step(act.Check(rope))
    assert ticks(page) == [("checkbox", "Kayak", off), ("checkbox", "Rope", on)]
    page = await local.step(act.Check(rope))
    assert page.outcome == f"element {rope} is checked already"
    page = await local.step(act.Uncheck(rope))
    assert ticks(page) == [("checkbox", "Kayak", off), ("checkbox", "Rope", off)]


async def test_a_transparent_field_and_its_drawing_are_one_element(gallery: Gallery) -> None:
    page = await gallery.show("""<style>label, span { display: inline-block; position: relative }
        input { opacity: 0; position: absolute; inset: 0; margin: 0 }
        i { display: block; width: 16px; height: 16px; background: blue; cursor: pointer }</style>
        <span><input type=checkbox aria-label=Accept><i onclick="1"></i></span>""")
    assert ticks(page) == [("checkbox", "Accept", ("unchecked",))]


async def test_a_dot_beside_a_tick_box_stays(gallery: Gallery) -> None:
    page = await gallery.show("""<input type=checkbox aria-label=Done>
        <i style="display: inline-block; width: 9px; height: 9px; background: red"></i>""")
    assert [node.name for node in page.nodes if node.mark] == ["Done", "red box"]


async def test_boxes_that_an_author_calls_alike_are_told_apart_by_their_rows(gallery):
    row = "<tr><td><input type=checkbox aria-label='Select row'><td>{}<td><button>Edit</button>"
    head = "<tr><th><input type=checkbox><th>Item<th>"
    page = await gallery.show(f"<table>{head}{row.format('Kayak')}{row.format('Rope')}</table>")
    boxes = [(n.name, n.description) for n in page.nodes if n.role == "checkbox"]
    assert boxes == [("all rows", ""), ("Select row", "Kayak"), ("Select row", "Rope")]


async def test_boxes_of_one_row_are_told_apart_by_their_columns(gallery: Gallery) -> None:
    row = "<tr><td>{}<td><input type=checkbox><td><input type=checkbox>"
    head = "<tr><th>Who<th>Reads<th>Writes"
    page = await gallery.show(f"<table>{head}{row.format('Ada')}{row.format('Bob')}</table>")
    names = [name for _, name, _ in ticks(page)]
    assert names == ["Ada Reads", "Ada Writes", "Bob Reads", "Bob Writes"]


async def test_the_words_after_a_box_stay_a_control_of_their_own(gallery: Gallery) -> None:
    page = await gallery.show(
        "<div><input type=checkbox><!-- v-if --><span onclick=1 tabindex=0>Docs</span></div>"
    )
    assert ticks(page) == [("checkbox", "Docs", ("unchecked",)), ("generic", "Docs", ())]


async def test_no_icon_of_a_control_is_told_of_a_second_time(gallery: Gallery) -> None:
    page = await gallery.show("""<style>i::before { content: "\\e900"; padding: 9px }</style>
        <table><tr><td>Kayak<td><i class=icon-pencil role=button tabindex=0></i><i class=icon-bin
        role=button tabindex=0></i></table>""")
    assert [node.name for node in page.nodes] == ["Kayak", "pencil", "bin"]


async def test_a_label_of_what_is_only_read_keeps_its_words(gallery: Gallery) -> None:
    page = await gallery.show("""<label>Total: <output>£12.50</output></label><br>
        <label>Disk <meter value=.7></meter></label><br><label>Rate <my-stars>three</my-stars>
        </label><script>customElements.define("my-stars", class extends HTMLElement {
        static formAssociated = true })</script>""")
    assert [node.name for node in page.nodes] == ["Total: £12.50", "Disk 70%", "Rate three"]
    assert all(isinstance(node, Node) and not node.mark for node in page.nodes)


SWITCHES = """<style>.row { display: flex; align-items: center; width: 600px; padding: 10px }
  .track { width: 36px; height: 20px; border-radius: 10px; background: grey; cursor: pointer;
    position: relative } .knob { width: 16px; height: 16px; border-radius: 50%; background: white;
    position: absolute; top: 2px; left: 2px } .active .knob { transform: translateX(16px) }
  .drawn::after { content: ""; width: 16px; height: 16px; border-radius: 8px; background: white;
    position: absolute; top: 2px; left: 2px } .drawn.active::after { left: 18px }</style>
  <div class=row><div><div>Full names</div><div>In place of short ones.</div></div>
    <div class=track onclick="this.classList.toggle('active')">
    <div class=knob></div></div></div>
  <div class=row>Spelling <div class="track active drawn" onclick="1"></div></div>
  <div class=row dir=rtl>Links <div class="track drawn" onclick="1"></div></div>
  <div class=row>Colour <div class=track onclick="1"></div></div>"""


async def test_a_switch_that_is_only_drawn_has_its_rows_name_and_its_state(local):
    page = await local.show(SWITCHES)
    states = [(node.name, *node.states) for node in page.nodes if node.role == "switch"]
    assert states == [("Full names", "unchecked"), ("Spelling", "checked"), ("Links", "checked")]
    page = await local.step(act.Check(mark_of(page, "Full names")))
    assert page.outcome == ""
    assert next(node.states for node in page.nodes if node.role == "switch") == ("checked",)


async def test_a_row_to_click_with_buttons_and_a_long_text_can_be_clicked(local):
    page = await local.show(f"""<div style="cursor: pointer" onclick="document.title = 'read'">
      <button>Star</button> <div>Ada Sand</div><div>{"a long text " * 20}</div></div>""")
    assert [node.name for node in page.nodes if node.mark][:2] == ["Ada Sand", "Star"]
    assert (await local.step(act.Click(mark_of(page, "Ada Sand")))).title == "read"


@CLOCKS
async def test_a_box_without_a_name_is_called_by_its_row_and_not_by_its_style(local, clock):
    box = "<div class='q-checkbox no-outline' role=checkbox aria-checked=false tabindex=0></div>"
    table = f"<table><tr><td>{box}<td>Kayak</table>"
    tree = f"<div style='display: flex'>{box}<span>Europe</span></div>"
    page = await local.show(
        f"<style>[role] {{ width: 20px; height: 20px; background: #ccc }}</style>{table}{tree}",
        clock=clock,
    )
    assert [name for _, name, _ in ticks(page)] == ["Kayak", "Europe"]


async def test_a_box_without_a_label_is_called_by_its_line_where_it_is_the_only_one(
    gallery,
) -> None:
    line = "<div><label><input type=checkbox></label><b>{}</b><button>Edit</button></div>"
    page = await gallery.show(line.format("Before lunch") + line.format("After lunch"))
    names = [name for role, name, _ in ticks(page) if role == "checkbox"]
    assert names == ["Before lunch", "After lunch"]


async def test_a_switch_whose_track_lies_in_it_is_one(gallery: Gallery) -> None:
    page = await gallery.show("""<style>
        .switch, .track { width: 44px; height: 24px; cursor: pointer }
        .track { border-radius: 12px; background: #ccc; position: relative }
        .knob { position: absolute; width: 20px; height: 20px; border-radius: 10px; top: 2px }
        </style>
        <p>Mail <div class=switch onclick="1"><div class=track>
        <div class=knob style="left: 22px"></div></div></div>""")
    assert [(role, states) for role, _, states in ticks(page)] == [("switch", ("checked",))]
