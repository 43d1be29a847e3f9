"""Oracles for forms: write into each field, then press the button."""

import re
from collections.abc import Sequence

from benchmarks.miniwob.solutions.words import HEX
from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import ORDINALS, View
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.records import Node

_FIELD_WORDS = {"genre": "Genre", "director": "Director", "year": "Year", "released": "Year"}


@oracle("enter-text", "enter-text-dynamic")
def enter_text(view: View) -> Action:
    """`Enter "Joye" into the text field and press Submit.`"""
    return fill_and_press(view, view.read_one(r'Enter "(.*)" into'))


@oracle("enter-text-2")
def enter_text_in_case(view: View) -> Action:
    """`Type "JOYE" in all lower case letters in the text input and press Submit.`"""
    text, case = view.read(r'Type "(.*)" in all (upper|lower) case')
    return fill_and_press(view, text.upper() if case == "upper" else text.lower())


@oracle("enter-password")
def enter_password(view: View) -> Action:
    """`Enter the password "aX3" into both text fields and press submit.`"""
    password = view.read_one(r'password "(.*)" into')
    return fill_and_press(view, password, password)


@oracle("login-user")
def log_in(view: View) -> Action:
    """`Enter the username "joye" and the password "aX3" into the text fields and press login.`"""
    return fill_and_press(view, *view.read(r'username "(.*)" and the password "(.*)" into'))


@oracle("login-user-popup")
def log_in_despite_popup(view: View) -> Action:
    """As `log_in`; a popup that offers to leave the page is cancelled first."""
    if cancel := view.all("button", name="Cancel"):
        return Click(cancel[0].mark)
    texts = view.read(r'username "(.*)" and the password "(.*)" into')
    for field, text in zip(view.all("textbox"), texts, strict=True):
        if field.value != text:
            return Fill(field.mark, text)
    return Click(view.find("button").mark)


@oracle("enter-date")
def enter_date(view: View) -> Action:
    """`Enter 03/14/2011 as the date and hit submit.`"""
    month, day, year = view.read(r"Enter (\d+)/(\d+)/(\d+) as the date")
    return fill_and_press(view, f"{year}-{month}-{day}")


@oracle("enter-time")
def enter_time(view: View) -> Action:
    """`Enter 9:47 PM as the time and press submit.`"""
    hour, minute, half = view.read(r"Enter (\d+):(\d+)\s*([AP])M as the time")
    return fill_and_press(view, f"{int(hour) % 12 + 12 * (half == 'P'):02}:{minute}")


@oracle("multi-orderings", "multi-layouts")
def search_movies(view: View) -> Action:
    """`Search for crime movies directed by Abbott from year 1999.`: fields in page order."""
    pattern = r"Search for (\w+) movies directed by (.+) from year (\d+)"
    values = dict(zip(("Genre", "Director", "Year"), view.read(pattern), strict=True))
    words = [re.match(r"(?:Movie )?(\w+)", node.name) for node in view.page.nodes]
    found = [_FIELD_WORDS.get(word[1].lower(), "") for word in words if word]
    labels = list(dict.fromkeys(filter(None, found)))
    fields = view.all("textbox")
    buttons = [node for node in view.all() if node.name in ("Submit", "Search", "Go!")]
    plan = fills(fields, [values[label] for label in labels])
    return view.next_of(*plan, Click(view.first(buttons, "a search button").mark))


@oracle("form-sequence-2")
def check_and_enter(view: View) -> Action:
    """`Check the 2nd radio button and enter the number "7" into the 1st textbox.`"""
    pattern = r'the (\w+) radio button and enter the number "(.+)" into the (\w+) textbox'
    radio, number, field = view.read(pattern)
    return view.next_of(
        Click(view.all("radio")[ORDINALS[radio]].mark),
        Fill(view.all("textbox")[ORDINALS[field]].mark, number),
        Click(view.find("button", name="Submit").mark),
    )


@oracle("use-colorwheel", "use-colorwheel-2")
def enter_color(view: View) -> Action:
    """`Select navy with the color picker`, or `the color #0198e3`: its code is typed."""
    pattern = r"Select (?:the following color )?#?(\w+) with the color picker"
    color = view.read_one(pattern)
    return fill_and_press(view, HEX.get(color, color).upper())


def fill_and_press(view: View, *texts: str) -> Action:
    """Fill the text fields in page order, then press the first button below them."""
    fields = view.all("textbox", "spinbutton")[: len(texts)]
    button = view.after(fields[-1]).find("button")
    return view.next_of(*fills(fields, texts), Click(button.mark))


def fills(fields: Sequence[Node], texts: Sequence[str]) -> list[Action]:
    """One `fill` for each field."""
    return [Fill(field.mark, text) for field, text in zip(fields, texts, strict=True)]
