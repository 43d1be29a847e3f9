"""BrowserGym's observation dictionary: its space, and Chromium's trees with bids."""

from collections.abc import Collection, Mapping, Sequence
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
        """A call that does nothing; masks and probabilities are not used."""
        return "noop(0)"


class Tree(Space[dict[str, Any]]):
    """A dictionary as the browser gives it, of any content."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """A tree has no fixed size."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """An empty tree."""
        return {}

    def contains(self, x: Any) -> bool:
        """Whether it is a dictionary."""
        return isinstance(x, dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree)

    def __repr__(self) -> str:
        return "Tree()"


class Number(Space[float]):
    """A number."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """A single number is not an array."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> float:
        """A number from 0 to 1."""
        return float(self.np_random.random())

    def contains(self, x: Any) -> bool:
        """Whether it is a number."""
        return isinstance(x, int | float)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number)

    def __repr__(self) -> str:
        return "Number()"


def observation_space(fields: tuple[str, ...], size: tuple[int, int]) -> Dict:
    """The dictionary with those of the costly fields that were asked for; `size` is the
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
    """Backend node id to bid, for elements that are part of the task."""
    return {node: str(each.mark) for node, each in members.by_node.items() if each.mark}


def axtree_object(nodes: Sequence[dict[str, Any]], members: PageElements) -> dict[str, Any]:
    """The accessibility tree with bids as `browsergym_id`, without what is no part of the task."""
    named = bids(members)
    outside = {node for node, each in members.by_node.items() if each.outside}
    gone = _below(nodes, outside)
    kept = [node for node in nodes if node["nodeId"] not in gone]
    for node in kept:
        node.setdefault("childIds", [])
        node["childIds"] = [child for child in node["childIds"] if child not in gone]
        if bid := named.get(node.get("backendDOMNodeId", 0)):
            node["browsergym_id"] = bid
    return {"nodes": kept}


def _below(nodes: Sequence[Mapping[str, Any]], roots: Collection[int]) -> set[str]:
    """The ids of the nodes of these elements and of all below them."""
    children = {node["nodeId"]: node.get("childIds", ()) for node in nodes}
    waiting = [node["nodeId"] for node in nodes if node.get("backendDOMNodeId") in roots]
    found: set[str] = set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(children.get(node, ()))
    return found


def extra_element_properties(
    members: PageElements, lines: Collection[int], scale: float = 1.0
) -> dict[str, dict[str, Any]]:
    """By bid: `visibility` (share in view, 0 to 1), `bbox` (left, top, width, height in pixels of
    the screenshot; None without a box), `clickable`, and `set_of_marks`, true for what is in view
    and has a line of its own in our observation."""
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
    """The DOM snapshot with `bid`, `value` and `checked` among the attributes.

    What is no part of the task is left as empty comments, since nodes are numbered by their place.
    """
    strings = _Strings(document["strings"])
    named = bids(members)
    outside = {node for node, each in members.by_node.items() if each.outside}
    for each in document["documents"]:
        nodes = each["nodes"]
        live = _live(nodes)
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


class _Strings:
    """The snapshot's table of strings, which can grow."""

    def __init__(self, table: list[str]) -> None:
        self._table = table
        self._places = {text: place for place, text in enumerate(table)}

    def number(self, text: str) -> int:
        """Its number, a new one where it is not there yet."""
        if text not in self._places:
            self._places[text] = len(self._table)
            self._table.append(text)
        return self._places[text]

    def text(self, number: int) -> str:
        """The string of this number."""
        return self._table[number]


def _live(nodes: Mapping[str, Any]) -> dict[int, dict[str, int]]:
    """By place: the values that fields have now, as numbers of strings; -1 for no value."""
    values: dict[int, dict[str, int]] = {}
    for key in ("inputValue", "textValue"):
        rare = nodes.get(key, {"index": [], "value": []})
        for place, number in zip(rare["index"], rare["value"], strict=True):
            values.setdefault(place, {})["value"] = number
    for key, name in (("inputChecked", "checked"), ("optionSelected", "selected")):
        for place in nodes.get(key, {"index": []})["index"]:
            values.setdefault(place, {})[name] = -1
    return values
