"""Putting what was seen in frames where the frames stand, as one page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from webagent.observation.page import Hole, PageView
from webagent.records import Node

FramePath: TypeAlias = tuple[int, ...]
"""The way from the top document to a frame's, as places among each document's frames."""


def splice(page: PageView, inner: Mapping[FramePath, PageView | str]) -> PageView:
    """The page with the rows of its frames, in its own viewport's coordinates.

    `inner` says for each frame what was seen in it, or why nothing was; the frames of a frame that
    has no entry are left out. Marks must have been made unique before.
    """
    nodes, focus = _with_frames(page, inner)
    return replace(page, nodes=tuple(nodes), focus=focus, holes=())


def numbered(view: PageView, next_mark: int) -> tuple[PageView, dict[int, int]]:
    """The view with numbers from `next_mark` on for its elements that have none yet, and which
    number each of them got for its provisional one, which is negative."""
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
    """The line that says where a frame begins, with its title or why nothing was seen of it."""
    title = frame.name or (seen.title if isinstance(seen, PageView) else "")
    name = f'frame "{title}"' if title else "frame"
    return replace(frame, name=f"{name} {seen}" if isinstance(seen, str) else name)


def _placed(nodes: Sequence[Node], hole: Hole, depth: int) -> list[Node]:
    """Lines of a frame as lines of the document around it."""
    return [replace(node, depth=node.depth + depth, box=hole.outward(node.box)) for node in nodes]
