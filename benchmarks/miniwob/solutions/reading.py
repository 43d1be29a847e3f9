"""Oracles for reading something off the page and writing it down."""

import re

from benchmarks.miniwob.solutions.forms import fill_and_press
from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import ORDINALS, View
from webagent.action import Action
from webagent.action.actions import Click, Fill


@oracle("read-table")
def read_table(view: View) -> Action:
    """`Enter the value of Year of Birth into the text field and press Submit.`"""
    return fill_and_press(
        view, cell_beside(view, view.read_one(r"the value of (.+) into the text"))
    )


@oracle("read-table-2")
def read_table_into_form(view: View) -> Action:
    """`Enter the value that corresponds with each label into the form ...`"""
    labels = [field.name.removesuffix(":") for field in view.all("textbox")]
    return fill_and_press(view, *(cell_beside(view, label) for label in labels))


@oracle("find-word")
def find_word(view: View) -> Action:
    """`Find the 5th word in the paragraph, type that into the textbox and press "Submit".`"""
    place = int(view.read_one(r"Find the (\d+)\w\w word"))
    field = view.find("textbox")
    text = " ".join(node.name for node in view.before(field).page.nodes)
    return fill_and_press(view, re.sub(r"[^a-zA-Z]", "", text.split()[place - 1]))


@oracle("scroll-text")
def read_last_word(view: View) -> Action:
    """`Find the last word in the text area, enter it into the text field and hit Submit.`"""
    area = view.find("textbox", kind="textarea")
    word = re.sub(r"[^a-zA-Z0-9]", "", area.value.split()[-1])
    return _copy_into_field(view, word)


@oracle("copy-paste")
def copy_text(view: View) -> Action:
    """`Copy the text in the textarea below, paste it into the textbox and press Submit.`"""
    return _copy_into_field(view, view.find("textbox", kind="textarea").value)


@oracle("copy-paste-2")
def copy_numbered_text(view: View) -> Action:
    """`Copy the text from the 2nd text area below and paste it into the text input ...`"""
    index = ORDINALS[view.read_one(r"from the (\w+) text area")]
    return _copy_into_field(view, view.all("textbox", kind="textarea")[index].value)


@oracle("simple-arithmetic")
def do_sum(view: View) -> Action:
    """`3 x 4 =` stands on the page."""
    left, sign, right = view.search(r"^(\d+) ([-+x]) (\d+) =")
    return fill_and_press(view, str(_calculate(int(left), sign, int(right))))


@oracle("simple-algebra")
def solve_for_x(view: View) -> Action:
    """`x - 3 = 4` or `3 - x = 4` stands on the page."""
    left, sign, right, result = view.search(r"^(x|\d+) ([-+]) (x|\d+) = (\d+)")
    if left == "x":
        solution = _calculate(int(result), "+" if sign == "-" else "-", int(right))
    else:
        solution = (int(result) - int(left)) * (1 if sign == "+" else -1)
    return fill_and_press(view, str(solution))


@oracle("text-transform")
def read_letters(view: View) -> Action:
    """`Type the text below into the text field and press Submit.`: letters standing apart."""
    lines = view.before(view.find("textbox")).page.nodes
    return fill_and_press(view, "".join(node.name.replace(" ", "") for node in lines))


@oracle("visual-addition")
def count_blocks(view: View) -> Action:
    """`Type the total number of blocks into the textbox and press Submit.`"""
    return fill_and_press(view, str(len(view.before(view.find("textbox")).all())))


def cell_beside(view: View, key: str) -> str:
    """The second cell of the table row that begins with the key."""
    return view.search(rf"^{re.escape(key)} \| (.*)")[0]


def _copy_into_field(view: View, text: str) -> Action:
    field = view.find("textbox", kind="input:text")
    button = view.find("button", name="Submit")
    return view.next_of(Fill(field.mark, text), Click(button.mark))


def _calculate(left: int, sign: str, right: int) -> int:
    if sign == "+":
        return left + right
    return left - right if sign == "-" else left * right
