"""Keys pressed at the terminal, one by one, while something else goes on."""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Callable
from types import TracebackType
from typing import Self

Press = Callable[[str], object]


class Keys:
    """Tells `press` of each key; whoever `take`s one gets the next in its place.

    Where standard input is no terminal of ours nothing is heard: `is_heard` says so.
    """

    def __init__(self, press: Press) -> None:
        self._press = press
        self._wanted: asyncio.Future[str] | None = None
        self._before: list[object] | None = None
        self.is_heard = _is_ours()

    def __enter__(self) -> Self:
        if self.is_heard:
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
            asyncio.get_running_loop().add_reader(sys.stdin, self._read)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            asyncio.get_running_loop().remove_reader(sys.stdin)
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]  # as it was read

    async def take(self) -> str:
        """The next key."""
        self._wanted = asyncio.get_running_loop().create_future()
        try:
            return await self._wanted
        finally:
            self._wanted = None

    def _read(self) -> None:
        read = os.read(sys.stdin.fileno(), 64).decode(errors="replace")
        if not read:  # the terminal is gone
            asyncio.get_running_loop().remove_reader(sys.stdin)
        for key in read:
            if self._wanted is not None and not self._wanted.done():
                self._wanted.set_result(key)
            else:
                self._press(key)


def _is_ours() -> bool:
    """Whether there is a terminal, and we are in front at it: setting it up would stop us else."""
    try:
        number = sys.stdin.fileno()
        return os.isatty(number) and os.tcgetpgrp(number) == os.getpgrp()
    except (OSError, ValueError):
        return False
