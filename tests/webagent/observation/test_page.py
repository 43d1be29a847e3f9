"""What an observation holds of a page: what a reader sees, named as a reader would."""

import pytest

from tests.local_pages import Gallery, LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser

FORM = """\
Sign up
[1] textbox "Username" value="bob"
[2] checkbox "I agree" checked
[3] radio "Small" unchecked
[4] radio "Large" unchecked
[5] combobox value="Green"
  [6] option "Red"
  [7] option "Green" selected
  [8] option "Blue" disabled
[9] textbox "Password" value="secret"
[10] textbox "Birthday"
[11] textbox "About" value="First line\\nsecond line" readonly
[12] button "Go" disabled
[13] button "Send"
Read this and
[14] link "the terms"
first.
Country | Japan
City | Kyoto
[15] link "1"
[16] link "2" selected
[17] generic "teal box"
[18] generic "Listens"
[19] generic "Property"
[20] generic "Alice"
  [21] generic "star"
[22] graphic "large red circle" at {circle}
[23] graphic "small navy rectangle" at {rectangle}"""


async def test_a_page_reads_as_its_reader_sees_it(local: LocalWorld) -> None:
    page = await local.open("form")
    circle, rectangle = (
        "{},{} size {}x{}".format(*node.box) for node in page.nodes if node.role == "graphic"
    )
    assert render(page) == FORM.format(circle=circle, rectangle=rectangle)


async def test_every_node_says_what_kind_of_widget_it_is(local: LocalWorld) -> None:
    page = await local.open("form")
    kinds = {node.name: node.kind for node in page.nodes}
    assert kinds["I agree"] == "input:checkbox"
    assert kinds["Password"] == "input:password"
    assert kinds["About"] == "textarea"
    assert kinds["large red circle"] == "svg:circle"
    assert kinds["Sign up"] == "h1"


async def test_looking_writes_nothing_into_the_page(world, page_task):
    task = page_task("form", evidence={"html": "document.documentElement.outerHTML"})
    await world.reset(task)
    before = await world.evidence(task)
    await world.step(act.Wait(0))
    assert await world.evidence(task) == before
    assert "webagent" not in str(before["html"])


async def test_a_mark_stays_with_its_element(local: LocalWorld) -> None:
    page = await local.open("marks")
    marks = {node.name: node.mark for node in page.nodes}
    assert marks == {"First": 1, "Second": 2, "Add": 3, "Remove": 4, "Move": 5}
    page = await local.step(act.Click(marks["Add"]))
    assert page.nodes[0].name == "New"
    page = await local.step(act.Click(marks["Remove"]))
    page = await local.step(act.Click(marks["Move"]))
    assert {node.name: node.mark for node in page.nodes} == {
        "New": 6,
        "Add": 3,
        "Remove": 4,
        "Move": 5,
        "Second": 2,
    }


async def test_what_is_cut_away_is_told_of_by_its_label(local: LocalWorld) -> None:
    cut = "style='position: absolute; width: 1px; height: 1px; clip-path: inset(50%)'"
    small = "style='position: absolute; width: 1px; height: 1px; overflow: hidden'"
    page = await local.show(
        f"<label><input type=checkbox {cut}><i>On</i> Night mode</label><p><input type=radio id=a "
        f"{cut}><label for=a>Card</label><p><span {small}><input type=file id=f></span><label "
        f"for=f>Picture</label><p><label for=s>Kind</label><select id=s {cut}><option>A</select>"
    )
    assert render(page).splitlines() == [
        *('[1] checkbox "On Night mode" unchecked', '[2] radio "Card" unchecked'),
        *('[3] file "Picture"', '[4] combobox "Kind" value="A"'),
    ]
    page = await local.step(act.Check(mark_of(page, "Card")))
    assert '[2] radio "Card" checked' in render(page)


