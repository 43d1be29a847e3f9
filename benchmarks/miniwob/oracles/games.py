"""Oracles for games and puzzles, and for messages and longer texts."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from benchmarks.miniwob.oracles.forms import submit, submit_after
from benchmarks.oracles import View, oracle
from webagent.action import Action, Wait
from webagent.action.actions import Click, Fill, Press, Scroll
from webagent.errors import PolicyError

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_TICK_MS = 100
"""How often the price of the stock changes."""


@oracle("guess-number")
def guess_number(view: View) -> Action:
    """`Guess the number between 0-9`: halve what the answers leave."""
    low, high = 0, 9
    for page in (*view.past, view.page):
        for node in page.nodes:
            if found := re.search(r"number is (lower|higher) than (\d+)", node.name):
                bound = int(found[2])
                low, high = (low, bound - 1) if found[1] == "lower" else (bound + 1, high)
    guess = str((low + high) // 2)
    field = view.find("spinbutton", "textbox")
    if field.value != guess:
        return Fill(field.mark, guess)
    return submit(view)


@oracle("generate-number")
def generate_number(view: View) -> Action:
    """`Generate an odd number, then press submit.`: again until it fits."""
    kind = view.read_one(r"Generate an? (number less than \d+|number greater than \d+|odd|even)")
    shown = [node.name for node in view.page.nodes if node.name.isdigit()]
    bound = int(kind.split()[-1]) if kind not in ("odd", "even") else 0
    fits: dict[str, Callable[[int], bool]] = {
        "odd": lambda number: number % 2 == 1,
        "even": lambda number: number % 2 == 0,
        f"number less than {bound}": lambda number: number < bound,
        f"number greater than {bound}": lambda number: number > bound,
    }
    is_fit = bool(shown) and fits[kind](int(shown[0]))
    return view.click("button", name="Submit" if is_fit else "Generate")


@oracle("find-greatest")
def find_greatest(view: View) -> Action:
    """`Find and pick the card with the greatest number`: look at all, then take the best."""
    cards = [node for node in view.all() if node.role != "button"]
    marks = [card.mark for card in cards]
    seen = [mark for mark in marks if Click(mark) in view.done]
    if len(seen) < len(marks):
        return Click(next(mark for mark in marks if mark not in seen))

    def number_under(mark: int) -> int:
        """Return the number that a card showed after it was clicked."""
        node = next(page for _, action, page in view.steps if action == Click(mark)).node(mark)
        digits = re.search(r"\d+", node.name if node else "")
        return int(digits[0]) if digits else -1

    best = max(marks, key=number_under)
    if view.done[-1] == Click(best) or Click(best) in view.done[len(marks) :]:
        return submit(view)
    return Click(best)


@oracle("odd-or-even")
def mark_odd_or_even(view: View) -> Action:
    """`Mark the numbers below as odd or even and press submit when done.`"""
    odds, evens = view.all("button", name="Odd"), view.all("button", name="Even")
    numbers = [int(n.name) for n in view.page.nodes if re.fullmatch(r"-?\d+", n.name)]
    rows = zip(odds, evens, numbers, strict=True)
    plan = [Click(odd.mark if number % 2 else even.mark) for odd, even, number in rows]
    return submit_after(view, *plan)


@oracle("ascending-numbers")
def click_ascending(view: View) -> Action:
    """`Click on the numbers in ascending order.`; after the first they are covered by squares."""
    number = len(view.done) + 1
    wanted = next(n for n in view.start.page.nodes if n.name.split()[-1:] == [str(number)])
    if number == 1:
        return Click(wanted.mark)
    x, y, *_ = wanted.box
    return Click(min(view.all(), key=lambda node: abs(node.box[0] - x) + abs(node.box[1] - y)).mark)


@oracle("tic-tac-toe")
def play_tic_tac_toe(view: View) -> Action:
    """`Playing as 'X', win a game of tic-tac-toe.`"""
    cells = view.all()[:9]
    pieces = [re.search(r"\b([xo])\b", cell.name.lower()) for cell in cells]
    board = "".join(found[1] if found else "." for found in pieces)
    # The free cell from which a game against a half-careful opponent is won most often.
    best = max(_free(board), key=lambda i: _chance(_put(board, i, "x"), "o"))
    return Click(cells[best].mark)


@oracle("stock-market")
def buy_stock(view: View) -> Action:
    """`Buy ABC stock when the price is less than $50.30.`"""
    limit = float(view.read_one(r"less than \$([\d.]+?)\.?$"))
    price = float(view.search(r"\$([\d.]+)")[0])
    return view.click("button", name="Buy") if price < limit else Wait(_TICK_MS)


@cache
def _chance(board: str, turn: str) -> float:
    """How likely X wins from here; the opponent sees lines of two about every other time."""
    if any(all(board[i] == "x" for i in line) for line in _LINES):
        return 1.0
    free = _free(board)
    if not free or any(all(board[i] == "o" for i in line) for line in _LINES):
        return 0.0
    if turn == "x":
        return max(_chance(_put(board, i, "x"), "o") for i in free)
    anywhere = sum(_chance(_put(board, i, "o"), "x") for i in free) / len(free)
    for piece in "ox":
        for line in _LINES:
            held = [board[i] for i in line]
            if held.count(piece) == 2 and "." in held:
                urgent = line[held.index(".")]
                return (anywhere + _chance(_put(board, urgent, "o"), "x")) / 2
    return anywhere


def _free(board: str) -> list[int]:
    return [i for i, cell in enumerate(board) if cell == "."]


def _put(board: str, index: int, piece: str) -> str:
    return board[:index] + piece + board[index + 1 :]


_DELETE = re.compile(r"delet|remov|trash|\brid\b|throw|recycl|out of my inbox|don't want", re.I)
_FORWARD = re.compile(r"by (.+) and forward that email to (.+)\.$")
_WRITTEN_BY = (
    r"\b(?:from|by) {}\b",
    r"\b{}'?s\b",
    r"\b{} (?:sent|wrote|wants (?:his|her)|e?-?mail|message)",
)
"""What tells the writer of a message from its receiver, surest first."""


@dataclass(frozen=True, slots=True)
class EmailRequest:
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
        return view.click(name=request.verb.capitalize())
    threads = [node for node in view.all() if node.name.split(" | ")[0] == request.sender]
    thread = view.first(threads, f"a message by {request.sender}")
    if request.verb in ("reply", "forward"):
        return Click(thread.mark)
    return Click(_icon(view.after(thread), "trash" if request.verb == "delete" else "star"))


def read_request(goal: str, texts: Sequence[str]) -> EmailRequest:
    """What a goal, fixed phrase or free words, asks for; the inbox tells which words are names.

    Raises `PolicyError` when no sender of the inbox is named.
    """
    if found := _FORWARD.search(goal):
        return EmailRequest("forward", found[1], found[2])
    if found := re.search(r'^(.*?)"+(.*?)" ?"?(.*)$', goal):
        return EmailRequest("reply", _named(found[1] + found[3], texts)[0], found[2])
    names = _named(goal, texts)
    if len(names) > 1:
        patterns = [(pattern, name) for pattern in _WRITTEN_BY for name in names]
        writers = [n for p, n in patterns if re.search(p.format(re.escape(n)), goal)]
        sender = [*writers, *names][0]
        return EmailRequest("forward", sender, next(name for name in names if name != sender))
    return EmailRequest("delete" if _DELETE.search(goal) else "star", names[0])


def _named(goal: str, texts: Sequence[str]) -> list[str]:
    """The one-word texts that the goal mentions, as whole words if possible."""
    words = dict.fromkeys(text for text in texts if re.fullmatch(r"[A-Z][\w'-]+", text))
    whole = [word for word in words if re.search(rf"\b{re.escape(word)}s?\b", goal)]
    found = whole or [word for word in words if word in goal]
    if not found:
        raise PolicyError(f"expected a sender of the inbox in the goal, found {goal!r}")
    return found


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
    sign = 1 if view.read_one(r"to the (top|bottom)") == "bottom" else -1
    area = view.find("textbox")
    return submit_after(view, Scroll(area.mark, 0, sign * _FURTHER))


@oracle("sign-agreement")
def sign_agreement(view: View) -> Action:
    """`Scroll to the bottom of the textarea, enter the name "Joye" then press "Agree"`."""
    found = re.search(r'enter the name "(.+)" then press "(\w+)"', view.goal)
    if found is None:
        return view.click("button", name="Cancel")
    area, name = view.all("textbox")[:2]
    return view.next_of(
        Scroll(area.mark, 0, _FURTHER),
        Fill(name.mark, found[1]),
        view.click("button", name=found[2]),
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
    return submit(view)


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
    text = " ".join(node.name for node in view.steps[1][2].nodes)
    shown = re.search(r"\$ ls (.*?) user\$", text)
    names = shown[1].split() if shown else []
    file = next(n for n in names if (n.endswith(ending[1]) if ending else "." not in n))
    return view.next_of(*listing, Fill(field.mark, f"rm {file}"), Press(field.mark, "Enter"))


def _find_named(view: View, word: str) -> int:
    """The first element with this word in its name."""
    nodes = [node for node in view.all() if word in node.name.split()]
    return view.first(nodes, f"an element called {word!r}").mark


def _punctuation(word: str) -> int:
    return len(word) - len(word.rstrip(".,"))
