"""Oracles for choosing: check boxes, radio buttons, lists and suggestions."""

from benchmarks.miniwob.solutions.words import DIGITS, SYNONYMS
from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Click, Fill, SelectOption


@oracle("click-option")
def choose_option(view: View) -> Action:
    """`Select aX3 and click Submit.`"""
    name = view.read_one(r"Select (.+) and click Submit")
    return view.next_of(
        Click(view.find("radio", name=name).mark),
        Click(view.find("button", name="Submit").mark),
    )


@oracle("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def check_boxes(view: View) -> Action:
    """`Select aX3, b7 and click Submit.`: from top to bottom, then Submit."""
    names = view.read_one(r"Select (.+) and click Submit").split(", ")
    boxes = [node for node in view.all("checkbox") if node.name in names]
    submit = view.find("button", name="Submit")
    return view.next_of(*(Click(box.mark) for box in boxes), Click(submit.mark))


@oracle("click-checkboxes-soft")
def check_similar_boxes(view: View) -> Action:
    """`Select words similar to huge, afraid and click Submit.`"""
    words = view.read_one(r"words similar to (.+) and click Submit").split(", ")
    meant = [group for group in SYNONYMS if group & set(words)]
    boxes = [node for node in view.all("checkbox") if any(node.name in group for group in meant)]
    submit = view.find("button", name="Submit")
    return view.next_of(*(Click(box.mark) for box in boxes), Click(submit.mark))


@oracle("number-checkboxes")
def draw_digit(view: View) -> Action:
    """`Draw the number "3" in the checkboxes ...`: row by row, as on a display of 4 by 7."""
    rows = DIGITS[int(view.read_one(r'the number "(\d)"'))].split()
    wanted = [cell == "#" for cell in "".join(rows)]
    boxes = [node for node in view.all("checkbox") if "disabled" not in node.states]
    plan = [Click(box.mark) for box, on in zip(boxes, wanted, strict=True) if on]
    return view.next_of(*plan, Click(view.find("button", name="Submit").mark))


@oracle("click-scroll-list")
def choose_several(view: View) -> Action:
    """`Select Peru, Chile from the scroll list and click Submit.`: in page order."""
    named = view.read_one(r"Select (.+) from the scroll list")
    field = view.find("listbox")
    options = [node.name for node in view.all("option") if (f", {node.name}, " in f", {named}, ")]
    return view.next_of(
        *(SelectOption(field.mark, option) for option in options),
        Click(view.find("button", name="Submit").mark),
    )


@oracle("form-sequence-3")
def choose_then_press(view: View) -> Action:
    """`Choose 5ft 9in from the dropdown, then click the button labeled "No".`"""
    option, button = view.read(r'Choose (.+) from the dropdown, .* labeled "(\w+)"')
    if not view.done:
        return Click(view.all()[0].mark)
    if len(view.done) == 1:
        return Click(view.find(name=option).mark)
    return Click(view.find("button", name=button).mark)


@oracle("choose-list")
def choose_from_list(view: View) -> Action:
    """`Select Peru from the list and click Submit.`"""
    option = view.read_one(r"Select (.+) from the list and click Submit")
    return view.next_of(
        SelectOption(view.find("combobox", "listbox").mark, option),
        Click(view.find("button", name="Submit").mark),
    )


@oracle("use-autocomplete", "use-autocomplete-nodelay")
def take_suggestion(view: View) -> Action:
    """`Enter an item that starts with "Per" and ends with "ru".`: type the start, pick, submit."""
    start, end = view.read(r'starts with "(.*?)"(?: and ends with "(.*)")?\.')
    field = view.find("textbox", "combobox", "searchbox")
    if not view.done:
        return Fill(field.mark, start)
    if len(view.done) == 1:
        offers = view.after(field).all("generic", "option", "menuitem")
        fitting = [n for n in offers if n.name.startswith(start) and n.name.endswith(end)]
        return Click(view.first(fitting, f"a suggestion {start}...{end}").mark)
    return Click(view.find("button", name="Submit").mark)
