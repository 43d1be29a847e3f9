"""What a page lets one wait for after an action: suggestions by a bare timer, a change of view."""

import pytest

from tests.local_pages import LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser
CLOCKS = pytest.mark.parametrize("clock", ["virtual", "real"])
SUGGESTING = """<input role=combobox aria-label=Fruit aria-expanded=false aria-controls=list>
<ul id=list role=listbox></ul><script>
document.querySelector("input").oninput = (event) => setTimeout(() => {
  document.getElementById("list").innerHTML = `<li role=option>${event.target.value}ine</li>`;
}, 900);
setInterval(() => {}, 300);</script>"""
CHANGING = """<style>::view-transition-group(*) { animation-duration: 1.5s }</style>
<button onclick="document.startViewTransition(() => { said.textContent = 'changed' })">Change
</button>
<button onclick="document.title = 'hit'">Hit</button><p id=said>before</p>"""


@CLOCKS
async def test_suggestions_that_come_by_a_timer_are_seen(local: LocalWorld, clock: str) -> None:
    page = await local.show(SUGGESTING, clock=clock)
    after = await local.step(act.Fill(mark_of(page, "Fruit"), "nectar"))
    assert 'option "nectarine"' in render(after)


@CLOCKS
async def test_a_change_of_view_is_over_before_the_next_action(local, clock):
    page = await local.show(CHANGING, clock=clock)
    after = await local.step(act.Click(mark_of(page, "Change")))
    assert "changed" in render(after)
    after = await local.step(act.Click(mark_of(after, "Hit")))
    assert (after.title, after.outcome) == ("hit", "")
