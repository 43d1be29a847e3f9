"""A sign of life: while a command shows nothing for seconds, what it is at and for how long."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status
from rich.text import Text

SILENCE_SECONDS = 3.4
"""After which something is shown, so that it is there within five on a busy machine."""


class Pulse:
    """Shows a line on standard error whenever nothing was shown for a while; on a terminal it stays
    in place and goes when something else is shown."""

    def __init__(self, name: str, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._started = self._shown = time.monotonic()
        self._status: Status | None = None
        self._lock = threading.Lock()
        self.text = name
        """What is being done."""
        self.displays = 0
        """Displays that move by themselves, beside which nothing is to be shown."""

    def rest(self) -> None:
        """Note that something else is shown now."""
        with self._lock:
            self._shown = time.monotonic()
            if self._status is not None:
                self._status.stop()
                self._status = None

    def beat(self) -> None:
        """Show a line if nothing was shown for long enough."""
        with self._lock:
            now = time.monotonic()
            seconds = now - self._started
            if self._status is not None:
                self._status.update(Text(f"{self.text}, {seconds:.0f} s"))
            elif self.displays or now - self._shown < SILENCE_SECONDS:
                return
            elif self._console.is_interactive:
                text = Text(f"{self.text}, {seconds:.0f} s")
                self._status = Status(text, console=self._console)
                self._status.start()
            else:
                self._console.print(Text(f"       …  {self.text}, {seconds:.0f} s since the start"))
                self._shown = now


_current: Pulse | None = None


def current() -> Pulse | None:
    """Return the pulse of the command in progress, if it has one."""
    return _current


@contextmanager
def show_life(name: str) -> Iterator[None]:
    """Keep a pulse while a command is at work."""
    global _current
    pulse, ended = Pulse(name), threading.Event()

    def go_on() -> None:
        while not ended.wait(0.5):
            pulse.beat()

    thread = threading.Thread(target=go_on, daemon=True)
    _current = pulse
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        pulse.rest()
        _current = None
        sys.stderr.flush()
