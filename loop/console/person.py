"""A person at the terminal, for what only a person may do."""

import asyncio
from collections.abc import Awaitable, Callable

from webagent.errors import SetupError


class TerminalPerson:
    """Asks on the terminal and waits for Enter; keep the browser's window in sight."""

    async def hand_over(self, reason: str) -> None:
        """Print the reason and wait. Raises `SetupError` where there is nobody to press Enter."""
        await wait_for_enter(f"{reason}\nDo it in the browser's window, then press Enter here.")


class KeyboardPerson:
    """A person at a terminal that is read key by key: `y`, and nothing else, is a yes."""

    def __init__(self, say: Callable[[str], object], key: Callable[[], Awaitable[str]]) -> None:
        self._say, self._key = say, key

    async def approve(self, question: str) -> bool:
        """Show the question, which is made from the action, and wait for a key."""
        self._say(f"{question}\n[y] yes, any other key: no")
        is_yes = await self._key() in ("y", "Y")
        self._say("allowed" if is_yes else "refused")
        return is_yes

    async def hand_over(self, reason: str) -> None:
        """Say why a person is wanted, and wait for a key."""
        self._say(f"{reason}\nDo it in the browser's window, then press a key here.")
        await self._key()


async def wait_for_enter(request: str) -> None:
    """Print a request and wait for Enter."""
    print(request, flush=True)
    try:
        await asyncio.to_thread(input)
    except EOFError as error:
        raise SetupError("this needs a person at a terminal to press Enter") from error
