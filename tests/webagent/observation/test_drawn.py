"""What a page says by how it is drawn, and what its labels leave out, is in the observation."""

import pytest

from tests.local_pages import Gallery, LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser

PICTURE = "<svg {} width=16 height=16><path d='M0 0L9 9' stroke='green'/></svg>"
DOT = "<i style='display: inline-block; width: 9px; height: 9px; background: green' {}></i>"
SMALL = "<style>.sr { position: absolute; width: 1px; height: 1px; overflow: hidden }</style>"
ICONS = """<style>.fas::before { content: "\\f1f8" } .dropdown-toggle::after { content: "";
border-top: 5px solid } .b { background: teal; width: 30px; height: 30px; display: inline-block;
border: 0 } .cut { mask: linear-gradient(black, black) }</style>"""
SPINS = """<style>@keyframes turn { to { rotate: 1turn } } .spinner, .skeleton { animation: turn
1s infinite; display: inline-block; width: 9px; height: 9px; background: #ddd }</style>"""

READ = {
    "text that is struck through": (
        """<p>Kayak <del>$120</del> <ins>$90</ins><p>Tent <s>80 <b>EUR</b></s> 60
        <p style="text-decoration: line-through">Bread <b style="display: inline-block">now</b>""",
        "Kayak ~~$120~~ $90\nTent ~~80~~ ~~EUR~~ 60\n~~Bread~~ now",
    ),
    "names that are struck through": (
        """<style>.done { text-decoration: line-through }</style>
        <label class=done><input type=checkbox checked>Buy milk</label>
        <input type=checkbox id=b><label for=b class=done>Buy $1 tea</label>
        <p class=done><a href=#>Old page</a> <button>Kept</button>
        <a href=#><b>Kayak</b> <del>$120</del> $90</a>
        <button>Sale: <s>5</s>4</button>""",
        '[1] checkbox "~~Buy milk~~" checked\n[2] checkbox "~~Buy $1 tea~~" unchecked\n'
        '[3] link "~~Old page~~"\n[4] button "Kept"\n[5] link "~~Kayak~~ ~~$120~~ ~~$90~~"\n'
        '[6] button "Sale: ~~5~~4"',
    ),
    "raised and lowered numbers": (
        """H<sub>2</sub>O, 10<sup>-3</sup> m, $19<sup>99</sup>, 1<sup>st</sup>
        <label><input type=radio>10<sup>3</sup></label> <button>50 m<sup>2</sup></button>""",
        'H₂O, 10⁻³ m, $19⁹⁹, 1st\n[1] radio "10³" unchecked\n[2] button "50 m²"',
    ),
    "formulas": (
        """<math><mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mn>2</mn></mrow></mfrac><mo>=</mo>
        <msup><mi>x</mi><mn>2</mn></msup><mo>-</mo><msqrt><mi>y</mi></msqrt><msubsup><mi>z</mi>
        <mi>k</mi><mn>3</mn></msubsup></math>""",
        "1/(a + 2) = x² - √yz_k³",
    ),
    "capitals that a style makes, and no hyphens that are not drawn": (
        "<p style='text-transform: uppercase'>code ab1<p style='text-transform: capitalize'>my "
        "page<p style='text-transform: lowercase'>ABC<p>hy&shy;phen",
        "CODE AB1\nMy Page\nabc\nhyphen",
    ),
    "quotation marks": (
        """<style>p::before { content: open-quote } p::after { content: close-quote }
        div { quotes: "«" "»" } b::before { content: no-open-quote "!" }</style>
        <section>A <q>b <q>c</q></q> <b>d</b></section><button><q>e</q></button>
        <p>f <q>g</q><div><q>h <q>i</q></q></div><q style="quotes: none">j</q>""",
        'A “b ‘c’” !d\n[1] button "“e”"\n“f ‘g’”\n«h «i»»\nj',
    ),
    "numbers of items that are controls": (
        """<ol start=4><li><a href=#>one</a> <a href=#>more</a><li><div><button>two</button></div>
        <li><label><input type=checkbox> three</label><li onclick="go()">four<li>five
        <li><img src=x></ol><p>after<ol style="list-style: none"><li><a href=#>six</a></ol>""",
        '[1] link "one" (4.)\n[2] link "more"\n[3] button "two" (5.)\n[4] checkbox "three" '
        'unchecked (6.)\n[5] generic "four" (7.)\n8. five\nafter\n[6] link "six"',
    ),
    "counters in names": (
        """<style>body { counter-reset: step } a, button, h2 { counter-increment: step }
        :is(a, h2)::before { content: counter(step) ") " } button::after { content: " "
        counter(step, upper-roman) } li::before { content: counters(list-item, ".") " " }
        ol { list-style: none }</style><a href=#>One</a><h2>Two</h2><button>Three</button>
        <a href=#>Four</a><ol start=3><li>a<ol><li><a href=#>b</a></ol></ol>""",
        '[1] link "1) One"\n2) Two\n[2] button "Three III"\n[3] link "4) Four"\n3 a\n  3.1'
        '\n  [4] link "5) b"',
    ),
    "rows of cells that hold blocks": (
        """<table><tr><th><div>Name</div><th>Role</tr><tr><td><div>Ann</div><p>ann@x.org</p>
        <td><div>Admin</div></tr><tr><td>Bo<br>Li<td><ul><li>one<li>two</ul></tr></table>
        <table><tr><td><p>Alone</p><p>in its row</p></table>""",
        "Name | Role\nAnn, ann@x.org | Admin\nBo\nLi\none\ntwo\nAlone\nin its row",
    ),
    "rows of tables that are none in the source": (
        """<style>[role=row] { display: flex }</style><div role=table><div role=row>
        <div role=columnheader>Name</div><div role=columnheader>Age</div></div><div role=row>
        <div role=rowheader>Bo</div><div role=cell>7</div></div></div>""",
        "Name | Age\nBo | 7",
    ),
    "coloured dots in rows": (
        f"""<table><tr><td>a<td>{DOT.format("")} up<td>3<tr><td>b<td>{DOT.format("title=Down")}
        <td>4</table><table><tr onclick="go()"><td>c<td>{DOT.format("")}<td>5</table>""",
        'a | green box up | 3\nb | Down | 4\n[1] generic "c | 5"\n  [2] generic "green box"',
    ),
    "pictures in cells, by the name of the icon": (
        f"""<table><tr><td>Export<td>{PICTURE.format("class='lucide lucide-check'")}<td>
        {PICTURE.format("data-icon=xmark")}<td>{PICTURE.format("data-testid=StarIcon")}
        <td>yes {PICTURE.format("data-icon=xmark")}<td>{PICTURE.format("")}</table>""",
        "Export | check | xmark | Star | yes",
    ),
    "cells in the colour of the page and of their own": (
        """<style>td { background: white; width: 20px } .own { background: teal }</style><table>
        <tr><td>a<td><td>b<tr><td>c<td class=own><td>d</table>""",
        'a | | b\nc | [1] generic "teal box" | d',
    ),
    "controls that show nothing but an icon": (
        f"""<a href=#><i class="bi bi-trash" style="padding: 9px"></i></a> <button class="btn">
        {PICTURE.format("class='fa-solid fa-arrow-left fa-2x'")}</button>""",
        '[1] link "trash"\n[2] button "arrow left"',
    ),
    "controls that show nothing but a letter of an icon font, or an arrow, on a colour": (
        f"""{ICONS}<button class="b fas fa-trash"></button><a href=#><i class="b fas fa-star"></i>
        </a> <a href=#><span class="fas fa-heart"></span></a> <div onclick="go()" class="b fas
        fa-cog"></div><button class="b btn btn-secondary dropdown-toggle show"></button> <button
        class="b cut icon-close"></button><button class=b></button>""",
        '[1] button "trash"\n[2] link "star"\n[3] link "heart"\n[4] generic "cog"\n'
        '[5] button "dropdown toggle"\n[6] button "close"\n[7] button "teal box"',
    ),
    "nothing more of an icon in a control that has a name": (
        f"""{ICONS}<a href=#><i class="b fas fa-home"></i> Home</a> <a href=# title=Basket><i
        class="b fas fa-shop"></i></a> <a href=# aria-label=Bag><i class="b fas fa-bag"></i></a>
        <p><span class="b cut fa-search"></span> Found""",
        '[1] link "Home"\n[2] link "Basket"\n[3] link "Bag"\nFound',
    ),
    "pictures with a title, and large ones with a label": (
        f"""<p>Repo <span title=Private>{PICTURE.format("")}</span><p><span role=img
        aria-label="3 of 5 stars" style="display: inline-block; width: 99px">★★★★★</span>
        <div role=img aria-label="Sales" style="width: 99px; height: 50px"></div><p>At
        <svg role=img width=16 height=16><title>Home</title><path d='M0 0L9 9'/></svg></p>
        <p><svg role=img aria-label=Trend width=90 height=30><path d='M0 0L80 9' /></svg>""",
        "Repo Private\n3 of 5 stars\nSales\nAt Home\nTrend",
    ),
    "that something is loading": (
        f"""{SMALL}{SPINS}<div class=spinner role=status><span class=sr>Please wait</span></div>
        <div><i class=skeleton></i></div><button><i class=spinner></i>Save</button>""",
        'Please wait\nloading\n[1] button "Save"',
    ),
    "that nothing is loading": (
        """<style>@keyframes up { to { top: 1px } } .download, .loading { animation: up 1s infinite;
        background: teal; width: 20px; height: 20px } .loading { background: none }</style>
        <div class=download></div><div class=loading><button>Stop</button></div>""",
        '[1] generic "teal box"\n[2] button "Stop"',
    ),
    "where something belongs": (
        """<style>i { width: 40px; height: 40px; position: absolute;
        border: 2px dashed blue }</style>
        <i style="left: 90px"></i><i style="left: 9px; border-style: solid"></i>""",
        '[1] generic "blue dashed outline"',
    ),
    "which text is chosen": (
        """<nav><a href=#>1</a> <span aria-current=page>2</span> <p><b aria-current=step>Pay</b>
        </nav><table><tr aria-selected=true>
        <td>a<td>b<tr aria-selected=false><td>c<td>d</table><p aria-current=false>e""",
        '[1] link "1"\n2\nPay selected\na | b selected\nc | d\ne',
    ),
    "how rows are sorted": (
        """<table><tr><th aria-sort=ascending><button>Name</button><th aria-sort=none>Size
        <th aria-sort=descending>Date</table>""",
        '[1] button "Name" sorted:ascending | Size | Date sorted:descending',
    ),
    "what cannot be pressed or written": (
        """<style>a, button { pointer-events: none }</style><a href=#>Next</a>
        <label><input type=radio><button>Pick</button></label><div onclick="go()">
        <button>Card</button></div><input aria-label=Name aria-readonly=true value=Bo>""",
        '[1] link "Next" disabled\n[2] radio "Pick" unchecked\n[3] button "Pick"\n'
        '[4] button "Card"\n[5] textbox "Name" value="Bo" readonly',
    ),
    "what a label leaves out of a control": (
        """<button aria-label=Inbox><i>✉</i><b>4</b></button><a href=# aria-label="Read about
        kayaks">Read about kayaks</a><button aria-label=Close>×</button><button aria-label=Search>
        Go</button><button aria-label=Delete><i style="font-family: 'Material Icons'">bin</i>
        </button>""",
        '[1] button "Inbox" (✉4)\n[2] link "Read about kayaks"\n[3] button "Close"\n'
        '[4] button "Search" (Go)\n[5] button "Delete"',
    ),
    "what stands in an empty field": (
        """<label>Day <input placeholder="DD/MM"></label><label>Day <input placeholder="DD/MM"
        value=1></label><input placeholder=Find><label>Note<textarea placeholder=Note></textarea>
        </label><style>.none::placeholder { color: transparent }</style><label>Way <input
        placeholder="Street" class=none></label><div contenteditable>
        <p data-placeholder="Write a post"><br></div>""",
        '[1] textbox "Day" (DD/MM)\n[2] textbox "Day" value="1"\n[3] textbox "Find"\n'
        '[4] textbox "Note"\n[5] textbox "Way"\n[6] textbox "Write a post"',
    ),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("what", READ)
async def test_what_a_page_says_by_how_it_is_drawn_is_read(gallery: Gallery, what: str) -> None:
    source, text = READ[what]
    assert render(await gallery.show(f"<!doctype html><meta charset=utf-8>{source}")) == text


WEEK = ("Su", "Mo", "Tu", "We", "Th", "Fr", "Sa")
MONTHS = {
    "table": ("table", "tr", "th", "td", ""),
    "grid": (
        "section",
        "s-row",
        "b",
        "div",
        "section { display: grid; grid-template-columns: "
        "repeat(7, 40px) } s-row { display: contents }",
    ),
    "flex": ("div", "p", "span", "b", "p { display: flex } span, b { width: 40px }"),
}


@pytest.mark.parametrize("kind", MONTHS)
async def test_days_of_a_calendar_are_told_with_their_weekdays(gallery, kind):
    around, row, head, cell, style = MONTHS[kind]
    days = [""] * 4 + [f"<button>{day}</button>" for day in range(1, 32)]
    weeks = [WEEK, *(days[start : start + 7] for start in range(0, 35, 7))]
    lines = [
        "".join(f"<{tag}>{text}</{tag}>" for text in week)
        for tag, week in zip((head, *[cell] * 5), weeks, strict=True)
    ]
    rows = "".join(f"<{row}>{line}</{row}>" for line in lines)
    page = await gallery.show(f"<style>{style}</style><{around}>{rows}</{around}>")
    said = [(node.name, node.description) for node in page.nodes if node.mark]
    assert said == [(str(day), WEEK[(day + 3) % 7]) for day in range(1, 32)]


@pytest.mark.parametrize("listens", [True, False])
async def test_days_can_be_hit_where_a_calendar_listens_as_a_whole(gallery, listens):
    days = [f"<td role=gridcell>{day}<a href=#>Tea</a>" for day in range(1, 8)]
    page = await gallery.show(
        f"<div id=all><table role=grid><tr><th>Week<tr>{''.join(days)}</table></div>"
        f"<script>{'all.onmousedown = () => 0' if listens else ''}</script>"
    )
    cells = [node.name for node in page.nodes if node.mark and node.role == "gridcell"]
    assert cells == [str(day) for day in range(1, 8) if listens]


async def test_numbers_in_other_tables_stay_as_short_as_they_are(gallery: Gallery) -> None:
    heads = "".join(f"<th>{word}" for word in ("Id", "Name", "Age", "Town", "Job"))
    rows = "".join(f"<tr><td><a href=#>{n}</a><td>a<td>b<td>c<td>d" for n in range(1, 31))
    page = await gallery.show(f"<table><tr>{heads}{rows}</table>")
    assert [node.description for node in page.nodes if node.mark] == [""] * 30


async def test_what_the_browser_says_is_wrong_with_a_field_is_told(local: LocalWorld) -> None:
    page = await local.show("<form><input type=email aria-label=Mail required><button>Send")
    assert render(page).startswith('[1] textbox "Mail"\n')
    page = await local.step(act.Click(mark_of(page, "Send")))
    assert page.nodes[0].states[:1] == ("invalid",)
    assert page.nodes[0].description == "Please fill out this field."


async def test_a_coloured_cell_right_in_a_shadow_tree_does_not_hide_the_page(gallery):
    seen = await gallery.show(
        """<p>Text</p><div id=host></div><script>
        host.attachShadow({mode: "open"}).innerHTML = `<div onclick=go() style="display: table-cell;
        width: 20px; height: 20px; background: red; cursor: pointer"></div>`</script>"""
    )
    assert "Text" in render(seen)
