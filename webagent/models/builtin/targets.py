"""Targets: actions as the tokens the built-in model writes, and the grammar that keeps them valid.

An output id below the vocabulary's capacity is a vocabulary entry; `capacity + i` repeats (or
points at) token i of the prefix.
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webagent.action import Action
from webagent.action import actions as act
from webagent.models.builtin.layout import PromptField
from webagent.models.builtin.prefix import Prefix
from webagent.models.builtin.vocabulary import (
    END,
    KEYS,
    NUMBERS,
    SCROLLS,
    SLOTS,
    START,
    Vocabulary,
    Word,
    join,
    op_of,
    split,
)

_FREE_OF_MARKS = ("press", "scroll")
"""Operations that may be done to the page as a whole."""
MAX_TEXT = 24
"""Words a text argument may have."""
ACTIONS_ALLOWED = "actions:"
"""What marks a step whose ids were sampled under an `ActionGrammar`."""


@dataclass(frozen=True, slots=True)
class Codec:
    """Translates between actions and output ids for one vocabulary."""

    vocabulary: Vocabulary

    @property
    def end(self) -> int:
        """The id that closes a text."""
        return self.vocabulary.id(END)

    def pointer(self, position: int) -> int:
        """Return the id that points at a position of the prefix."""
        return self.vocabulary.capacity + position

    def encode(self, action: Action, prefix: Prefix, viewport: tuple[int, int]) -> list[int] | None:
        """Return the ids of an action; None where it cannot be written for this page.

        Points, scrolls and waits become the nearest ones there are.
        """
        op = op_of(action)
        if op not in SLOTS or getattr(action, "button", "left") != "left":
            return None
        ids = [self.vocabulary.id(f"op:{op}")]
        parts: list[list[int] | None]
        if isinstance(action, act.Scroll):
            nearest = min(SCROLLS, key=lambda w: math.dist(SCROLLS[w], (action.dx, action.dy)))
            parts = [self._encode_mark(action.mark, prefix), self._encode_token(f"way:{nearest}")]
        elif isinstance(action, act.Wait):
            parts = []
        elif isinstance(action, act.TabFocus):
            parts = [self._encode_token(f"number:{action.index}")]
        else:
            parts = [
                self._encode_field(field.name, getattr(action, field.name), prefix, max(viewport))
                for field in dataclasses.fields(action)
                if field.name != "button"
            ]
        for part in parts:
            if part is None:
                return None
            ids.extend(part)
        return ids

    def _encode_field(
        self, name: str, value: str | int, prefix: Prefix, side: int
    ) -> list[int] | None:
        if isinstance(value, int):
            if name in ("mark", "source", "target"):
                return self._encode_mark(value, prefix)
            step = min(NUMBERS - 1, max(0, round(value * NUMBERS / side)))
            return self._encode_token(f"number:{step}")
        if name == "option":
            wanted = [word.key for word in split(value, 40)]
            for head in np.flatnonzero(prefix.options):
                if [word.key for word in _list_name_words(prefix, int(head))] == wanted:
                    return [self.pointer(int(head))]
            return None
        if name == "key":
            return self._encode_token(f"key:{value}")
        ids = self.copy_text(value, prefix)
        copied = [token for token in ids if token >= self.vocabulary.capacity]
        # A text has to read back the same but for white space, and copies no place twice.
        is_same = self.read_text(ids[:-1], prefix) == " ".join(value.split())
        return ids if is_same and len(set(copied)) == len(copied) else None

    def _encode_mark(self, mark: int, prefix: Prefix) -> list[int] | None:
        if mark == 0:
            return [self.pointer(0)]
        found = np.flatnonzero(prefix.marks == mark)
        return [self.pointer(int(found[0]))] if len(found) else None

    def _encode_token(self, token: str) -> list[int] | None:
        number = self.vocabulary.id(token)
        return [number] if number else None

    def copy_text(self, text: str, prefix: Prefix) -> list[int]:
        """Return the first words of a text, copied in the longest stretches there are, then the
        end.

        A word that stands nowhere in the prefix is written from the vocabulary, in lower case; one
        that is not there either becomes the unknown word.
        """
        words = split(text, MAX_TEXT)
        ids: list[int] = []
        i, after = 0, -1
        while i < len(words):
            # Where the longest stretch of what is left stands in the prefix, spelled alike (the
            # first such place). Behind the last copy, reading goes on with the spacing found there.
            start, length, rest = 0, 0, words[i:]
            for place, candidate in enumerate(prefix.words):
                if candidate is None or candidate.text != rest[0].text:
                    continue
                if place == after and candidate.spaced != rest[0].spaced:
                    continue
                count = 1
                while (
                    count < min(len(rest), len(prefix.words) - place)
                    and prefix.words[place + count] == rest[count]
                    and prefix.lines[place + count] == prefix.lines[place]
                    and prefix.fields[place + count] == prefix.fields[place]
                ):
                    count += 1
                if count > length:
                    start, length = place, count
            if length == 0:
                ids.append(self.vocabulary.id(words[i].key))
                i, after = i + 1, -1
                continue
            ids.extend(self.pointer(start + k) for k in range(length))
            i, after = i + length, start + length
        return [*ids, self.end]

    def decode(self, ids: Sequence[int], prefix: Prefix, viewport: tuple[int, int]) -> Action:
        """Return the action of a complete sequence of ids that `allowed` let through."""
        op = self.vocabulary.word(ids[0]).removeprefix("op:")
        rest = list(ids[1:])
        arguments: list[int | str] = []
        for kind in SLOTS[op]:
            if kind == "text":
                cut = rest.index(self.end) if self.end in rest else len(rest)
                arguments.append(self.read_text(rest[:cut], prefix))
                rest = rest[cut + 1 :]
                continue
            token = rest.pop(0)
            position = token - self.vocabulary.capacity
            if op == "tab_focus":
                arguments.append(self._decode_number(token))
            elif kind == "mark":
                arguments.append(int(prefix.marks[position]))
            elif kind == "option":
                arguments.append(join(_list_name_words(prefix, position)))
            elif kind == "number":
                arguments.append(round(self._decode_number(token) * max(viewport) / NUMBERS))
            else:
                arguments.append(self.vocabulary.word(token).split(":", 1)[1])
        if op == "scroll":
            arguments[1:] = SCROLLS[str(arguments[1])]
        return act.ACTIONS[op](*arguments)  # type: ignore[arg-type]

    def _decode_number(self, token: int) -> int:
        return int(self.vocabulary.word(token).removeprefix("number:"))

    def read_text(self, ids: Sequence[int], prefix: Prefix) -> str:
        """Return the text that output ids spell: copies keep their spelling and their spacing."""
        words = []
        before = -2
        for token in ids:
            position = token - self.vocabulary.capacity
            if position < 0:
                words.append(Word(self.vocabulary.word(token), True))
                before = -2
                continue
            word = prefix.words[position]
            if word is not None:
                words.append(word if position == before + 1 else Word(word.text, True))
            before = position
        return join(words)


@dataclass(frozen=True, slots=True)
class ActionGrammar:
    """Which tokens may come next so that an action on this page results."""

    codec: Codec
    ops: tuple[str, ...] = tuple(SLOTS)
    """The operations the policy may use."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The codec's vocabulary."""
        return self.codec.vocabulary

    @property
    def start(self) -> int:
        """The id fed in before the first token."""
        return self.vocabulary.id(START)

    @property
    def name(self) -> str:
        """What is stored with a step: the operations that were allowed."""
        return ACTIONS_ALLOWED + ",".join(self.ops)

    def slot(self, ids: Sequence[int]) -> str:
        """Return what kind of token comes after these: a slot kind, or `done`."""
        if not ids:
            return "op"
        kinds = SLOTS[self.vocabulary.word(ids[0]).removeprefix("op:")]
        at = 0
        for token in ids[1:]:
            if kinds[at] != "text" or token == self.codec.end:
                at += 1
        return kinds[at] if at < len(kinds) else "done"

    def allowed(self, ids: Sequence[int], prefix: Prefix) -> NDArray[np.bool_]:
        """Return (capacity + T,): which output ids may come next."""
        capacity = self.vocabulary.capacity
        mask = np.zeros(capacity + len(prefix), np.bool_)
        op = self.vocabulary.word(ids[0]).removeprefix("op:") if ids else ""
        match self.slot(ids):
            case "op":
                has_mark, has_option = (prefix.marks > 0).any(), prefix.options.any()
                possible = [
                    name
                    for name in self.ops
                    if (has_mark or "mark" not in SLOTS[name] or name in _FREE_OF_MARKS)
                    and (has_option or "option" not in SLOTS[name])
                ]
                names = possible or ["give_up"]
                mask[[self.vocabulary.id(f"op:{name}") for name in names]] = True
            case "mark":
                mask[capacity:] = prefix.marks > 0
                mask[capacity] = op in _FREE_OF_MARKS
            case "option":
                mask[capacity:] = prefix.options
            case "key":
                mask[[self.vocabulary.id(f"key:{key}") for key in KEYS]] = True
            case "way":
                mask[[self.vocabulary.id(f"way:{way}") for way in SCROLLS]] = True
            case "number":
                first = self.vocabulary.id("number:0")
                mask[first : first + NUMBERS] = True
            case "text":
                mask[self.codec.end] = True
                if len(ids) - SLOTS[op].index("text") <= MAX_TEXT:
                    mask[capacity:] = [word is not None for word in prefix.words]
                    mask[[token for token in ids[1:] if token > capacity]] = False
                    mask[self.vocabulary.text_ids] = True
        return mask


def _list_name_words(prefix: Prefix, head: int) -> list[Word]:
    """Return the words of the name of the line that a token heads."""
    own = (prefix.lines == prefix.lines[head]) & (prefix.fields == PromptField.NAME)
    return [word for i in np.flatnonzero(own) if (word := prefix.words[i])]
