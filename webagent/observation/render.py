"""An observation as indented lines of text, within a bound."""

from webagent.records import Node, Observation

_CHARACTERS_PER_TOKEN = 3.5


def render(observation: Observation, max_tokens: int = 2000, boxes: bool = False) -> str:
    """The page as a reader sees it: one line a node, `[12] button "Submit"`.

    Tokens are estimated at 3.5 characters each; what does not fit is left out from the end, and a
    last line says how much. `boxes` adds the place of every element; drawings always show theirs.
    """
    lines = [*_heading(observation), *(render_node(node, boxes) for node in observation.nodes)]
    budget = int(max_tokens * _CHARACTERS_PER_TOKEN)
    kept = _fitting(lines, budget)
    left_out = len(lines) - len(kept)
    if left_out:
        kept.append(f"... {left_out} more lines left out")
    return "\n".join(kept)


def render_node(node: Node, boxes: bool = False) -> str:
    """One line, without the line break."""
    indent = "  " * node.depth
    if not node.mark:
        return indent + _with_states(_on_one_line(node.name), node)
    words = [f"[{node.mark}]", node.role]
    if node.name:
        words.append(_quoted(node.name))
    if node.value:
        words.append(f"value={_quoted(node.value)}")
    line = indent + _with_states(" ".join(words), node)
    if boxes or node.role == "graphic":
        left, top, width, height = node.box
        line += f" at {left},{top} size {width}x{height}"
    return line


def _with_states(line: str, node: Node) -> str:
    return " ".join((line, *node.states))


def _heading(observation: Observation) -> list[str]:
    lines = []
    if len(observation.tabs) > 1:
        for index, title in enumerate(observation.tabs):
            here = " (current)" if index == observation.active_tab else ""
            lines.append(f"tab {index}: {title}{here}")
    above, below = observation.scroll
    if above or below:
        lines.append(f"scrolled: {above} px above, {below} px below")
    return lines


def _fitting(lines: list[str], budget: int) -> list[str]:
    used = 0
    for index, line in enumerate(lines):
        used += len(line) + 1
        if used > budget:
            return lines[:index]
    return lines


def _quoted(text: str) -> str:
    return f'"{_on_one_line(text)}"'


def _on_one_line(text: str) -> str:
    return text.replace("\n", "\\n")
