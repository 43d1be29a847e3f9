"""Oracles for small games and puzzles that are decided step by step."""

import re
from functools import cache

from benchmarks.oracles import View, oracle
from webagent.action import Action, Wait
from webagent.action.actions import Click, Fill
from webagent.records import Node

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
    return Click(view.find("button", name="Submit").mark)


@oracle("generate-number")
def generate_number(view: View) -> Action:
    """`Generate an odd number, then press submit.`: again until it fits."""
    kind = view.read_one(r"Generate an? (number less than \d+|number greater than \d+|odd|even)")
    shown = [node.name for node in view.page.nodes if node.name.isdigit()]
    fits = bool(shown) and _fits(int(shown[0]), kind)
    return Click(view.find("button", name="Submit" if fits else "Generate").mark)


@oracle("find-greatest")
def find_greatest(view: View) -> Action:
    """`Find and pick the card with the greatest number`: look at all, then take the best."""
    cards = [node for node in view.all() if node.role != "button"]
    marks = [card.mark for card in cards]
    seen = [mark for mark in marks if Click(mark) in view.done]
    if len(seen) < len(marks):
        return Click(next(mark for mark in marks if mark not in seen))
    best = max(marks, key=lambda mark: _number_under(view, mark))
    if view.done[-1] == Click(best) or Click(best) in view.done[len(marks) :]:
        return Click(view.find("button", name="Submit").mark)
    return Click(best)


@oracle("odd-or-even")
def mark_odd_or_even(view: View) -> Action:
    """`Mark the numbers below as odd or even and press submit when done.`"""
    odds, evens = view.all("button", name="Odd"), view.all("button", name="Even")
    numbers = [int(n.name) for n in view.page.nodes if re.fullmatch(r"-?\d+", n.name)]
    rows = zip(odds, evens, numbers, strict=True)
    plan = [Click(odd.mark if number % 2 else even.mark) for odd, even, number in rows]
    return view.next_of(*plan, Click(view.find("button", name="Submit").mark))


@oracle("ascending-numbers")
def click_ascending(view: View) -> Action:
    """`Click on the numbers in ascending order.`; after the first they are covered by squares."""
    number = len(view.done) + 1
    wanted = next(n for n in view.start.page.nodes if n.name.split()[-1:] == [str(number)])
    if number == 1:
        return Click(wanted.mark)
    return Click(min(view.all(), key=lambda node: _distance(node, wanted)).mark)


@oracle("tic-tac-toe")
def play_tic_tac_toe(view: View) -> Action:
    """`Playing as 'X', win a game of tic-tac-toe.`"""
    cells = view.all()[:9]
    return Click(cells[_best_move("".join(map(_piece, cells)))].mark)


@oracle("stock-market")
def buy_stock(view: View) -> Action:
    """`Buy ABC stock when the price is less than $50.30.`"""
    limit = float(view.read_one(r"less than \$([\d.]+?)\.?$"))
    price = float(view.search(r"\$([\d.]+)")[0])
    return Click(view.find("button", name="Buy").mark) if price < limit else Wait(_TICK_MS)


def _fits(number: int, kind: str) -> bool:
    if kind in ("odd", "even"):
        return number % 2 == (kind == "odd")
    bound = int(kind.split()[-1])
    return number < bound if "less" in kind else number > bound


def _number_under(view: View, mark: int) -> int:
    """The number a card showed after it was clicked."""
    pages = (page for _, action, page in view.steps if action == Click(mark))
    node = next(pages).node(mark)
    digits = re.search(r"\d+", node.name if node else "")
    return int(digits[0]) if digits else -1


def _distance(one: Node, other: Node) -> float:
    return abs(one.box[0] - other.box[0]) + abs(one.box[1] - other.box[1])


def _piece(cell: Node) -> str:
    found = re.search(r"\b([xo])\b", cell.name.lower())
    return found[1] if found else "."


def _best_move(board: str) -> int:
    """The free cell from which a game against a half-careful opponent is won most often."""
    return max(_free(board), key=lambda i: _chance(_put(board, i, "x"), "o"))


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
    urgent = next((i for piece in "ox" if (i := _completes(board, piece)) is not None), None)
    if urgent is None:
        return anywhere
    return (anywhere + _chance(_put(board, urgent, "o"), "x")) / 2


def _completes(board: str, piece: str) -> int | None:
    """The cell that completes a line of this piece, if there is one."""
    for line in _LINES:
        held = [board[i] for i in line]
        if held.count(piece) == 2 and "." in held:
            return line[held.index(".")]
    return None


def _free(board: str) -> list[int]:
    return [i for i, cell in enumerate(board) if cell == "."]


def _put(board: str, index: int, piece: str) -> str:
    return board[:index] + piece + board[index + 1 :]
