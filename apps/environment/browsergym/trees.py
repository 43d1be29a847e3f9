"""Chromium's trees as BrowserGym hands them to agents: with a `bid` at every element.

A bid is a mark as text. Where BrowserGym writes bids and live values into the page's attributes and
reads them back from the trees, here they are put into the trees alone.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from webagent.browser.page.capture import PageElements

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
