"""Guesses at what a reply repeats, found by looking its last ids up where they stood before."""

from collections.abc import Sequence

from webagent.models.local.settings import Generation

_TRIAL = 16
"""Guessed ids after which the share that came true is held against the limit."""
_FIRST = 4
"""Ids of the first guess; each that comes true wholly doubles the next."""


class Copier:
    """What one reply may copy: texts in ids, the prompt last, and what it has said so far.

    A copy goes on where it stood. Where it broke off, the next match behind that place is taken,
    because pages are repeated in order; else the last one.
    """

    def __init__(self, texts: Sequence[Sequence[int]], settings: Generation) -> None:
        self._settings = settings
        self._text: list[int] = []
        self._places: dict[tuple[int, ...], list[int]] = {}
        self._reading = -1
        self._last = 0
        self._length = _FIRST
        self._guessed = self._true = 0
        self.is_on = True
        for text in texts:
            for token in text:
                self._append(token)

    def follow(self, token: int) -> None:
        """The next id of the reply."""
        if self._reading >= 0 and self._text[self._reading] == token:
            self._reading += 1
            self._last = self._reading
        else:
            self._reading = -1
        self._append(token)

    def guess(self, most: int) -> list[int]:
        """The ids that may come next, as many at most."""
        if not self.is_on:
            return []
        if self._reading < 0:
            key = tuple(self._text[-self._settings.match :])
            places = self._places.get(key, ())
            behind = (place for place in places if place >= self._last)
            self._reading = next(behind, places[-1] if places else -1)
        if self._reading < 0:
            return []
        length = min(most, self._length, self._settings.most_copied)
        return self._text[self._reading : self._reading + max(0, length)]

    def learn(self, guessed: int, true: int) -> None:
        """How many of the guessed ids came true."""
        self._guessed += guessed
        self._true += true
        if true == guessed:
            self._length = min(self._settings.most_copied, 2 * self._length)
        else:
            self._length = max(_FIRST // 2, (self._length + true) // 2)
        if self._guessed >= _TRIAL:
            self.is_on = self._true >= self._settings.least_accepted * self._guessed

    def _append(self, token: int) -> None:
        self._text.append(token)
        if len(self._text) > self._settings.match:
            # The ids before the new one are what a later match looks for; the new one follows.
            place = len(self._text) - 1
            key = tuple(self._text[place - self._settings.match : place])
            self._places.setdefault(key, []).append(place)
