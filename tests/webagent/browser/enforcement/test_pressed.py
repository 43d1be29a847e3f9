"""A rule about an element holds however it is pressed: by a key, its label or its form."""

import pytest

from tasks.task import Task
from webagent.action import parse_action
from webagent.guard import ActionRule, Guard, GuardPolicy

pytestmark = pytest.mark.browser
PAGE = """<title>shop</title><form onsubmit="document.title = 'paid'; return false">
<input aria-label=Amount><button>Pay</button></form><label for=t
style="position: absolute; left: 300px; top: 200px">I accept the terms</label><input type=checkbox
id=t onchange="document.title = 'ticked'"><button onclick="document.title = 'seen'">Look</button>"""
RULES = (
    ActionRule("deny", ("click",), when={"properties": {"name": {"const": "Pay"}}}),
    ActionRule("deny", ("click",), when={"properties": {"role": {"const": "checkbox"}}}),
)


@pytest.mark.sample(3)
@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.parametrize(
    ("actions", "title"),
    [
        (('press(1, "Enter")',), "shop"),
        (("focus(1)", 'keyboard_type("5\\n")'), "shop"),
        (("focus(1)", 'keyboard_down("Enter")'), "shop"),
        (('press(2, "Space")',), "shop"),
        (("mouse_click(330, 208)",), "shop"),
        (('press(1, "a")', 'press(1, "Space")'), "shop"),
        (('press(5, "Enter")',), "seen"),
    ],
)
async def test_a_denied_element_is_not_pressed_in_another_way(held, actions, title, clock):
    held.guard = Guard.of(GuardPolicy(actions=RULES, other_sites="allow"))
    world = await held.world()
    page = await world.reset(Task("guard/press@1", f"data:text/html,{PAGE}", clock=clock))
    marks = {node.name: node.mark for node in page.nodes if node.mark}
    for action in actions:
        action = action.replace("(5,", f"({marks['Look']},")
        page = await world.step(parse_action(action))
    await world.close()
    assert page.title == title
