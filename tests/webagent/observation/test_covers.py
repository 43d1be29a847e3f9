"""What cannot be seen or used now is left out, and a line says that there is more."""

import pytest

from tests.local_pages import Gallery, LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser

PAGE = "<h1>Shop</h1><a href=#a>Offers</a><br><button>Buy</button><p>Long text of the shop</p>"
WALL = """<div style='position: fixed; inset: 0; background: {}; z-index: 9'>
  <p>We use cookies</p>{}</div>"""


async def test_what_lies_behind_a_wall_is_left_out_until_it_is_gone(local: LocalWorld) -> None:
    wall = WALL.format("white", "<button onclick='this.parentNode.remove()'>Accept</button>")
    seen = await local.show(PAGE + wall)
    elements = [node.name for node in seen.nodes if node.mark]
    assert elements == ["Accept"]
    assert "Shop" not in render(seen) and "Long text" not in render(seen)
    assert seen.nodes[-1].name == "behind other content: 2 elements"
    seen = await local.step(act.Click(mark_of(seen, "Accept")))
    assert [node.name for node in seen.nodes] == ["Shop", "Offers", "Buy", "Long text of the shop"]


async def test_what_shines_through_is_kept(gallery: Gallery) -> None:
    seen = await gallery.show(PAGE + WALL.format("rgba(0, 0, 0, 0.3)", ""))
    assert [node.name for node in seen.nodes if node.mark] == ["Offers", "Buy"]


async def test_what_a_list_scrolls_out_of_its_own_frame_is_not_behind_what_lies_there(local):
    options = "".join(
        f"<div role=option tabindex=0 style='height: 20px' onclick=\"this.append('!')\">{n}</div>"
        for n in range(9)
    )
    seen = await local.show(f"""<body style='margin: 0'>
          <div style='height: 100px; overflow: auto'>{options}</div>
          <div style='position: fixed; left: 0; right: 0; top: 100px; height: 200px;
          background: white; z-index: 9'><button>Save</button></div>""")
    assert [node.name for node in seen.nodes if node.mark] == [*"012345678", "Save"]
    seen = await local.step(act.Click(mark_of(seen, "7")))
    assert [node.name for node in seen.nodes if node.mark] == [*"0123456", "7!", "8", "Save"]


HEADER = """<div style='position: {}; top: 0; height: 100px; margin: 0; background: white;
  left: 0; right: 0; z-index: 9'>Shop</div>"""


@pytest.mark.parametrize("position", ["fixed", "sticky"])
async def test_what_a_page_scrolls_behind_its_header_is_read_and_can_be_clicked(local, position):
    seen = await local.show(f"""<body style='margin: 0'>{HEADER.format(position)}
          <p style='height: 200px'>Far up</p>
          <button onclick="this.textContent = 'Sold'">Buy</button><p style='height: 3000px'></p>""")
    seen = await local.step(act.Scroll(mark=0, dx=0, dy=seen.nodes[-1].box[1] - 40))
    assert seen.nodes[-1].box[1] < 100
    assert [node.name for node in seen.nodes] == ["Shop", "Far up", "Buy"]
    seen = await local.step(act.Click(mark_of(seen, "Buy")))
    assert seen.outcome == "" and mark_of(seen, "Sold")


async def test_what_no_scrolling_brings_out_is_behind_the_header(gallery: Gallery) -> None:
    header = HEADER.format("fixed")
    seen = await gallery.show(f"<body style='margin: 0'>{header}<button>Buy</button>")
    assert [node.name for node in seen.nodes] == ["Shop", "behind other content: 1 element"]


async def test_a_drawn_tick_over_a_real_one_hides_nothing(gallery: Gallery) -> None:
    drawn = """<label style="position: relative">
      <input type=checkbox style="width: 16px; height: 16px"><span style="position: absolute;
        left: 0; top: 0; width: 20px; height: 20px; background: blue"></span> Agree</label>"""
    seen = await gallery.show(drawn)
    assert '[1] checkbox "Agree" unchecked' in render(seen)


