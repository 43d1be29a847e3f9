"""The vocabulary: words that are looked up and copied back exactly, and fixed tokens."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from webagent.action import Action
from webagent.action.actions import ACTION_NAMES

_PIECE = re.compile(r"[^\W_]+|[^\w\s]|_")
_WORDS_A_TEXT = 48


@dataclass(frozen=True, slots=True)
class Word:
    """One piece of text, with what it takes to put the text together again."""

    text: str
    spaced: bool
    """Whether white space stands before it."""

    @property
    def key(self) -> str:
        """What it is compared and looked up by."""
        return self.text.lower()


@lru_cache(8192)
def split(text: str, limit: int = _WORDS_A_TEXT) -> tuple[Word, ...]:
    """Return runs of letters and digits, and single punctuation marks; at most `limit` of them.

    Remembered, since most of a page is the same again after a step.
    """
    words = []
    end = 0
    for match in _PIECE.finditer(text):
        words.append(Word(match.group(), match.start() > end))
        end = match.end()
        if len(words) == limit:
            break
    return tuple(words)


@lru_cache(8192)
def keys_of(text: str, limit: int = _WORDS_A_TEXT) -> tuple[str, ...]:
    """Return the keys of the text's words."""
    return tuple(word.key for word in split(text, limit))


def join(words: Sequence[Word]) -> str:
    """Return the text again, white space before the first word left out."""
    return "".join((" " if word.spaced else "") + word.text for word in words).strip()


class Vocabulary:
    """Numbers for the words that come up again and again; every other word is unknown.

    Ids are stable: words are only ever added, up to `capacity`, so rows stored by an earlier
    round stay readable. An unknown word still takes part by its identity: relations say where
    else it stands, and the copy head can repeat it.
    """

    UNKNOWN = 0

    def __init__(self, fixed: Sequence[str], words: Sequence[str] = (), capacity: int = 2048):
        self.fixed = tuple(fixed)
        self.words = list(words)
        self.capacity = capacity
        self._known = ["", *self.fixed, *self.words]
        self._ids = {word: i for i, word in enumerate(self._known) if i}
        self.text_ids: list[int] = []
        """The numbers of the words that a text may hold."""
        self.kind_ids: list[int] = []
        """The numbers of what was added and no text holds: kinds of lines, states."""
        for word in self.words:
            self._sort(word)
        if len(self) > capacity:
            raise ValueError(f"{len(self)} words do not fit a vocabulary of {capacity}")

    def __len__(self) -> int:
        return len(self._known)

    def id(self, word: str) -> int:
        """Return the number of a word (lower case) or of a fixed token; 0 when unknown."""
        return self._ids.get(word, self.UNKNOWN)

    def word(self, index: int) -> str:
        """Return the word with this number."""
        return self._known[index] if 0 <= index < len(self._known) else ""

    def grow(self, texts: Iterable[Iterable[str]], at_least: int = 3) -> int:
        """Add words that stand in at least so many of the texts, most frequent first.

        Each text is the set of words of one episode. Returns how many were added.
        """
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(set(text))
        frequent = sorted((-count, word) for word, count in counts.items() if count >= at_least)
        added = 0
        for _, word in frequent:
            if len(self) >= self.capacity:
                break
            if word not in self._ids:
                self._ids[word] = len(self)
                self._known.append(word)
                self.words.append(word)
                self._sort(word)
                added += 1
        return added

    def _sort(self, word: str) -> None:
        is_text = len(split(word)) == 1
        (self.text_ids if is_text else self.kind_ids).append(self._ids[word])


ROLES = ("role:policy", "role:world", "role:judge")
START, END = "<start>", "<end>"

SLOTS: dict[str, tuple[str, ...]] = {
    "click": ("mark",),
    "dblclick": ("mark",),
    "hover": ("mark",),
    "focus": ("mark",),
    "fill": ("mark", "text"),
    "select_option": ("mark", "option"),
    "press": ("mark", "key"),
    "scroll": ("mark", "way"),
    "drag_and_drop": ("mark", "mark"),
    "mouse_click": ("number", "number"),
    "mouse_drag": ("number", "number", "number", "number"),
    "go_back": (),
    "go_forward": (),
    "new_tab": (),
    "tab_focus": ("number",),
    "tab_close": (),
    "wait": (),
    "answer": ("text",),
    "give_up": ("text",),
}
"""Each operation's arguments as the built-in model says them; it types no addresses or paths."""

SLOT_KINDS = ("op", "mark", "option", "text", "key", "way", "number", "done", "outcome", "delta")

KEYS = (
    *("Enter", "Tab", "Escape", "Backspace", "Delete", "Space", "Home", "End"),
    *("PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *(f"Control+{letter}" for letter in "acvxzbiu"),
    *"abcdefghijklmnopqrstuvwxyz0123456789",
)
SCROLLS: dict[str, tuple[int, int]] = {
    "up": (0, -100),
    "down": (0, 100),
    "left": (-100, 0),
    "right": (100, 0),
    "far-up": (0, -400),
    "far-down": (0, 400),
}
"""Scroll steps in CSS pixels, right and down."""

NUMBERS = 128
"""Coordinates are counted in 1/128 of the viewport's longer side."""

OUTCOMES = ("goes-on", "ends", "succeeds", "fails", "nothing-changes")
EDITS = ("edit:remove", "edit:add", "edit:name", "edit:value", "edit:states")

FIXED: tuple[str, ...] = (
    *ROLES,
    START,
    END,
    *(f"op:{op}" for op in SLOTS),
    *(f"key:{key}" for key in KEYS),
    *(f"way:{way}" for way in SCROLLS),
    *(f"number:{i}" for i in range(NUMBERS)),
    *(f"is:{outcome}" for outcome in OUTCOMES),
    *EDITS,
    "outcome:none",
    "outcome:problem",
)


def op_of(action: Action) -> str:
    """Return the name of the operation: `click`."""
    return ACTION_NAMES[type(action)]
