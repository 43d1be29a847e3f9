"""Waiting for a page leaves nothing behind when it is given up."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from webagent.browser.page import clock


@pytest.mark.parametrize("is_advancing", [False, True], ids=["asking", "advancing"])
async def test_a_wait_that_is_given_up_leaves_no_task_behind(is_advancing: bool) -> None:
    async def advance(*_: Any, **__: Any) -> None:
        await asyncio.Event().wait()

    before = asyncio.all_tasks()
    tab: Any = SimpleNamespace(
        loading=is_advancing, is_restless=False, loading_changed=asyncio.Event(), advance=advance
    )
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            if is_advancing:
                await clock.VirtualClock().load(tab)
            else:
                await clock._unless_loading(tab, advance())
    await asyncio.sleep(0)
    assert asyncio.all_tasks() <= before
