"""What a page holds beyond the lines of an observation: Chromium's own trees, with our marks.

Marks live in a WeakMap, which the browser's trees do not know. One evaluate answers with all
elements, for each of which the browser names its own number; by these numbers the trees are joined.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webagent.browser.page.tab import Tab
from webagent.errors import WorldError
from webagent.observation.variants import AccessibilityTree

_SNAPSHOT = "DOMSnapshot.captureSnapshot"
_MOST_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class PageElement:
    """One element of the page."""

    mark: int
    """0 where it has none."""
    box: tuple[int, int, int, int]
    """CSS pixels of the viewport: left, top, width, height."""
    share_in_view: float
    """Of its area, from 0 to 1."""
    clickable: bool
    outside: bool
    """Whether the task's hooks say that it is no part of the task."""


@dataclass(frozen=True, slots=True)
class PageElements:
    """All elements of a page, by the browser's numbers for them (backend node ids)."""

    by_node: Mapping[int, PageElement]
    focus: int
    """Mark of the focused element, 0 for none."""
    next_mark: int
    """The first number free for an element not seen yet."""


@dataclass(frozen=True, slots=True)
class PageSource:
    """The page in a tab, for those who want more of it than its lines.

    Every method raises `WorldError` when the page crashed, was closed or does not answer.
    """

    tab: Tab
    ignore: str
    """Selector of elements that are no part of the task; empty for none."""
    first_mark: int

    async def members(self, mark_all: bool = False) -> PageElements:
        """Return all elements, in one command; with `mark_all` those without a mark get one."""
        await self.tab.tell_frames()
        text, nodes = await self.tab.ask_for_elements(
            "members", self.ignore, self.first_mark, mark_all
        )
        answer = json.loads(text)
        by_node = {
            node: PageElement(mark, (x, y, width, height), share, bool(clickable), bool(outside))
            for node, (mark, x, y, width, height, share, clickable, outside) in zip(
                nodes, answer["facts"], strict=True
            )
        }
        return PageElements(by_node, answer["focus"], answer["nextMark"])

    async def markup(self) -> str:
        """Return what is shown of the page as HTML, with marks."""
        return await self._read("markup", _MOST_CHARACTERS)

    async def lists(self) -> str:
        """Return what is shown in tables and other lists, cell by cell, as JSON."""
        return await self._read("lists")

    async def _read(self, function: str, *given: int) -> str:
        await self.tab.tell_frames()
        text = await self.tab.ask(function, self.ignore, *given)
        if not isinstance(text, str):
            raise WorldError(f"expected the page's {function}, found {type(text).__name__}")
        return text

    async def accessibility(self) -> AccessibilityTree:
        """Return the accessibility tree, joined with the marks that the lines have."""
        nodes, members = await asyncio.gather(self.accessibility_nodes(), self.members())
        marks = {node: member.mark for node, member in members.by_node.items() if member.mark}
        outside = {node for node, member in members.by_node.items() if member.outside}
        return AccessibilityTree(nodes, marks, frozenset(outside))

    async def marks_in_view(self) -> list[int]:
        """Return the marks of elements of which something is in view."""
        members = await self.members()
        return [each.mark for each in members.by_node.values() if each.mark and each.share_in_view]

    async def document(self) -> dict[str, Any]:
        """Return the DOM of all frames in this process, with boxes and paint order."""
        return await self.tab.send(
            _SNAPSHOT, computedStyles=[], includeDOMRects=True, includePaintOrder=True
        )

    async def accessibility_nodes(self) -> list[dict[str, Any]]:
        """Return the nodes of the accessibility trees of all frames in this process, the page's
        first.

        A frame's root is a child of the frame's node; ids are unique over all frames. One command
        on a page without frames, else one for each and one that tells where they are.
        """
        if len(self.tab.page.frames) == 1:
            tree = await self.tab.send("Accessibility.getFullAXTree")
            return list(tree["nodes"])
        document = await self.tab.send(_SNAPSHOT, computedStyles=[])
        by_place = {0: 0}  # of each frame the number of its element; of the page 0
        for each in document["documents"]:
            inner = each["nodes"]["contentDocumentIndex"]
            for node, place in zip(inner["index"], inner["value"], strict=True):
                by_place[place] = each["nodes"]["backendNodeId"][node]
        strings, documents = document["strings"], document["documents"]
        owners = {strings[documents[place]["frameId"]]: by_place[place] for place in by_place}
        trees = await asyncio.gather(
            *(self.tab.send("Accessibility.getFullAXTree", frameId=frame) for frame in owners)
        )
        joined: list[dict[str, Any]] = []
        roots: dict[int, str] = {}
        for place, (owner, tree) in enumerate(zip(owners.values(), trees, strict=True)):
            nodes = tree["nodes"]
            for node in nodes if place else ():  # ids that no other frame has
                node["nodeId"] = f"{place}.{node['nodeId']}"
                node["childIds"] = [f"{place}.{child}" for child in node.get("childIds", ())]
                if "parentId" in node:
                    node["parentId"] = f"{place}.{node['parentId']}"
            if owner and nodes:
                roots[owner] = nodes[0]["nodeId"]
            joined += nodes
        for node in joined:
            root = roots.get(node.get("backendDOMNodeId", 0))
            if root is not None:
                node["childIds"] = [*node.get("childIds", ()), root]
        return joined
