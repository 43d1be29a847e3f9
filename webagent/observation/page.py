"""Reading a page: the script that runs in it, and its answer as records."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, TypeAlias

from webagent.records import Node

_PARTS = (
    "own.js",
    "reports.js",
    "shadows.js",
    "boxes.js",
    "covers.js",
    "elements.js",
    "names.js",
    "drawings.js",
    "frames.js",
    "observe.js",
)
_OWN = re.compile(r"\bown\.(\w+)")
"""The members that own.js has to make symbols for."""


@dataclass(frozen=True, slots=True)
class FrameSlot:
    """Where the rows of a frame belong among those of the document around it."""

    row: int
    """Index of the node that stands for the frame."""
    index: int
    """Place among the document's frames; below zero for one in a shadow tree."""
    key: int
    """The frame's number in its document, to find the way to its points by."""
    left: float
    top: float
    """Where its viewport begins, in CSS pixels of the viewport around it."""
    scale_x: float
    scale_y: float
    """How many of those pixels one of its own takes."""
    is_focused: bool

    def outward(self, box: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """Return a box of the frame in the viewport around it."""
        left, top, width, height = box
        return (
            round(self.left + left * self.scale_x),
            round(self.top + top * self.scale_y),
            round(width * self.scale_x),
            round(height * self.scale_y),
        )


@dataclass(frozen=True, slots=True)
class PageView:
    """What one look at a page gives, before the episode's side is added."""

    title: str
    url: str
    nodes: tuple[Node, ...]
    focus: int
    scroll: tuple[int, int]
    next_mark: int
    """The first number free for an element not seen yet."""
    path: tuple[int, ...] = ()
    """The way from the top document, as places among each document's frames."""
    holes: tuple[FrameSlot, ...] = ()
    """Frames whose rows are not among the nodes, in their order."""
    hollow: int = 0
    """Elements that may hold a shadow tree which the page's source closed."""
    lost_mouse: bool = False
    """Whether something has come to lie under the mouse and the page has not been told."""


def page_script(signal: str, more: str, exports: tuple[str, ...]) -> str:
    """Return the script to run in an isolated world of every document.

    Its functions, and those of `more` named in `exports`, answer as members of `webagent`.
    `signal` is the secret event name on which `listener_script` reports elements.
    """
    source = "\n".join([*(_read(part) for part in _PARTS), more])
    own = sorted(set(_OWN.findall(source)))
    names = ", ".join(
        (
            "adopt",
            "called",
            "keepShadow",
            "keyOfFrame",
            "knownMark",
            "observe",
            "takeHollow",
            *exports,
        )
    )
    return (
        f"(() => {{\nconst OWN_NAMES = {json.dumps(own)};\n{source}\n"
        f"hearListeners({json.dumps(signal)});\n"
        f"hearCanvases({json.dumps(_canvas_signal(signal))});\n"
        f"globalThis.webagent = {{ {names} }};\n}})();"
    )


def listener_script(signal: str) -> str:
    """Return the script to run in the page's own world, before the page's scripts."""
    calls = (("listeners.js", signal), ("canvases.js", _canvas_signal(signal)))
    return "\n".join(_call(name, said) for name, said in calls)


def _call(name: str, signal: str) -> str:
    source = _read(name)
    return f"({source[source.index('(signal)') :].rstrip()})({json.dumps(signal)});"


def _canvas_signal(signal: str) -> str:
    return f"{signal}-canvas"


def read_view(answer: str) -> PageView:
    """Return the page script's answer as records."""
    seen = json.loads(answer)
    return PageView(
        title=seen["title"],
        url=seen["url"],
        nodes=tuple(
            Node(
                mark,
                role,
                name,
                value,
                tuple(states),
                (box[0], box[1], box[2], box[3]),
                depth,
                kind,
                *said,
            )
            for mark, role, name, value, states, box, depth, kind, *said in seen["rows"]
        ),
        focus=seen["focus"],
        scroll=(seen["scroll"][0], seen["scroll"][1]),
        next_mark=seen["nextMark"],
        path=tuple(seen["path"]),
        holes=tuple(_hole(said) for said in seen["holes"]),
        hollow=seen["hollow"],
        lost_mouse=seen["lostMouse"],
    )


def _hole(said: dict[str, Any]) -> FrameSlot:
    return FrameSlot(
        row=said["row"],
        index=said["index"],
        key=said["key"],
        left=said["left"],
        top=said["top"],
        scale_x=said["scaleX"],
        scale_y=said["scaleY"],
        is_focused=said["isFocused"],
    )


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


FramePath: TypeAlias = tuple[int, ...]
"""The way from the top document to a frame's, as places among each document's frames."""


def insert_frames(page: PageView, inner: Mapping[FramePath, PageView | str]) -> PageView:
    """Return the page with the rows of its frames, in its own viewport's coordinates.

    `inner` says for each frame what was seen in it, or why nothing was; the frames of a frame that
    has no entry are left out. Marks must have been made unique before.
    """
    nodes, focus = _with_frames(page, inner)
    return replace(page, nodes=tuple(nodes), focus=focus, holes=())


def number_marks(view: PageView, next_mark: int) -> tuple[PageView, dict[int, int]]:
    """Return the view with numbers from `next_mark` on for its elements that have none yet, and
    which number each of them got for its provisional one, which is negative."""
    new = [node.mark for node in view.nodes if node.mark < 0]
    numbers = {mark: next_mark + place for place, mark in enumerate(new)}
    nodes = tuple(
        replace(node, mark=numbers[node.mark]) if node.mark < 0 else node for node in view.nodes
    )
    focus = numbers.get(view.focus, view.focus)
    return replace(view, nodes=nodes, focus=focus, next_mark=next_mark + len(new)), numbers


def _with_frames(
    page: PageView, inner: Mapping[FramePath, PageView | str]
) -> tuple[list[Node], int]:
    nodes, focus, done = list[Node](), page.focus, 0
    for hole in page.holes:
        nodes.extend(page.nodes[done : hole.row])
        done = hole.row + 1
        seen = inner.get((*page.path, hole.index), "shows nothing")
        nodes.append(_heading(page.nodes[hole.row], seen))
        if isinstance(seen, PageView):
            within, focus_within = _with_frames(seen, inner)
            nodes.extend(_placed(within, hole, page.nodes[hole.row].depth + 1))
            focus = focus_within if hole.is_focused else focus
    nodes.extend(page.nodes[done:])
    return nodes, focus


def _heading(frame: Node, seen: PageView | str) -> Node:
    """Return the line where a frame begins, with its title or why nothing was seen of it."""
    title = frame.name or (seen.title if isinstance(seen, PageView) else "")
    name = f'frame "{title}"' if title else "frame"
    return replace(frame, name=f"{name} {seen}" if isinstance(seen, str) else name)


def _placed(nodes: Sequence[Node], hole: FrameSlot, depth: int) -> list[Node]:
    """Return lines of a frame as lines of the document around it."""
    return [replace(node, depth=node.depth + depth, box=hole.outward(node.box)) for node in nodes]