@pytest.mark.parametrize(
    "dialog",
    [
        "<dialog id=d><p>Sure?</p><button>Yes</button></dialog><script>d.showModal()</script>",
        "<div style='position: fixed; inset: 0; background: rgba(0, 0, 0, 0.4)'></div>"
        "<div role=dialog aria-modal=true style='position: fixed; left: 50px; top: 50px;"
        "background: white'><p>Sure?</p><button>Yes</button></div>",
    ],
    ids=["dialog element", "aria-modal"],
)
async def test_the_page_behind_a_modal_dialog_is_one_line(gallery: Gallery, dialog: str) -> None:
    seen = await gallery.show(PAGE + dialog)
    behind = "behind the dialog: 2 elements that cannot be used now"
    focused = " focused" if seen.focus else ""  # a dialog element gets it from the browser
    assert render(seen).splitlines() == ["Sure?", '[1] button "Yes"' + focused, behind]


async def test_a_dialog_that_claims_too_much_hides_nothing(gallery: Gallery) -> None:
    beside = "<div role=dialog aria-modal=true><p>Sure?</p><button>Yes</button></div>"
    seen = await gallery.show(PAGE + beside)
    assert [node.name for node in seen.nodes if node.mark] == ["Offers", "Buy", "Yes"]


HIDDEN = (
    "<div style='opacity: 0'><button>Ghost</button></div>",
    "<div style='display: none'><button>Ghost</button></div>",
    "<div style='visibility: hidden'><button>Ghost</button></div>",
    "<div style='height: 0; overflow: hidden'><button>Ghost</button></div>",
    "<div style='content-visibility: hidden'><button>Ghost</button></div>",
    "<details><summary>More</summary><button>Ghost</button></details>",
    "<div popover><button>Ghost</button></div>",
    "<dialog><button>Ghost</button></dialog>",
    "<button style='clip-path: inset(50%)'>Ghost</button>",
    "<button style='position: absolute; left: -9999px'>Ghost</button>",
    "<div inert style='translate: -2000px'><button>Ghost</button></div>",
    "<div style='width: 99px; overflow: hidden; display: flex'><p style='flex: 0 0 99px'>One</p>"
    "<div inert style='flex: 0 0 99px'><button>Ghost</button></div></div>",
)


@pytest.mark.sample(3)
@pytest.mark.parametrize("source", HIDDEN)
async def test_what_is_hidden_is_no_part_of_the_page(gallery: Gallery, source: str) -> None:
    seen = await gallery.show(f"<button>Real</button>{source}")
    assert "Ghost" not in render(seen)
    assert "Real" in render(seen)


async def test_what_is_inert_is_read_as_text_and_has_no_marks(gallery: Gallery) -> None:
    seen = await gallery.show("""<button>Real</button><main inert><h2>Plan</h2><p>Costs <b>5</b>
          <button onclick="go()">Ghost</button><a href=#x>More</a>
          <ul onclick="go()"><li>One<li>Two</ul><label>Name <input value=Bob></label>
          <label><input type=checkbox checked> Agree</label><input placeholder=City>
          <p>To <select><option>A<option selected>B</select> <input type=password value=secret>
          <iframe srcdoc="<p>in a frame"></iframe><p inert>deeper</p></main>
          <p>After <span inert>the rest</span>.""")
    assert render(seen).splitlines() == [
        *('[1] button "Real"', "Plan", "Costs 5", "Ghost", "More", "One", "Two"),
        *("Name Bob checked Agree City", "To B", "deeper", "After the rest."),
        "inert: 7 elements that cannot be used now",
    ]


async def test_what_is_no_longer_inert_has_its_marks(local: LocalWorld) -> None:
    seen = await local.show("""<button onclick="document.querySelector('div').inert = false">
          Go on</button><div inert><button>Send</button></div>""")
    assert "Send" in [node.name for node in seen.nodes if not node.mark]
    seen = await local.step(act.Click(1))
    assert render(seen) == '[1] button "Go on" focused\n[2] button "Send"'


async def test_what_opens_is_seen_then(local: LocalWorld) -> None:
    seen = await local.show("""<details><summary>More</summary><button>Inside</button></details>
          <button popovertarget=p>Menu</button><div popover id=p><a href=#x>Entry</a></div>""")
    assert render(seen) == '[1] button "More" collapsed\n[2] button "Menu"'
    seen = await local.step(act.Click(1))
    assert '[1] button "More" expanded' in render(seen) and '"Inside"' in render(seen)
    seen = await local.step(act.Click(2))
    assert 'link "Entry"' in render(seen)


