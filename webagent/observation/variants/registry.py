"""The forms in which a page can be shown to a model, by name."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any, Literal, Protocol, TypeVar

from webagent.errors import check_package, unknown_name
from webagent.observation.render import cut_to_tokens, render
from webagent.observation.variants.markup import clean_html
from webagent.observation.variants.pruned import prune, recall
from webagent.observation.variants.set_of_marks import draw_marks, list_marks
from webagent.records import Observation

Read = TypeVar("Read")
PAGE_FUNCTIONS = ("lists", "markup", "members")
"""What the page script exports for variants."""


@dataclass(frozen=True, slots=True)
class AccessibilityTree:
    """Chromium's own accessibility tree, and which of its nodes have marks."""

    nodes: Sequence[Mapping[str, Any]]
    """As `Accessibility.getFullAXTree` gives them, frames joined; the first one is the root."""
    marks: Mapping[int, int]
    """Backend node id to mark."""
    outside: frozenset[int] = frozenset()
    """Backend node ids of elements that are no part of the task."""


class CaptureSource(Protocol):
    """A page that stands still while it is asked."""

    async def markup(self) -> str:
        """Return what is shown of the page as HTML, with marks as attributes called `mark`."""

    async def lists(self) -> str:
        """Return what is shown in tables and other lists, cell by cell, as JSON."""

    async def accessibility(self) -> AccessibilityTree:
        """Return the accessibility tree, joined with the marks."""

    async def marks_in_view(self) -> Sequence[int]:
        """Return the marks of elements of which something is in view."""


def variant_script() -> str:
    """Return the part of the page script that variants are written from."""
    parts = ("markup.js", "members.js", "tables.js")
    return "\n".join(
        files(__package__).joinpath(part).read_text(encoding="utf-8") for part in parts
    )


_SILENT = {"none", "generic", "InlineTextBox", "LineBreak", "ListMarker"}
_SHOWN_STATES = (
    *("checked", "disabled", "expanded", "focused", "haspopup", "invalid", "level", "modal"),
    *("pressed", "readonly", "required", "selected", "url"),
)
_Node = Mapping[str, Any]


def write_accessibility(tree: AccessibilityTree) -> str:
    """Return one line a node, indented by nesting: `[12] button "Submit" focused`.

    Nodes without role, name or mark give their place to their children, and text that only repeats
    the name above it is left out.
    """
    by_id = {node["nodeId"]: node for node in tree.nodes}
    lines: list[str] = []
    waiting = [(tree.nodes[0], 0, "")] if tree.nodes else []
    while waiting:  # rather than recursion: pages nest deeper than Python does
        node, depth, above = waiting.pop()
        if node.get("backendDOMNodeId") in tree.outside:
            continue
        name, mark = _text(node, "name"), tree.marks.get(node.get("backendDOMNodeId", 0))
        role = _text(node, "role")
        is_silent = node.get("ignored") or (role in _SILENT and not (name and role == "generic"))
        repeats = role == "StaticText" and (not name or name in above)
        if mark or not (is_silent or repeats):
            words = [f"[{mark}]"] if mark else []
            words.append({"StaticText": "text", "none": "generic"}.get(role, role))
            words += [f'"{name}"'] if name else []
            if value := _text(node, "value"):
                words.append(f'value="{value}"')
            for state in node.get("properties", ()):
                key, value = state["name"], state.get("value", {}).get("value")
                if key in _SHOWN_STATES and value not in (None, False, "", "false"):
                    words.append(key if value in (True, "true") else f"{key}={value}")
            lines.append("  " * depth + " ".join(words))
            depth, above = depth + 1, name or above
        children = [by_id[child] for child in node.get("childIds", ()) if child in by_id]
        waiting.extend((child, depth, above) for child in reversed(children))
    return "\n".join(lines)


def _text(node: _Node, key: str) -> str:
    value = node.get(key, {}).get("value")
    return "" if value is None else " ".join(str(value).split())


@dataclass(frozen=True, slots=True)
class ObservationVariant:
    """One form: what is captured with each observation, and how it is written out."""

    name: str
    write: Callable[[Observation, int], str] = render
    """The text for a model, within so many tokens."""
    capture: Callable[[CaptureSource], Awaitable[str]] | None = None
    """Fills `Observation.captured`; None where the lines are enough."""
    image: Literal["", "screenshot", "marks"] = ""
    """Whether the model is to see the screenshot: plain, or with numbered boxes."""
    recall: Callable[[Observation, Collection[int]], str] | None = None
    """What to repeat of an earlier page, given the marks that were acted on there."""
    words: str = ""
    """How the page is written, going on from "The page now" in a prompt."""

    def picture(self, image: bytes, observation: Observation) -> bytes:
        """Return the screenshot as the model is to see it, as PNG."""
        return draw_marks(image, observation) if self.changes_picture else image

    @property
    def changes_picture(self) -> bool:
        """Whether the model sees another picture than the screenshot that is stored."""
        return self.image == "marks"


def variant_named(name: str) -> ObservationVariant:
    """Return the variant of this name. Raises `SetupError` naming those that come close."""
    if name not in VARIANTS:
        raise unknown_name("observation", name, VARIANTS)
    if VARIANTS[name].changes_picture:
        check_package("PIL", f"the observation {name!r}")
    return VARIANTS[name]


def _capture(
    read: Callable[[CaptureSource], Awaitable[Read]], write: Callable[[Read], str]
) -> Callable[[CaptureSource], Awaitable[str]]:
    """Return what reads a part of the page and writes it as text."""

    async def capture(source: CaptureSource) -> str:
        return write(await read(source))

    return capture


def _write_captured(observation: Observation, max_tokens: int) -> str:
    return cut_to_tokens(observation.captured.split("\n"), max_tokens)


_ALL = (
    ObservationVariant("text"),
    ObservationVariant(
        "boxes", partial(render, boxes=True), words=", each line with its place and size in pixels"
    ),
    ObservationVariant("screenshot", image="screenshot"),
    ObservationVariant(
        "set-of-marks",
        list_marks,
        _capture(lambda source: source.marks_in_view(), lambda marks: " ".join(map(str, marks))),
        image="marks",
        words=", its marks drawn into the screenshot",
    ),
    ObservationVariant("pruned", prune, recall=recall),
    ObservationVariant(
        "accessibility",
        _write_captured,
        _capture(lambda source: source.accessibility(), write_accessibility),
    ),
    ObservationVariant(
        "html",
        _write_captured,
        _capture(lambda source: source.markup(), clean_html),
        words=" as HTML, where the attribute `mark` holds an element's mark",
    ),
)
"""Pruned and accessibility lines carry marks as the plain ones do and need no words."""

VARIANTS = {variant.name: variant for variant in _ALL}