async def test_of_two_labels_of_one_hidden_field_one_has_the_focus(local: LocalWorld) -> None:
    page = await local.show(
        "<input type=radio id=a style='position: absolute; clip-path: inset(50%)'>"
        "<label for=a>Card</label> <label for=a>Pay by card</label>"
    )
    page = await local.step(act.Click(mark_of(page, "Pay by card")))
    states = [node.states for node in page.nodes]
    assert states == [("checked", "focused"), ("checked",)]


async def test_what_is_painted_on_a_canvas_is_told_in_words(local: LocalWorld) -> None:
    page = await local.open("canvas")
    assert [node.name for node in page.nodes] == ["2 lines, 1 arc, Hello", "Wipe"]
    wiped = await local.step(act.Click(page.nodes[1].mark))
    assert wiped.nodes[0].name == ""


async def test_a_picture_s_words_are_of_the_kind_and_the_depth_of_where_they_stand(gallery):
    """Not of the text before it; a wrapper without a name of its own leaves nothing below zero."""
    picture = "<img alt=Thumbnail width=9 height=9 src='data:image/png;base64,AAAA'>"
    words = " ".join(["words"] * 40)
    source = f"""<h3>Pictures</h3><div onclick='open()'>{picture}<p>{words}</p>
      <button>Remove</button></div><ul><li>{picture} first</ul>"""
    seen = await gallery.show(source)
    found = [(n.name, n.kind, n.depth) for n in seen.nodes if n.name.startswith("Thumbnail")]
    assert found == [("Thumbnail", "div", 0), ("Thumbnail first", "li", 0)]
    assert all(n.depth == 0 for n in seen.nodes)


MOUSE = (
    *("auxclick", "click", "contextmenu", "dblclick", "drop", "mousedown", "mouseenter"),
    *("mouseup", "pointerdown", "pointerenter", "pointerup", "wheel"),
)
TOUCH = ("touchstart", "touchend")
KEYS = ("keydown", "keypress", "keyup")
LISTENS = "<p {2} id={0}>{0}</p><script>{0}.addEventListener('{1}', () => {{}})</script>"
HAS_HANDLER = "<p {2} id={0}>{0}</p><script>{0}.on{1} = () => {{}}</script>"
IN_SOURCE = "<p {2} on{1}='does()'>{0}</p>"


async def marked(gallery: Gallery, how: str, events: tuple[str, ...], more: str) -> list[str]:
    """The events for which what listens for them has a mark."""
    names = {f"e{index}": event for index, event in enumerate(events)}
    page = await gallery.show("".join(how.format(name, names[name], more) for name in names))
    assert [node.name for node in page.nodes] == list(names)
    return [names[node.name] for node in page.nodes if node.mark]


@pytest.mark.parametrize(
    ("how", "events"),
    [(LISTENS, MOUSE + TOUCH), (HAS_HANDLER, MOUSE), (IN_SOURCE, MOUSE + TOUCH)],
    ids=["listener", "property", "attribute"],
)
async def test_what_listens_for_the_mouse_in_any_way_has_a_mark(gallery, how, events):
    assert await marked(gallery, how, events, "") == list(events)


@pytest.mark.parametrize("how", [LISTENS, HAS_HANDLER, IN_SOURCE])
async def test_what_takes_keys_has_a_mark_where_it_can_have_the_focus(gallery, how):
    assert await marked(gallery, how, KEYS, "tabindex=-1") == list(KEYS)
    assert await marked(gallery, how, (*KEYS, "focus"), "") == []


async def test_a_field_without_a_name_is_called_by_its_column(gallery: Gallery) -> None:
    page = await gallery.show("""<table>
        <tr><td><th colspan=2>Stock<th>Price<th style="visibility: hidden">Secret</tr>
        <tr><th>Kayak<td><input value=1><td><input value=2><td>£ <input value=3>
          <td><input value=4></tr>
        <tr><th>Tent<td><select><option>10</select><td><input aria-label=Low><td><input><td></tr>
        </table><table><tr><td>A<td>B</tr><tr><td><input value=5><td><input value=6></tr></table>
        <table><tr><th>Property<th>Value</tr><tr><td>Colour<td><input value=7></tr></table>
        <div id=loose></div><script>loose.append(document.createElement("td"));
        loose.firstChild.append(document.createElement("input"))</script>""")
    fields = [(node.role, node.name, node.value) for node in page.nodes if node.mark]
    assert [each for each in fields if each[0] != "option"] == [
        ("textbox", "Stock", "1"),
        ("textbox", "Stock", "2"),
        ("textbox", "Price", "3"),
        ("textbox", "", "4"),
        ("combobox", "Stock", "10"),
        ("textbox", "Low", ""),
        ("textbox", "Price", ""),
        ("textbox", "", "5"),
        ("textbox", "", "6"),
        ("textbox", "Colour", "7"),
        ("textbox", "", ""),
    ]
    assert "Kayak" in render(page)


