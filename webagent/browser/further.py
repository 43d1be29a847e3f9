"""Start pages besides the first: each in a tab of its own behind it."""

from collections.abc import Sequence

from webagent.browser.tabs import Tabs
from webagent.errors import WorldError


async def open_behind(tabs: Tabs, urls: Sequence[str]) -> None:
    """Open the addresses in order; the tab that was in front is in front afterwards.

    Raises `WorldError` where one cannot be opened, `GuardError` where one is closed to the task.
    """
    front = tabs.active_index
    for url in urls:
        if tabs.guard:
            tabs.guard.open_further(url)
        await tabs.new()
        failure = await tabs.goto(url)
        if failure:
            raise WorldError(f"a further start page failed: {failure}")
    if urls:
        await tabs.focus(front)
