"""Playwright's ways to an element of a recorded page, as source text."""

import json

from webagent.policy.replay.goals import ValueMapping
from webagent.policy.replay.surroundings import describe_element
from webagent.records import Node, Observation

_FIELDS = {
    *("textbox", "searchbox", "combobox", "spinbutton", "listbox"),
    *("checkbox", "radio", "slider", "switch", "colorpicker", "file"),
}
_BY_TEXT = {"generic", "text", "group"}
_BY_STYLE = {"file": "input[type=file]", "colorpicker": "input[type=color]"}
_DRAWN = {"graphic"}
_TAGS = {"textbox": "input", "combobox": "select", "searchbox": "input", "spinbutton": "input"}


def source(value: str) -> str:
    """A text as a Python literal."""
    return json.dumps(value, ensure_ascii=False)


def locator(page: Observation, node: Node, values: ValueMapping) -> str:
    """An expression that finds the element, by whatever of its ways finds only one."""
    scope, name = _scope(page, node), values.replace_in(node.name)
    alike = [n for n in page.nodes if n.mark and (n.role, n.name) == (node.role, node.name)]
    nth = f".nth({alike.index(node)})" if len(alike) > 1 else ""
    ways = [f"{scope}.{way}{nth}" for way in _ways(node, name)]
    if not ways:
        same = [n for n in page.nodes if n.mark and n.role == node.role]
        ways = [f"{scope}.{_bare(node)}.nth({same.index(node)})"]
    separator = f",\n{8 * ' '}"
    return ways[0] if len(ways) == 1 else f"one(\n{8 * ' '}{separator.join(ways)},\n{4 * ' '})"


def is_drawn(node: Node) -> bool:
    """Whether it is found by nothing but its place."""
    return node.role in _DRAWN or (node.role in _BY_TEXT and not node.name)


def comment(node: Node) -> str:
    """What it is, for readers."""
    return describe_element(node)


def _ways(node: Node, name: str) -> list[str]:
    if not name:
        return []
    if node.role in _BY_TEXT:
        first = name.split(" | ")[0]
        return [f"get_by_text({source(first)}, exact=True)"]
    if node.role not in _FIELDS:
        return [f"get_by_role({source(node.role)}, name={source(name)}, exact=True)"]
    ways = [f"get_by_label({source(name)}, exact=True)"]
    if node.role not in _BY_STYLE:
        role = f"get_by_role({source(node.role)}, name={source(name)}, exact=True)"
        ways.insert(0, role)
    tag = "textarea" if node.kind == "textarea" else _TAGS.get(node.role, "input")
    beside = f"xpath=//text()[normalize-space()={_quoted(name)}]/following::{tag}[1]"
    return [*ways, f"locator({source(beside)})"]


def _bare(node: Node) -> str:
    style = _BY_STYLE.get(node.role)
    return f"locator({source(style)})" if style else f"get_by_role({source(node.role)})"


def _quoted(text: str) -> str:
    """A text as XPath has it, which knows no escapes."""
    if '"' not in text:
        return f'"{text}"'
    parts = ", '\"', ".join(f'"{part}"' for part in text.split('"'))
    return f"concat({parts})"


def _scope(page: Observation, node: Node) -> str:
    """The page, or the frame in which the element lies."""
    place = next(i for i, each in enumerate(page.nodes) if each is node)
    frames = [i for i, each in enumerate(page.nodes) if each.role == "frame"]
    around = [i for i in frames if i < place and page.nodes[i].depth < node.depth]
    while around and any(n.depth <= page.nodes[around[-1]].depth
                         for n in page.nodes[around[-1] + 1 : place]):  # fmt: skip
        around.pop()
    if not around:
        return "page"
    return f'page.frame_locator("iframe >> nth={frames.index(around[-1])}")'