async def test_a_choice_is_not_called_by_what_is_chosen(gallery: Gallery) -> None:
    page = await gallery.show("<p><select><option>Red</select><p>Size <select><option>S</select>")
    assert [node.name for node in page.nodes if node.role == "combobox"] == ["", "Size"]


async def test_a_coloured_box_is_seen_whatever_its_size_but_for_a_background(gallery):
    boxes = {"chip": (20, 20), "tile": (200, 150), "bar": (700, 30), "backdrop": (900, 400)}
    page = await gallery.show(
        "".join(
            f"<div style='width: {width}px; height: {height}px; background: teal'></div>"
            for width, height in boxes.values()
        )
    )
    assert render(page).count("teal box") == 3
    sizes = [node.box[2:] for node in page.nodes]
    assert sizes == [boxes["chip"], boxes["tile"], boxes["bar"]]


async def test_an_empty_cell_in_the_colour_of_its_row_is_no_box(gallery: Gallery) -> None:
    row = "<tr>" + "<td style='background: teal; width: 40px; height: 20px'>{}" * 2
    page = await gallery.show(f"<table>{row.format('Ada', '')}{row.format('', '')}</table>")
    assert render(page).count("teal box") == 2


async def test_a_long_text_that_listens_is_called_by_its_first_line(gallery: Gallery) -> None:
    words = " ".join(["words"] * 40)
    seen = await gallery.show(f"""<main><div id=text><p>Title<p>{words}</div></main>
        <script>text.addEventListener("click", () => {{}})</script>""")
    assert render(seen) == f'[1] generic "Title"\n  {words}'


async def test_lines_of_preformatted_text_stay_lines(gallery: Gallery) -> None:
    seen = await gallery.show("""<pre>one\n  <b>two</b> and\nthree</pre>
        <div style="white-space: pre-wrap">four\nfive</div><p>six\nseven</p>""")
    assert [node.name for node in seen.nodes] == [
        *("one", "two and", "three", "four", "five", "six seven")
    ]
    tops = [node.box[1] for node in seen.nodes]
    assert tops == sorted(set(tops))


