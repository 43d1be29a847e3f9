"""Opening closed shadow trees to our own scripts, where only the browser knows of them."""

import asyncio
from collections.abc import Iterator
from typing import Any

from playwright.async_api import CDPSession

_GROUP = "webagent-shadows"


async def open_closed(session: CDPSession, context: int) -> bool:
    """Hand the closed shadow trees below the suspected hosts of a document to its isolated world.

    Whether there were any. Raises Playwright's `Error` when the document goes meanwhile.
    """
    suspected = {"expression": "webagent.takeHollow()", "contextId": context, "objectGroup": _GROUP}
    found = await session.send("Runtime.evaluate", suspected)
    listed = {"objectId": found["result"]["objectId"], "ownProperties": True}
    properties = (await session.send("Runtime.getProperties", listed))["result"]
    hosts = [each["value"]["objectId"] for each in properties if each["name"].isdigit()]
    described = await asyncio.gather(*(_describe(session, host) for host in hosts))
    roots = [root for node in described for root in _closed(node)]
    await asyncio.gather(*(_keep(session, context, root) for root in roots))
    await session.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    return bool(roots)


async def _describe(session: CDPSession, host: str) -> dict[str, Any]:
    whole = {"objectId": host, "depth": -1, "pierce": True}
    node: dict[str, Any] = (await session.send("DOM.describeNode", whole))["node"]
    return node


def _closed(node: dict[str, Any]) -> Iterator[int]:
    """The browser's numbers of the closed roots at or below a node."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        roots = node.get("shadowRoots", [])
        yield from (root["backendNodeId"] for root in roots if root["shadowRootType"] == "closed")
        waiting.extend((*roots, *node.get("children", [])))


async def _keep(session: CDPSession, context: int, root: int) -> None:
    wanted = {"backendNodeId": root, "executionContextId": context, "objectGroup": _GROUP}
    found = await session.send("DOM.resolveNode", wanted)
    call = {
        "objectId": found["object"]["objectId"],
        "functionDeclaration": "function () { webagent.keepShadow(this); }",
    }
    await session.send("Runtime.callFunctionOn", call)
