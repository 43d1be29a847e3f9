"""What a variant may ask of a page beyond the lines that every observation has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol

PAGE_FUNCTIONS = ("markup", "members")
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


class Source(Protocol):
    """A page that stands still while it is asked."""

    async def markup(self) -> str:
        """What is shown of the page as HTML, with marks as attributes called `mark`."""
        ...

    async def accessibility(self) -> AccessibilityTree:
        """The accessibility tree, joined with the marks."""
        ...

    async def marks_in_view(self) -> Sequence[int]:
        """The marks of elements of which something is in view."""
        ...


def variant_script() -> str:
    """The part of the page script that variants are written from."""
    parts = ("markup.js", "members.js")
    return "\n".join(
        files(__package__).joinpath(part).read_text(encoding="utf-8") for part in parts
    )