MARKERS = {
    "<ol type=a><li>one<li value=27>two</ol>": ["a. one", "aa. two"],
    "<ol type=A start=26><li>one<li>two</ol>": ["Z. one", "AA. two"],
    "<ol type=i reversed><li>one<li>two<li>three<li>four</ol>": [
        *("iv. one", "iii. two", "ii. three", "i. four")
    ],
    "<ol type=I start=1994><li>one</ol>": ["MCMXCIV. one"],
    "<ol type=I start=4000><li>one</ol>": ["4000. one"],
    "<ol type=a start=0><li>one<li>two</ol>": ["0. one", "a. two"],
    "<ol style='list-style: decimal-leading-zero'><li>one</ol>": ["01. one"],
    "<ol style='list-style: lower-greek'><li>one<li value=25>two</ol>": ["α. one", "αα. two"],
    "<ul style='list-style-type: \"→ \"'><li>one</ul>": ["→ one"],
    "<ul style='list-style: decimal'><li>one<li><a href=#>two</a></ul>": ["1. one", "two"],
    "<ol style='list-style: none'><li>one</ol><ul><li>two</ul>": ["one", "two"],
    "<style>li::marker { content: 'Step ' counter(list-item) ': ' }</style>"
    "<ol><li>one<li>two</ol>": ["Step 1: one", "Step 2: two"],
    "<style>b, li::marker { content: counter(list-item, upper-roman) ') ' }</style>"
    "<ol start=4><li>one</ol>": ["IV) one"],
    "<style>li::marker { color: red }</style><ol><li>one</ol>": ["1. one"],
    "<style>@counter-style own { system: cyclic; symbols: '*' }</style>"
    "<ol style='list-style: own'><li>one</ol>": ["one"],
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("source", MARKERS)
async def test_an_item_begins_with_what_is_drawn_before_it(gallery: Gallery, source: str) -> None:
    seen = await gallery.show(source)
    assert [node.name for node in seen.nodes] == MARKERS[source]


INCLUDED = '<svg role=img aria-label=included width=16 height=16><path d="M0 0L9 9"/></svg>'
READ = {
    "what stands right below a shadow root, of which its host is asked": (
        """<p>Before<div style="text-transform: uppercase"><template shadowrootmode=open>
        <ul><li>One</ul><div style="width: 20px; height: 20px; background: teal"></div>
        <div style="height: 30px"></div><summary>More</summary><b>Two</b>
        <img alt=Logo width=9 height=9 src='data:image/png;base64,AAAA'></template></div>""",
        'Before\nONE\n[1] generic "teal box"\n[2] button "MORE"\nTWO Logo',
    ),
    "styles and numbers right below a shadow root": (
        """<b>Outside</b><div><template shadowrootmode=open><style>b::before { content: "in " }
        </style><li>bare</li><b>side</b></template></div>""",
        "Outside\nbare\nin side",
    ),
    "what takes the keys of its controls": (
        """<div tabindex=-1 onkeydown="close()"><h2>Sure?</h2><p>It goes.</p>
        <button>Yes</button></div>""",
        'Sure?\nIt goes.\n[1] button "Yes"',
    ),
    "what listens for the whole page, as a React root, and a card that listens for itself": (
        """<div id=root><h1>Shop</h1><p>Welcome.<ul><li>One<li>Two</ul>
        <div id=card><h3>Kayak</h3><p>It floats.</div></div>
        <script>for (const e of [root, card]) e.addEventListener("click", () => {})</script>""",
        'Shop\nWelcome.\nOne\nTwo\n[1] generic "Kayak It floats."',
    ),
    "spaces in elements of their own": (
        """<button>Add<span> </span>to cart</button><a href=#>Price<b>
        </b>12</a><label>First<i> </i>name <input></label>""",
        '[1] button "Add to cart"\n[2] link "Price 12"\n[3] textbox "First name"',
    ),
    "words that styles and browsers write": (
        """<style>.price::before { content: "€ " } .done::after { content: "✓" }
        .icon::before { content: "\\f00c" } .gone::before { content: "no"; display: none }
        .shown::before { content: url("data:image/gif;base64,AAAA") }
        .nested { &::after { content: "!" } } ::part(x)::before { content: "x" }</style>
        <p class=shown>
        <p class=gone>Cost: <b class=price>12.50</b> <i class=icon></i>
        <table><tr><th>Export<td><td class=done><tr><td class=done>Import</table>
        <ol start=3><li>three<li><a href=#>link</a><li><p>five</ol>
        <p>Upload <progress value=40 max=80></progress><p>Wait <progress></progress>
        <p class=nested>Disk <meter value=7 min=5 max=10></meter>""",
        'Cost: € 12.50\nExport | | ✓\nImport✓\n3. three\n[1] link "link" (4.)\n5. five\nUpload 50%'
        "\nWait in progress\nDisk 40% !",
    ),
    "columns of a table with pictures": (
        f"""<table><tr><th>Plan<th>Free<th>Pro<tr><td>Export<td><td>{INCLUDED}
        <tr><td>Share<td>{INCLUDED}<td>no</table>""",
        "Plan | Free | Pro\nExport | | included\nShare | included | no",
    ),
    "columns of grids": (
        """<style>div { display: grid; grid-template-columns: 1fr 1fr }</style>
        <div><b>Mon</b><b>Tue</b><span>1</span><span>2</span></div>
        <div><nav><a href=#>Home</a> here</nav><main><p>One</p><p>Two</p></main></div>""",
        'Mon | Tue\n1 | 2\n[1] link "Home"\nhere\nOne\nTwo',
    ),
    "numbers that a style counts": (
        """<style>h2 { counter-increment: h; counter-reset: s }
        h2::before { content: counter(h) ". " }
        h3::before { counter-increment: s; content: counter(h) "." counter(s, lower-alpha) " " }
        ol { counter-reset: i; list-style: none } li { counter-increment: i }
        li::before { content: counters(i, ".") " " }</style><h2>Intro</h2><h3>Why</h3><h3>How</h3>
        <h2>Next</h2><h3>Then</h3><h3 hidden>no</h3><h3>Last</h3>
        <ol><li>a<ol><li>b<li>c</ol><li>d</ol><ol><li>e</ol>""",
        "1. Intro\n1.a Why\n1.b How\n2. Next\n2.a Then\n2.b Last\n1 a\n  1.1 b\n  1.2 c\n2 d\n1 e",
    ),
    "rows of a grid that have no box": (
        """<style>section { display: grid; grid-template-columns: 1fr 1fr 1fr }
        div { display: contents }</style><section><div><b>Name</b><b>Qty</b><b>Price</b></div>
        <div><i>Pen</i><i></i><i>2</i></div></section>""",
        "Name | Qty | Price\nPen | | 2",
    ),
    "words with their reading": ("<ruby>漢<rt>kan</rt></ruby> is read", "漢kan is read"),
    "groups of options": (
        "<select aria-label=Hue><optgroup label=Warm><option>Red</optgroup><option>Blue</select>",
        '[1] combobox "Hue" value="Red"\n  [2] option "Red" selected (Warm)\n  [3] option "Blue"',
    ),
    "fields that what is around them disables": (
        "<fieldset disabled><input aria-label=Name><button>Go</button></fieldset>",
        '[1] textbox "Name" disabled\n[2] button "Go" disabled',
    ),
    "boxes that are ticked in part": (
        """<input type=checkbox aria-label=All id=all><script>all.indeterminate = true</script>
        <p role=checkbox aria-checked=mixed tabindex=0>Some""",
        '[1] checkbox "All" mixed\n[2] checkbox "Some" mixed',
    ),
    "how far a bar is": (
        """<div role=progressbar aria-label=Sent aria-valuenow=3 aria-valuemax=4
        style="width: 99px; height: 9px; background: #ddd"><div style="width: 75%; height: 9px;
        background: blue"></div></div><p role=progressbar style="height: 9px"></p>
        <p role=progressbar aria-valuenow=3>3 of 9</p>""",
        "Sent 75% in progress\n3 of 9",
    ),
    "drawings that are written elsewhere": (
        """<svg width=90 height=90 style="position: absolute; left: 5px; top: 9px"><symbol id=s
        viewBox="0 0 9 9"><path d="M0 0H9V9H0z"/></symbol><use href="#s" width=90 height=90 />
        </svg>""",
        '[1] graphic "drawing" at 5,9 size 90x90',
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("what", READ)
async def test_what_a_person_sees_is_read(gallery: Gallery, what: str) -> None:
    source, text = READ[what]
    assert render(await gallery.show(source)) == text


async def test_the_only_entry_of_a_menu_inside_its_link_is_a_control_of_its_own(local):
    page = await local.show("""<style>ul { position: absolute; top: 40px; left: 300px }</style>
        <a id=more href=#><svg width=9 height=9></svg></a><script>
        const entry = document.createElement("ul");
        entry.innerHTML = "<li><a href=#gone>Delete</a>";
        more.onclick = (event) => event.target.closest("ul") || more.append(entry)</script>""")
    [opener] = [node.mark for node in page.nodes if node.role == "link"]
    page = await local.step(act.Click(opener))
    page = await local.step(act.Click(mark_of(page, "Delete")))
    assert page.url.endswith("#gone")
