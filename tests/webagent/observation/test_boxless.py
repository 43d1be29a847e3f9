"""Controls without a box of their own: areas of pictures, elements laid out as their contents, and
documents that are edited as a whole."""

import pytest

from tests.local_pages import LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser
CLOCKS = pytest.mark.parametrize("clock", ["virtual", "real"])
PICTURE = """<style>img { padding: 10px; margin-top: 1500px; zoom: 1.2 }</style>
<img width=200 height=100 usemap="#plan" alt=Plan
  src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>"><map name=plan>
<area shape=rect coords=" 0,0,100,100," href="#k" alt=Kitchen onclick="document.title = 'kitchen'">
<area shape=circle coords="150,50,40" href="#b" alt=Bath onclick="document.title = 'bath'">
<area shape=poly coords=" 100,0;120,0;110,9;" href="#d" alt=Door onclick="document.title = 'door'">
<area shape=rect coords="0,0,9,9" alt="no link"></map>"""
CONTENTS = """<style>button, a { display: contents }</style>
<p><button onclick="document.title = 'pressed'">Save it</button> and
<a href="#c" onclick="document.title = 'followed'"><b>Go on</b></a>"""
TWO_SIZES = """<style>.small { display: none }</style>
<img class=small width=50 height=50 usemap="#m"><img width=200 height=100 usemap="#m"
  src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>">
<img width=200 height=100 usemap="#m"><map name=m>
<area coords="0,0,50,50" href="#k" alt=Kitchen onclick="document.title = 'kitchen'"></map>"""
SHADOW = """<p style="margin-top: 1500px"><div><template shadowrootmode=open>
<button style="display: contents" onclick="document.title = 'deep'">Deep</button>
</template></div>"""


@pytest.mark.sample(3)
@CLOCKS
@pytest.mark.parametrize(
    ("body", "name", "title"),
    [
        (PICTURE, "Kitchen", "kitchen"),
        (PICTURE, "Bath", "bath"),
        (PICTURE, "Door", "door"),
        (CONTENTS, "Save it", "pressed"),
        (CONTENTS, "Go on", "followed"),
        (SHADOW, "Deep", "deep"),
        (TWO_SIZES, "Kitchen", "kitchen"),
    ],
)
async def test_a_control_without_a_box_is_listed_and_clicked(local, clock, body, name, title):
    page = await local.show(body, clock=clock)
    assert "no link" not in render(page) and render(page).count(name) == 1
    after = await local.step(act.Click(mark_of(page, name)))
    assert (after.outcome, after.title) == ("", title)


@CLOCKS
async def test_a_document_that_is_edited_as_a_whole_is_a_text_box(local, clock):
    frame = (
        "<iframe id=f></iframe><script>const inner = document.getElementById('f').contentDocument;"
        "inner.body.textContent = 'write here'; inner.designMode = 'on';</script>"
    )
    page = await local.show(frame, clock=clock)
    [field] = [node for node in page.nodes if node.role == "textbox"]
    after = await local.step(act.Fill(field.mark, "hello"))
    [field] = [node for node in after.nodes if node.role == "textbox"]
    assert (after.outcome, field.value) == ("", "hello")


async def test_what_a_field_expects_is_said_while_it_is_empty(local: LocalWorld) -> None:
    field = "<input pattern='[A-Z]{3}' title='three capital letters' aria-label=Code>"
    page = await local.show(field)
    assert 'textbox "Code" (three capital letters)' in render(page)
    after = await local.step(act.Fill(mark_of(page, "Code"), "ABC"))
    assert "three capital" not in render(after)
