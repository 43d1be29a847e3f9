"""Reading a page: the script that runs in it, and its answer as records."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TypeAlias

from webagent.records import Node

_PARTS = (
    *("own.js", "reports.js", "shadows.js", "boxes.js", "covers.js", "elements.js", "names.js"),
    *("ticks.js", "hover.js", "texts.js", "drawings.js", "frames.js", "markers.js"),
    *("counters.js", "passing.js", "standins.js", "columns.js", "lists.js", "observe.js"),
)
_EXPORTS = ("adopt", "called", "keepShadow", "keyOfFrame", "knownMark", "observe", "takeHollow")
_OWN = re.compile(r"\bown\.(\w+)")
"""The members that own.js has to make symbols for."""
_COMMENTS = re.compile(r"(?m)^\s*//.*\n|^\s+")
"""Comments and indentation: every document parses the script anew, a millisecond for 30 kB."""
_CANVAS = "-canvas"
"""Added to the secret event name, for what is reported of canvases."""


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
    """Whether something has come to lie under the mouse unnoticed by the page."""
    is_animating: bool = False
    """Whether something moves that will come to rest."""
    status: int = 0
    """The HTTP status that the document came with; 0 where no server was asked."""


def page_script(signal: str, more: str, exports: tuple[str, ...]) -> str:
    """Return the script to run in an isolated world of every document.

    Its functions, and those of `more` named in `exports`, answer as members of `webagent`.
    `signal` is the secret event name on which `listener_script` reports elements.
    """
    source = _COMMENTS.sub("", "\n".join([*(_read(part) for part in _PARTS), more]))
    own = sorted(set(_OWN.findall(source)))
    return (
        f"(() => {{\nconst OWN_NAMES = {json.dumps(own)};\n{source}\n"
        f"hearListeners({json.dumps(signal)});\n"
        f"hearCanvases({json.dumps(signal + _CANVAS)});\n"
        f"globalThis.webagent = {{ {', '.join((*_EXPORTS, *exports))} }};\n}})();"
    )


def listener_script(signal: str) -> str:
    """Return the script to run in the page's own world, before the page's scripts."""
    calls = []
    for name, event in (("listeners.js", signal), ("canvases.js", signal + _CANVAS)):
        source = _read(name)
        calls.append(f"({source[source.index('(signal)') :].rstrip()})({json.dumps(event)});")
    return "\n".join(calls)


def read_view(answer: str) -> PageView:
    """Return the page script's answer as records."""
    seen = json.loads(answer)
    holes = (
        FrameSlot(
            row=slot["row"],
            index=slot["index"],
            key=slot["key"],
            left=slot["left"],
            top=slot["top"],
            scale_x=slot["scaleX"],
            scale_y=slot["scaleY"],
            is_focused=slot["isFocused"],
        )
        for slot in seen["holes"]
    )
    return PageView(
        title=seen["title"],
        url=seen["url"],
        nodes=tuple(
            Node(mark, role, name, value, tuple(states), tuple(box), depth, kind, *rest)
            for mark, role, name, value, states, box, depth, kind, *rest in seen["rows"]
        ),
        focus=seen["focus"],
        scroll=(seen["scroll"][0], seen["scroll"][1]),
        next_mark=seen["nextMark"],
        path=tuple(seen["path"]),
        holes=tuple(holes),
        hollow=seen["hollow"],
        lost_mouse=seen["lostMouse"],
        is_animating=seen["animating"],
        status=seen.get("status", 0),
    )


def _read(part: str) -> str:
    return files(__package__).joinpath(part).read_text(encoding="utf-8")


FramePath: TypeAlias = tuple[int, ...]
"""The way from the top document to a frame's, as places among each document's frames."""


def insert_frames(page: PageView, inner: Mapping[FramePath, PageView | str]) -> PageView:
    """Return the page with the rows of its frames, in its own viewport's coordinates.

    `inner` says for each frame what was seen in it, or why nothing was; the frames of a frame that
    has no entry are left out. Marks must have been made unique before.
    """
    nodes, focus, done = list[Node](), page.focus, 0
    for hole in page.holes:
        nodes.extend(page.nodes[done : hole.row])
        done = hole.row + 1
        frame, seen = page.nodes[hole.row], inner.get((*page.path, hole.index), "shows nothing")
        title = frame.name or ("" if isinstance(seen, str) else seen.title)
        heading = f'frame "{title}"' if title else "frame"
        if isinstance(seen, str):
            nodes.append(replace(frame, name=f"{heading} {seen}"))
            continue
        nodes.append(replace(frame, name=heading))
        within, below = insert_frames(seen, inner), frame.depth + 1
        nodes += [
            replace(
                node,
                depth=node.depth + below,
                box=hole.outward(node.box),
                # A document that had the focus last keeps its element, but the keys go elsewhere.
                states=tuple(s for s in node.states if hole.is_focused or s != "focused"),
            )
            for node in within.nodes
        ]
        focus = within.focus if hole.is_focused else focus
    nodes.extend(page.nodes[done:])
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
