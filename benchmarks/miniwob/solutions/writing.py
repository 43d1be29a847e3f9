"""Oracles for scrolling and styling text, and for the terminal."""

import re

from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Click, Fill, Press, Scroll
from webagent.records import Observation

_FURTHER = 10_000
"""Pixels that no text on these pages is long enough for."""

_TOOLS = {"bold": "bold", "italics": "italic", "underlined": "underline"}
"""Styles as goals name them, to the words of their buttons."""


@oracle("scroll-text-2")
def scroll_to_end(view: View) -> Action:
    """`Scroll the textarea to the bottom of the text hit submit.`"""
    way = 1 if view.read_one(r"to the (top|bottom)") == "bottom" else -1
    area = view.find("textbox")
    submit = view.find("button", name="Submit")
    return view.next_of(Scroll(area.mark, 0, way * _FURTHER), Click(submit.mark))


@oracle("sign-agreement")
def sign_agreement(view: View) -> Action:
    """`Scroll to the bottom of the textarea, enter the name "Joye" then press "Agree"`."""
    found = re.search(r'enter the name "(.+)" then press "(\w+)"', view.goal)
    if found is None:
        return Click(view.find("button", name="Cancel").mark)
    area, name = view.all("textbox")[:2]
    return view.next_of(
        Scroll(area.mark, 0, _FURTHER),
        Fill(name.mark, found[1]),
        Click(view.find("button", name=found[2]).mark),
    )


@oracle("text-editor")
def style_text(view: View) -> Action:
    """`give the text magna. the style bold` or `make everything the color red`, then Submit."""
    words, kind, style = view.read(r"(?:the text )?(\S+) the (style|color) (\w+)")
    field = view.start.find("textbox")
    keys = ["Control+a"] if words == "everything" else selecting_keys(field.value, words)
    turn = len(view.done) - len(keys)
    if turn < 0:
        return Press(field.mark, keys[turn])
    if turn == 0:
        return Click(_named(view, _TOOLS.get(style, "picker")))
    if turn == 1 and kind == "color":
        return Click(_named(view, style))
    return Click(view.find("button", name="Submit").mark)


def selecting_keys(text: str, word: str) -> list[str]:
    """The keys that select a word, its punctuation included, from the start of the text."""
    before = text.split()[: text.split().index(word)]
    keys = ["Control+Home"]
    for passed in before:
        keys += ["Control+ArrowRight"] + ["ArrowRight"] * _punctuation(passed)
    return [*keys, "Control+Shift+ArrowRight", *["Shift+ArrowRight"] * _punctuation(word)]


@oracle("terminal")
def delete_file(view: View) -> Action:
    """`Use the terminal below to delete a file ending with the extension .png`: list, remove."""
    ending = re.search(r"extension (\.\S+)", view.goal)
    field = view.find("textbox")
    listing: list[Action] = [Fill(field.mark, "ls"), Press(field.mark, "Enter")]
    if len(view.done) < len(listing):
        return view.next_of(*listing)
    shown = re.search(r"\$ ls (.*?) user\$", _text(view.steps[1][2]))
    names = shown[1].split() if shown else []
    file = next(name for name in names if _ends(name, ending[1] if ending else ""))
    return view.next_of(*listing, Fill(field.mark, f"rm {file}"), Press(field.mark, "Enter"))


def _text(page: Observation) -> str:
    return " ".join(node.name for node in page.nodes)


def _ends(name: str, ending: str) -> bool:
    return name.endswith(ending) if ending else "." not in name


def _named(view: View, word: str) -> int:
    """The first element with this word in its name."""
    nodes = [node for node in view.all() if word in node.name.split()]
    return view.first(nodes, f"an element called {word!r}").mark


def _punctuation(word: str) -> int:
    return len(word) - len(word.rstrip(".,"))
