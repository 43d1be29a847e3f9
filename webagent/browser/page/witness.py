"""Hearing of what a person does in the documents of a tab."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from secrets import token_hex
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from webagent.browser.page.line import world_failures
from webagent.browser.page.scripts import ISOLATED_WORLD
from webagent.browser.page.tab import Tab

Hear = Callable[[str, Mapping[str, Any]], None]
"""Told what was done, and its particulars: those of witness.js, `mark` as the episode has it."""

_BINDING = f"webagent{token_hex(8)}"
"""Only our own world can call it; a page that knew its name could not either."""


async def witness(tab: Tab, hear: Hear) -> None:
    """From here on `hear` is told of what is done by hand in the tab, in whatever document.

    The browser's own windows, for files and for drags, go to the person again. Raises `WorldError`.
    """

    async def follow(session: CDPSession) -> None:
        session.on("Runtime.bindingCalled", lambda event: _called(tab, session, event, hear))
        named = {"name": _BINDING, "executionContextName": ISOLATED_WORLD}
        await session.send("Runtime.addBinding", named)
        begin = {
            "source": f"webagent.witness({json.dumps(_BINDING)})",
            "worldName": ISOLATED_WORLD,
            "runImmediately": True,
        }
        await session.send("Page.addScriptToEvaluateOnNewDocument", begin)

    await tab.send("Input.setInterceptDrags", enabled=False)
    await tab.send("Page.setInterceptFileChooserDialog", enabled=False)
    async with world_failures():
        await tab.follow_sessions(follow)


async def paths_of(tab: Tab, context: int, session: CDPSession, key: int) -> list[str]:
    """Where the files lie that were put into a field; none once its document is gone."""
    wanted = {"expression": f"webagent.chosenFiles({key})", "contextId": context}
    paths = []
    with suppress(PlaywrightError):
        listed = (await session.send("Runtime.evaluate", wanted))["result"]["objectId"]
        shown = {"objectId": listed, "ownProperties": True}
        for each in (await session.send("Runtime.getProperties", shown))["result"]:
            if each["name"].isdigit():
                file = {"objectId": each["value"]["objectId"]}
                paths.append(str((await session.send("DOM.getFileInfo", file))["path"]))
    return paths


def _called(tab: Tab, session: CDPSession, event: Mapping[str, Any], hear: Hear) -> None:
    if event["name"] != _BINDING:
        return
    context = event["executionContextId"]
    said = json.loads(event["payload"])
    marks = {name: tab.mark_in(session, context, said[name]) for name in ("mark",) if name in said}
    hovered = [tab.mark_in(session, context, each) for each in said.get("hovered", ())]
    where = {"session": session, "context": context}
    hear(said.pop("what"), {**said, **marks, "hovered": hovered, **where})
