"""BrowserGym's observation dictionary: its space, and Chromium's trees with bids."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Space
from gymnasium.spaces import Sequence as SequenceSpace

from apps.environment.env import AnyText
from webagent.browser.page.source import PageElements

COSTLY = ("screenshot", "dom_object", "axtree_object", "extra_element_properties")
"""The fields that cost a question to the browser; the others are known already."""


_LONGEST_SECONDS = 1e9
"""BrowserGym says infinity, of which Gymnasium's check warns."""


class Calls(AnyText):
    """Calls as text, such as `click('12')`."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a call that does nothing; masks and probabilities are not used."""
        return "noop(0)"


class _Unflattened(Space[Any]):
    """A space of values that are no arrays."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Return that it has no fixed size."""
        return False

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Tree(_Unflattened):
    """A dictionary as the browser gives it, of any content."""

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Return an empty tree."""
        return {}

    def contains(self, x: Any) -> bool:
        """Return whether it is a dictionary."""
        return isinstance(x, dict)


class Number(_Unflattened):
    """A number."""

    def sample(self, mask: Any = None, probability: Any = None) -> float:
        """Return a number from 0 to 1."""
        return float(self.np_random.random())

    def contains(self, x: Any) -> bool:
        """Return whether it is a number."""
        return isinstance(x, int | float)


def observation_space(fields: tuple[str, ...], size: tuple[int, int]) -> Dict:
    """Return the dictionary with those of the costly fields that are wanted; `size` is the
    screenshot's width and height in pixels."""
    message = Dict({"role": AnyText(), "timestamp": Number(), "message": AnyText()})
    costly: dict[str, Space[Any]] = {
        "screenshot": Box(0, 255, (size[1], size[0], 3), np.uint8),
        "dom_object": Tree(),
        "axtree_object": Tree(),
        "extra_element_properties": Tree(),
    }
    texts = ("goal", "url", "focused_element_bid", "last_action", "last_action_error")
    return Dict(
        {
            "chat_messages": SequenceSpace(message),
            "goal_object": SequenceSpace(Tree()),
            "open_pages_urls": SequenceSpace(AnyText()),
            "open_pages_titles": SequenceSpace(AnyText()),
            "active_page_index": Box(0, 255, (1,), np.int64),
            "elapsed_time": Box(0, _LONGEST_SECONDS, (1,), np.float64),
            **{name: AnyText() for name in texts},
            **{name: space for name, space in costly.items() if name in fields},
        }
    )


_COMMENT = 8
_ELEMENT = 1


def bids(members: PageElements) -> dict[int, str]:
    """Return backend node id to bid, for elements that are part of the task."""
    return {node: str(each.mark) for node, each in members.by_node.items() if each.mark}


def axtree_object(nodes: Sequence[dict[str, Any]], members: PageElements) -> dict[str, Any]:
    """Return the accessibility tree with bids as `browsergym_id`, of the task's elements alone."""
    named = bids(members)
    outside = {node for node, each in members.by_node.items() if each.outside}
    children = {node["nodeId"]: node.get("childIds", ()) for node in nodes}
    waiting = [node["nodeId"] for node in nodes if node.get("backendDOMNodeId") in outside]
    gone: set[str] = set()
    while waiting:
        if (name := waiting.pop()) not in gone:
            gone.add(name)
            waiting.extend(children.get(name, ()))
    kept = [node for node in nodes if node["nodeId"] not in gone]
    for node in kept:
        node.setdefault("childIds", [])
        node["childIds"] = [child for child in node["childIds"] if child not in gone]
        if bid := named.get(node.get("backendDOMNodeId", 0)):
            node["browsergym_id"] = bid
    return {"nodes": kept}


def extra_element_properties(
    members: PageElements, lines: Collection[int], scale: float = 1.0
) -> dict[str, dict[str, Any]]:
    """Return by bid: `visibility` (share in view, 0 to 1), `bbox` (left, top, width, height in
    pixels of the screenshot; None without a box), `clickable`, and `set_of_marks`, true for what is
    in view and has a line of its own in our observation."""
    found = {}
    for each in members.by_node.values():
        if each.mark:
            has_box = each.box[2] > 0 or each.box[3] > 0
            found[str(each.mark)] = {
                "visibility": each.share_in_view,
                "bbox": [side * scale for side in each.box] if has_box else None,
                "clickable": each.clickable,
                "set_of_marks": each.mark in lines and each.share_in_view > 0,
            }
    return found


def dom_object(document: dict[str, Any], members: PageElements) -> dict[str, Any]:
    """Return the DOM snapshot with `bid`, `value` and `checked` among the attributes.

    What is no part of the task is left as empty comments, since nodes are numbered by their place.
    """
    strings = StringTable(document["strings"])
    named = bids(members)
    outside = {node for node, each in members.by_node.items() if each.outside}
    for each in document["documents"]:
        nodes = each["nodes"]
        # By place, the values that fields have now, as numbers of strings; -1 for no value.
        live: dict[int, dict[str, int]] = {}
        for key in ("inputValue", "textValue"):
            rare = nodes.get(key, {"index": [], "value": []})
            for at, number in zip(rare["index"], rare["value"], strict=True):
                live.setdefault(at, {})["value"] = number
        for key, kind in (("inputChecked", "checked"), ("optionSelected", "selected")):
            for at in nodes.get(key, {"index": []})["index"]:
                live.setdefault(at, {})[kind] = -1
        hidden: set[int] = set()
        for place, backend in enumerate(nodes["backendNodeId"]):
            if backend in outside or nodes["parentIndex"][place] in hidden:
                hidden.add(place)
                nodes["nodeType"][place] = _COMMENT
                nodes["nodeName"][place] = strings.number("#comment")
                nodes["nodeValue"][place] = strings.number("")
                nodes["attributes"][place] = []
            elif nodes["nodeType"][place] == _ELEMENT:
                bid = named.get(backend)
                now = ({"bid": strings.number(bid)} if bid else {}) | live.get(place, {})
                attributes = nodes["attributes"][place]
                names = {strings.number(name): value for name, value in now.items()}
                empty = strings.number("")
                first = [
                    part
                    for name, value in names.items()
                    for part in (name, value if value >= 0 else empty)
                ]
                rest = [
                    part
                    for name, value in zip(attributes[::2], attributes[1::2], strict=True)
                    if name not in names
                    for part in (name, value)
                ]
                nodes["attributes"][place] = first + rest
    return document


class StringTable:
    """The snapshot's table of strings, which can grow."""

    def __init__(self, table: list[str]) -> None:
        self._table = table
        self._places = {text: place for place, text in enumerate(table)}

    def number(self, text: str) -> int:
        """Return its number, a new one where it is not there yet."""
        if text not in self._places:
            self._places[text] = len(self._table)
            self._table.append(text)
        return self._places[text]