async def test_widgets_show_their_values_and_what_is_said_of_them(gallery: Gallery) -> None:
    seen = await gallery.show("""
          <p><input aria-label=Code aria-describedby=hint aria-invalid=true></p>
          <i id=hint>Six digits</i>
          <p><select multiple aria-label=Many><option selected>A<option selected>B<option>C
          </select></p>
          <p><video controls aria-label=Film src=none.mp4></video></p>
          <p contenteditable aria-label=Note>Some words</p>""")
    lines = render(seen).splitlines()
    assert lines[0] == '[1] textbox "Code" invalid (Six digits)'
    assert lines[2] == '[2] listbox "Many" value="A, B"'
    assert lines[6] == '[6] video "Film" value="0:00 of ?" paused'
    assert lines[7] == '[7] textbox "Note" value="Some words"'


async def test_a_page_without_end_is_read_where_one_looks(local: LocalWorld) -> None:
    many = """<script>
      for (let i = 0; i < 9000; i++) document.write(`<p><a href=#${i}>Link ${i}</a></p>`);
    </script>"""
    seen = await local.show(many + "<button>End</button>")
    assert seen.nodes[-1].name.startswith("out of view: ")
    seen = await local.step(act.Scroll(0, 0, 1_000_000))
    assert any(node.name == "End" for node in seen.nodes)


async def test_a_list_without_end_shows_its_first_options_and_takes_any(local: LocalWorld) -> None:
    seen = await local.show("""<select aria-label=Part></select><button>Next</button><script>
      for (let i = 0; i < 3000; i++) document.querySelector('select').add(new Option(`Part ${i}`));
      document.querySelector('select').value = 'Part 2500';
    </script>""")
    options = [node for node in seen.nodes if node.role == "option"]
    assert [node.name for node in options[-2:]] == ["Part 999", "Part 2500"]
    assert options[-1].states == ("selected",)
    assert len(options) == 1001
    assert seen.nodes[-2].name.startswith("1999 more options not listed")
    seen = await local.step(act.SelectOption(1, "Part 2900"))
    assert (seen.outcome, seen.nodes[0].value) == ("", "Part 2900")
    assert any(node.name == "Part 2900" for node in seen.nodes)


SHEET = "position: fixed; inset: 0; z-index: 5; "
FRONT = "position: fixed; z-index: 6; background: white; "


@pytest.mark.parametrize("clock", ["virtual", "real"])
@pytest.mark.parametrize(
    "layers",
    [
        f"""<div style='{SHEET} background: rgba(0, 0, 0, 0.4)'></div>
        <div style='{FRONT} left: 30%; top: 30%; width: 300px; height: 200px'>{{}}</div>""",
        f"""<div style='{SHEET} background: black; opacity: 0.4'></div><div style='{SHEET}'>
        <div style='{FRONT} left: 30%; top: 30%; width: 300px; height: 200px'>{{}}</div></div>""",
        f"""<div style='{SHEET} background: rgba(0, 0, 0, 0.4)'><div
        style='margin: 20%; background: white; height: 100px'>{{}}</div></div>""",
        f"""<div style='{SHEET} background: rgba(0, 0, 0, 0.4)'></div>
        <aside style='{FRONT} left: 0; top: 0; bottom: 0; width: 300px'>{{}}</aside>""",
    ],
)
async def test_only_what_lies_on_a_translucent_sheet_can_be_used(local, clock, layers):
    close = "<button onclick=\"document.body.style.background = 'white'\">Save</button>"
    seen = await local.show(PAGE + layers.format(close), clock=clock)
    assert [node.name for node in seen.nodes if node.mark] == ["Save"]
    assert seen.nodes[-1].name == "behind the dialog: 2 elements that cannot be used now"


@pytest.mark.sample(2)
@pytest.mark.parametrize("says", ["", "role=dialog aria-modal=true"])
@pytest.mark.parametrize("holder", ["ul", "div><ul"])
@pytest.mark.parametrize("side", [200, 40])
async def test_a_menu_that_a_dialog_opens_beside_itself_belongs_to_it(gallery, says, holder, side):
    seen = await gallery.show(f"""{PAGE}<div style='{SHEET} background: rgba(0, 0, 0, 0.4)'></div>
        <div {says} style='{FRONT} left: 30%; top: 30%; width: 300px; height: 200px'>
        <button>Save</button></div><{holder} role=menu style='{FRONT} left: 60%; top: 62%;
        margin: 0; width: {side}px; height: {side}px'><li role=menuitem>Red</ul>""")
    assert [node.name for node in seen.nodes if node.mark] == ["Save", "Red"]
