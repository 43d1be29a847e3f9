"""Controls inside other controls are listed, and what a page keeps above its start can be used."""

import pytest

from tests.local_pages import Gallery, mark_of
from webagent.action import actions as act

pytestmark = pytest.mark.browser
CLOCKS = pytest.mark.parametrize("clock", ["virtual", "real"])


@pytest.mark.sample(3)
@CLOCKS
@pytest.mark.parametrize(
    "source, outer, inner",
    [
        ("<div role=button tabindex=0>Card <a href=#a>Details</a></div>", "Card", "Details"),
        ("<a href=#a>Post <span role=button tabindex=0>Like</span></a>", "Post", "Like"),
        (
            "<div role=tab tabindex=0>Mail <i role=button aria-label=Close>x</i></div>",
            "Mail",
            "Close",
        ),
        (
            "<ul role=menubar><li role=menuitem tabindex=0>File<ul role=menu>"
            "<li role=menuitem>New</ul></ul>",
            "File",
            "New",
        ),
        ("<div role=option tabindex=0>Anna <b role=button>Remove</b></div>", "Anna", "Remove"),
        (
            f"<div role=button tabindex=0>{'Long words ' * 20}<p><a href=#a>More</a></div>",
            ("Long words " * 20).strip(),
            "More",
        ),
        (
            "<style>input { display: none }</style><label><input type=checkbox>I take the "
            "<a href=#a>terms</a></label>",
            "I take the terms",
            "terms",
        ),
    ],
)
async def test_a_control_in_a_control_is_pressed_by_itself(local, clock, source, outer, inner):
    script = """<script>addEventListener("click", (event) =>
        document.title = event.target.closest("[role], a, label").textContent.trim())</script>"""
    page = await local.show(source + script, clock=clock)
    assert [node.name for node in page.nodes if node.mark] == [outer, inner]
    page = await local.step(act.Click(mark_of(page, inner)))
    assert page.title in (inner, "x")


async def test_a_frame_in_a_button_is_read(gallery: Gallery) -> None:
    page = await gallery.show("""<div role=button tabindex=0>Video
        <iframe srcdoc="<button>Play</button>"></iframe></div>""")
    assert [node.name for node in page.nodes] == ["Video", "frame", "Play"]


async def test_what_is_called_as_the_widget_around_it_stays_a_part_of_it(gallery):
    page = await gallery.show("""<ul role=menu><li role=menuitem tabindex=0><a href=#a>Open</a>
        </ul><button><span onclick=1>Save</span> <i onclick=2>now</i></button>""")
    assert [node.name for node in page.nodes] == ["Open", "Save now"]


async def test_buttons_and_ticks_in_an_editor_are_listed_and_its_text_is_its_value(local):
    page = await local.show("""<div contenteditable>Hello <span contenteditable=false>@anna
        <button onclick="this.parentNode.remove()">x</button></span><input type=checkbox
        aria-label=Done> <a href=#a>link</a></div><div contenteditable>Plain</div>""")
    assert [node.role for node in page.nodes] == ["textbox", "button", "checkbox", "textbox"]
    page = await local.step(act.Click(mark_of(page, "x")))
    assert [node.role for node in page.nodes] == ["textbox", "checkbox", "textbox"]


@CLOCKS
@pytest.mark.parametrize(
    "style",
    [
        "height: 90px; flex-direction: column-reverse; display: flex",
        "width: 200px; direction: rtl; white-space: nowrap",
        "width: 200px; flex-direction: row-reverse; display: flex",
    ],
)
async def test_buttons_above_and_left_of_where_a_list_starts_are_pressed(local, clock, style):
    items = "".join(
        f"<span style='flex: none; min-width: 90px; display: inline-block'><button "
        f'onclick="document.title = {n}">Reply {n}</button></span>'
        for n in range(12)
    )
    page = await local.show(
        f"<div style='overflow: auto; position: absolute; left: 0; top: 0; {style}'>{items}</div>",
        clock=clock,
    )
    assert [node.name for node in page.nodes if node.mark] == [f"Reply {n}" for n in range(12)]
    assert (await local.step(act.Click(mark_of(page, "Reply 11")))).title == "11"


async def test_a_menu_that_waits_beside_the_page_stays_out(gallery: Gallery) -> None:
    page = await gallery.show("""<div style="position: fixed; left: -300px; width: 200px">
        <button>Menu</button></div><button>Open</button>""")
    assert [node.name for node in page.nodes if node.mark] == ["Open"]


async def test_the_root_of_a_framework_swallows_no_text(gallery: Gallery) -> None:
    page = await gallery.show("""<div id=root><div>Sheep: 2</div><div>here</div></div><script>
        for (const type of ["click", "mousedown", "keydown", "wheel"])
          root.addEventListener(type, () => {})</script>""")
    assert [(node.mark, node.name) for node in page.nodes] == [(0, "Sheep: 2"), (0, "here")]


@CLOCKS
async def test_a_slider_is_let_go_of_once_the_page_has_taken_its_value(local, clock):
    page = await local.show(
        """<input type=range aria-label=Seek value=10><script>
        const field = document.querySelector("input"); let value = 10, seeking = false;
        field.onmousedown = () => { seeking = true };
        field.oninput = () => queueMicrotask(() => { value = field.value });
        field.onmouseup = () => { if (seeking) document.title = `at ${value}` }</script>""",
        clock=clock,
    )
    assert (await local.step(act.Fill(mark_of(page, "Seek"), "70"))).title == "at 70"


async def test_a_link_without_an_address_in_a_row_that_is_clicked_is_one(gallery: Gallery) -> None:
    page = await gallery.show("""<style>tr, a { cursor: pointer }</style>
        <table><tr><td><a>INV-1</a><td>Kayak</table>""")
    assert [(node.role, node.name) for node in page.nodes if node.mark][-1:] == [("link", "INV-1")]
