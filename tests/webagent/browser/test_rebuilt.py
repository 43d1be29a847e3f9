"""A page that was rebuilt while the agent thought: the same element is found again, no other is."""

import asyncio

import pytest

from tests.local_pages import LocalWorld, mark_of
from webagent.action import actions as act

pytestmark = pytest.mark.browser
CLOCKS = pytest.mark.parametrize("clock", ["virtual", "real"])

LIVE = """<h1>Prices</h1><div id=b></div><script>let n = 0; function draw() {{ n++; b.innerHTML = `
  <p>Tick ${{n}}</p>{}<label>Amount <input></label>`; }} draw(); {}</script>"""
BUTTONS = """<button onclick="document.title='A'">Buy A for ${n}</button>
  <button onclick="document.title='B'">Sell B</button>"""
BY_HAND = "<button onclick='draw()'>Redraw</button>"


@CLOCKS
async def test_a_click_reaches_what_the_page_has_rebuilt(local: LocalWorld, clock: str) -> None:
    page = await local.show(LIVE.format(BUTTONS, "") + BY_HAND, clock=clock)
    sell, changed = mark_of(page, "Sell B"), mark_of(page, "Buy A for 1")
    await local.evaluate("draw()")
    page = await local.step(act.Click(sell))
    new = mark_of(page, "Sell B")
    assert page.title == "B" and new != sell
    assert page.outcome == (
        f"the page had rebuilt element {sell}; done on {new}, the button of the same name in its"
        " place"
    )
    page = await local.step(act.Click(changed))
    assert page.outcome == f"element {changed} is gone from the page"


async def test_a_page_that_redraws_by_itself_can_be_used(local: LocalWorld) -> None:
    page = await local.show(LIVE.format(BUTTONS, "setInterval(draw, 700)"), clock="real")
    field = mark_of(page, "Amount")
    await asyncio.sleep(1)
    page = await local.step(act.Fill(field, "12"))
    assert "rebuilt" in page.outcome


async def test_a_page_that_was_loaded_again_can_be_used(local: LocalWorld) -> None:
    page = await local.show("<button onclick=\"document.title='yes'\">Go</button>", clock="real")
    await local.evaluate("void setTimeout(() => location.reload())")
    await asyncio.sleep(0.5)
    page = await local.step(act.Click(mark_of(page, "Go")))
    assert page.title == "yes" and "rebuilt" in page.outcome


@pytest.mark.sample(2)
@CLOCKS
@pytest.mark.parametrize(
    "change",
    [
        "b.innerHTML = b.innerHTML + b.innerHTML",
        "b.innerHTML = `<p style='height: 300px'>Ad</p>` + b.innerHTML",
        "b.innerHTML = b.innerHTML.replace('Sell', 'Buy')",
        "b.innerHTML = b.innerHTML.replaceAll('button', 'summary')",
    ],
)
async def test_what_leaves_a_doubt_is_refused(local: LocalWorld, clock: str, change: str) -> None:
    page = await local.show(LIVE.format(BUTTONS, ""), clock=clock)
    sell = mark_of(page, "Sell B")
    await local.evaluate(f"void ({change})")
    page = await local.step(act.Click(sell))
    assert page.outcome == f"element {sell} is gone from the page" and not page.title


async def test_buttons_of_the_same_name_are_not_taken_for_each_other(local: LocalWorld) -> None:
    rows = "<p>One <button>Edit</button></p><p>Two <button>Edit</button></p>"
    page = await local.show(f"<div id=b>{rows}</div>")
    first = next(node.mark for node in page.nodes if node.name == "Edit")
    await local.evaluate("void (b.innerHTML = '<p>Two <button>Edit</button></p>')")
    assert (await local.step(act.Click(first))).outcome == f"element {first} is gone from the page"


@CLOCKS
@pytest.mark.parametrize("after", ["", "b.firstChild.focus()"])
async def test_a_field_that_is_built_anew_at_each_key_takes_the_whole_text(
    local: LocalWorld, clock: str, after: str
) -> None:
    page = await local.show(
        "<div id=b></div><p id=p></p><script>function draw(text) {"
        " b.innerHTML = '<input aria-label=Size oninput=draw(this.value)>';"
        f" b.firstChild.value = text; p.textContent = 'size ' + text; {after} }} draw('12')"
        "</script>",
        clock=clock,
    )
    page = await local.step(act.Fill(mark_of(page, "Size"), "600"))
    assert [node.value for node in page.nodes if node.name == "Size"] == ["600"]
    assert any(node.name == "size 600" for node in page.nodes)


async def test_a_field_that_takes_its_text_away_and_is_built_anew_is_not_filled_twice(
    local: LocalWorld,
) -> None:
    page = await local.show(
        "<ul id=l></ul><div id=b></div><script>function draw(text) {"
        " const done = text.endsWith(','); if (done) l.innerHTML += `<li>${text}</li>`;"
        " b.innerHTML = '<input aria-label=Tags oninput=draw(this.value)>'; b.firstChild.value ="
        " done ? '' : text; b.firstChild.focus(); b.firstChild.setSelectionRange(9, 9); }"
        " draw('')</script>"
    )
    page = await local.step(act.Fill(mark_of(page, "Tags"), "sale,"))
    assert [node.name for node in page.nodes if "sale" in node.name] == ["sale,"]
