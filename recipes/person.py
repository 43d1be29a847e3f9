"""A person at the terminal, for what only a person may do."""

import asyncio

from webagent.errors import SetupError


class AtTerminal:
    """Asks on the terminal and waits for Enter; keep the browser's window in sight."""

    async def hand_over(self, reason: str) -> None:
        """Print the reason and wait. Raises `SetupError` where there is nobody to press Enter."""
        await until_enter(f"{reason}\nDo it in the browser's window, then press Enter here.")


async def until_enter(request: str) -> None:
    """Print a request and wait for Enter."""
    print(request, flush=True)
    try:
        await asyncio.to_thread(input)
    except EOFError as error:
        raise SetupError("this needs a person at a terminal to press Enter") from error
