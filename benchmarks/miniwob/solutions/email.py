"""Oracles for the inbox: find the message, then reply, forward, star or delete."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.errors import PolicyError

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
