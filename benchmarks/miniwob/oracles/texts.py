"""Oracles for messages and longer texts: the inbox, scrolling, styling and the terminal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.oracles import View, oracle
from webagent.action import Action
from webagent.action.actions import Click, Fill, Press, Scroll
from webagent.errors import PolicyError
from webagent.records import Observation

_DELETE = re.compile(r"delet|remov|trash|\brid\b|throw|recycl|out of my inbox|don't want", re.I)
_FORWARD = re.compile(r"by (.+) and forward that email to (.+)\.$")
_WRITTEN_BY = (
    r"\b(?:from|by) {}\b",
    r"\b{}'?s\b",
    r"\b{} (?:sent|wrote|wants (?:his|her)|e?-?mail|message)",
)
"""What tells the writer of a message from its receiver, surest first."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to do with whose message."""

    verb: str
    """`reply`, `forward`, `delete` or `star`."""
    sender: str
    words: str = ""
    """The text to reply with, or the name to forward to."""


@oracle(
    "email-inbox",
    "email-inbox-delete",
    "email-inbox-forward",
    "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk",
    "email-inbox-important",
    "email-inbox-nl-turk",
    "email-inbox-noscroll",
    "email-inbox-reply",
    "email-inbox-star-reply",
)
def handle_email(view: View) -> Action:
    """Star and delete in the list; open the message to reply or to forward it."""
    texts = [node.name.split(" | ")[0] for node in view.start.page.nodes]
    request = read_request(view.goal, texts)
    if fields := view.all("textbox"):
        return view.next_of(Fill(fields[0].mark, request.words), Click(_icon(view, "send")))
    if view.done:
        return Click(view.find(name=request.verb.capitalize()).mark)
    threads = [node for node in view.all() if node.name.split(" | ")[0] == request.sender]
    thread = view.first(threads, f"a message by {request.sender}")
    if request.verb in ("reply", "forward"):
        return Click(thread.mark)
    return Click(_icon(view.after(thread), "trash" if request.verb == "delete" else "star"))


def read_request(goal: str, texts: Sequence[str]) -> Request:
    """What a goal, fixed phrase or free words, asks for; the inbox tells which words are names.

    Raises `PolicyError` when no sender of the inbox is named.
    """
    if found := _FORWARD.search(goal):
        return Request("forward", found[1], found[2])
    if found := re.search(r'^(.*?)"+(.*?)" ?"?(.*)$', goal):
        return Request("reply", _named(found[1] + found[3], texts)[0], found[2])
    names = _named(goal, texts)
    if len(names) > 1:
        sender = _writer(goal, names)
        return Request("forward", sender, next(name for name in names if name != sender))
    return Request("delete" if _DELETE.search(goal) else "star", names[0])


def _named(goal: str, texts: Sequence[str]) -> list[str]:
    """The one-word texts that the goal mentions, as whole words if possible."""
    words = dict.fromkeys(text for text in texts if re.fullmatch(r"[A-Z][\w'-]+", text))
    whole = [word for word in words if re.search(rf"\b{re.escape(word)}s?\b", goal)]
    found = whole or [word for word in words if word in goal]
    if not found:
        raise PolicyError(f"expected a sender of the inbox in the goal, found {goal!r}")
    return found


def _writer(goal: str, names: Sequence[str]) -> str:
    for pattern in _WRITTEN_BY:
        for name in names:
            if re.search(pattern.format(re.escape(name)), goal):
                return name
    return names[0]


def _icon(view: View, word: str) -> int:
    icons = [node for node in view.all() if word in node.name.lower()]
    return view.first(icons, f"an icon {word!r}").mark


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
        return Click(_find_named(view, _TOOLS.get(style, "picker")))
    if turn == 1 and kind == "color":
        return Click(_find_named(view, style))
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


def _find_named(view: View, word: str) -> int:
    """The first element with this word in its name."""
    nodes = [node for node in view.all() if word in node.name.split()]
    return view.first(nodes, f"an element called {word!r}").mark


def _punctuation(word: str) -> int:
    return len(word) - len(word.rstrip(".,"))
