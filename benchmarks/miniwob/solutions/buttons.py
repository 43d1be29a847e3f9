"""Oracles for pages where the goal names the one thing to click."""

from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import ORDINALS, View
from webagent.action import Action
from webagent.action.actions import Click

_WIDGETS = {
    "radio": ("radio",),
    "checkbox": ("checkbox",),
    "text": ("textbox", "input"),
    "textarea": ("textbox", "textarea"),
    "button": ("button",),
}


@oracle("click-test")
def click_the_button(view: View) -> Action:
    """Click the only button."""
    return Click(view.find("button").mark)


@oracle("click-test-2", "click-test-transfer")
def click_numbered_button(view: View) -> Action:
    """`Click button ONE.`"""
    return Click(view.find("button", name=view.read_one(r"Click button (\w+)\.")).mark)


@oracle("click-button", "unicode-test")
def click_named_button(view: View) -> Action:
    """`Click on the "Ok" button.`"""
    return Click(view.find("button", name=view.read_one(r'Click on the "(.+)" button')).mark)


@oracle("click-link")
def click_link(view: View) -> Action:
    """`Click on the link "amet,".`"""
    return Click(view.find(name=view.read_one(r'Click on the link "(.+)"')).mark)


@oracle("click-button-sequence")
def click_in_sequence(view: View) -> Action:
    """`Click button ONE, then click button TWO.`"""
    names = view.read(r"Click button (\w+), then click button (\w+)")
    return view.next_of(*(Click(view.find("button", name=name).mark) for name in names))


@oracle("click-dialog", "click-dialog-2")
def click_in_dialog(view: View) -> Action:
    """`Click the button in the dialog box labeled "OK".`; the cross is called Close."""
    label = view.read_one(r'"(\w+)"')
    return Click(view.find("button", name="Close" if label == "x" else label).mark)


@oracle("click-widget")
def click_widget(view: View) -> Action:
    """`Click on a "textarea" widget.`: the first one on the page."""
    role, *kinds = _WIDGETS[view.read_one(r'Click on a "(\w+)" widget')]
    kind = kinds[0] if kinds else ""
    fields = [node for node in view.all(role) if node.kind.startswith(kind)]
    return Click(view.first(fields, f"a {role}").mark)


@oracle("focus-text")
def focus_field(view: View) -> Action:
    """Click the only text field."""
    return Click(view.find("textbox").mark)


@oracle("focus-text-2")
def focus_numbered_field(view: View) -> Action:
    """`Focus into the 2nd input textbox.`"""
    index = ORDINALS[view.read_one(r"the (\w+) input")]
    return Click(view.all("textbox")[index].mark)
