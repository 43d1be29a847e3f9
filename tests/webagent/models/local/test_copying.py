"""Guesses at what a reply repeats: right where it copies, silent where it does not."""

import random

from webagent.models.local.requests import Copier
from webagent.models.local.source import Generation

SETTINGS = Generation(match=3, most_copied=8)


def write(copier: Copier, text: list[int]) -> int:
    """Let a reply say the text, guessing ahead; the passes that took."""
    place, passes = 0, 0
    while place < len(text):
        guess = copier.guess(len(text) - place - 1)
        true = 0
        while true < len(guess) and guess[true] == text[place + true]:
            true += 1
        if guess:
            copier.learn(len(guess), true)
        for token in text[place : place + true + 1]:
            copier.follow(token)
        place += true + 1
        passes += 1
    return passes


def test_a_page_that_is_repeated_takes_few_passes():
    page = random.Random(1).choices(range(500), k=200)
    assert write(Copier([page], SETTINGS), page) < 40


def test_a_page_with_a_changed_line_is_picked_up_behind_it():
    page = random.Random(1).choices(range(500), k=200)
    changed = [*page[:90], 501, 502, 503, 504, *page[94:]]
    assert write(Copier([page], SETTINGS), changed) < 50


def test_lines_that_begin_alike_are_followed_in_their_order():
    lines = [[1, 2, 3, 10 + number, 20 + number, 30 + number] for number in range(30)]
    page = [token for line in lines for token in line]
    copier = Copier([page], SETTINGS)
    for token in page[:6]:
        copier.follow(token)
    assert copier.guess(6) == page[6:10]


def test_what_the_reply_itself_has_said_is_copied_too():
    copier = Copier([], SETTINGS)
    assert write(copier, [7, 8, 9, 10] * 30) < 40


def test_text_that_repeats_nothing_is_not_guessed_at():
    copier = Copier([list(range(100))], SETTINGS)
    assert write(copier, list(range(200, 260))) == 60


def test_guessing_ends_when_too_few_guesses_come_true():
    copier = Copier([[1, 2, 3, 4, 5] * 3], SETTINGS)
    for token in (1, 2, 3):
        copier.follow(token)
    while guess := copier.guess(8):
        copier.learn(len(guess), 0)
    assert not copier.is_on


def test_no_more_is_guessed_than_may_be_said():
    copier = Copier([list(range(50))], SETTINGS)
    for token in (1, 2, 3):
        copier.follow(token)
    assert copier.guess(2) == [4, 5]
    assert copier.guess(0) == [] == copier.guess(-1)
