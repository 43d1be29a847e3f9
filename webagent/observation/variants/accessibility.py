"""Chromium's own accessibility tree as text, for comparison with what we read ourselves."""

from collections.abc import Iterator, Mapping
from typing import Any

from webagent.observation.variants.source import AccessibilityTree

_SILENT = {"none", "generic", "InlineTextBox", "LineBreak", "ListMarker"}
_SHOWN_STATES = (
    *("checked", "disabled", "expanded", "focused", "haspopup", "invalid", "level", "modal"),
    *("pressed", "readonly", "required", "selected", "url"),
)
_Node = Mapping[str, Any]


def write_accessibility(tree: AccessibilityTree) -> str:
    """One line a node, indented by nesting: `[12] button "Submit" focused`.

    Nodes without role, name or mark give their place to their children, and text that only repeats
    the name above it is left out.
    """
    by_id = {node["nodeId"]: node for node in tree.nodes}
    return "\n".join(_lines(tree, by_id)) if tree.nodes else ""


def _lines(tree: AccessibilityTree, by_id: Mapping[str, _Node]) -> Iterator[str]:
    """The lines in page order, without recursion: pages nest deeper than Python does."""
    waiting = [(tree.nodes[0], 0, "")]
    while waiting:
        node, depth, above = waiting.pop()
        if node.get("backendDOMNodeId") in tree.outside:
            continue
        name, mark = _text(node, "name"), tree.marks.get(node.get("backendDOMNodeId", 0))
        if mark or _is_shown(node, name, above):
            yield "  " * depth + _line(node, name, mark)
            depth, above = depth + 1, name or above
        children = [by_id[child] for child in node.get("childIds", ()) if child in by_id]
        waiting.extend((child, depth, above) for child in reversed(children))


def _is_shown(node: _Node, name: str, above: str) -> bool:
    role = _text(node, "role")
    if node.get("ignored") or (role in _SILENT and not (name and role == "generic")):
        return False
    return not (role == "StaticText" and (not name or name in above))


def _line(node: _Node, name: str, mark: int | None) -> str:
    words = [f"[{mark}]"] if mark else []
    role = _text(node, "role")
    words.append({"StaticText": "text", "none": "generic"}.get(role, role))
    if name:
        words.append(f'"{name}"')
    if value := _text(node, "value"):
        words.append(f'value="{value}"')
    return " ".join((*words, *_states(node)))


def _states(node: _Node) -> Iterator[str]:
    for state in node.get("properties", ()):
        value = state.get("value", {}).get("value")
        if state["name"] not in _SHOWN_STATES or value in (None, False, "", "false"):
            continue
        yield state["name"] if value in (True, "true") else f"{state['name']}={value}"


def _text(node: _Node, key: str) -> str:
    value = node.get(key, {}).get("value")
    return "" if value is None else " ".join(str(value).split())
