"""Chromium's own sandbox holds every page, wherever it can be had."""

import os
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tasks.task import Task
from webagent.browser import Browser

pytestmark = pytest.mark.browser


@pytest.mark.skipif(os.geteuid() == 0, reason="as root Chromium has no sandbox, and says so")
async def test_pages_of_an_ordinary_user_run_in_a_sandbox(page_task: Callable[..., Task]) -> None:
    async with Browser() as browser:
        world = await browser.world()
        await world.reset(page_task("tabs"))
        children = psutil.Process().children(recursive=True)
        pages = [each for each in children if "--type=renderer" in each.cmdline()]
        assert pages
        for page in pages:
            status = Path(f"/proc/{page.pid}/status").read_text()
            assert "Seccomp:\t2" in status
            assert len(status.split("NSpid:")[1].splitlines()[0].split()) > 1
