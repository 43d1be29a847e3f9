"""The pages of an episode as a judge can be shown them."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from webagent.action import is_final
from webagent.models.prompt import fence
from webagent.records import Observation, Trajectory

_GRID = 64
"""Cells of the raster, each way, on which two screenshots are compared."""
_SAME_CELL = 24
"""Difference in brightness, of 255, that a caret or an antialiased edge makes in a cell."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One page with what can be shown of it."""

    number: int
    """Counted from 1: page n is the one that action n was taken on, one more is how it was left."""
    observation: Observation
    text: str = ""
    """Title, address and lines; empty where no text was recorded or none is shown."""
    image: bytes | None = None
    relevance: float = 0.0

    @property
    def has_content(self) -> bool:
        """Whether there is anything to see."""
        return bool(self.text) or self.image is not None


def exhibits_of(
    trajectory: Trajectory,
    render: Callable[[Observation], str],
    screenshot: Callable[[Observation], bytes | None],
) -> tuple[Exhibit, ...]:
    """All pages in order, the one the agent left last.

    The page after an answer is left out where it looks as the one that was answered on.
    """
    pages = [step.observation for step in trajectory.steps]
    if trajectory.last is not None:
        pages.append(trajectory.last)
    exhibits = [
        Exhibit(number, page, text_of(page, render), screenshot(page))
        for number, page in enumerate(pages, start=1)
    ]
    if trajectory.last is not None and trajectory.steps:
        final = trajectory.steps[-1].decision.action
        if is_final(final) and _look_the_same(exhibits[-2], exhibits[-1]):
            exhibits.pop()
    return tuple(exhibits)


def without_repeats(exhibits: Sequence[Exhibit]) -> tuple[Exhibit, ...]:
    """Of consecutive pages that show the same, the last one; pages with nothing to see left out.

    The same: equal words in equal order, whatever their marks, focus and spacing, and screenshots
    that are equal but for a caret. A page that differs by a single word or tick is kept.
    """
    kept: list[Exhibit] = []
    for exhibit in exhibits:
        if not exhibit.has_content:
            continue
        if kept and _look_the_same(kept[-1], exhibit):
            kept.pop()
        kept.append(exhibit)
    return tuple(kept)


def best(exhibits: Sequence[Exhibit], count: int) -> tuple[Exhibit, ...]:
    """The most relevant ones in their own order, the last one always among them."""
    ranked = sorted(exhibits[:-1], key=lambda each: (-each.relevance, -each.number))
    kept = [*ranked[: max(count - 1, 0)], *exhibits[-1:]]
    return tuple(sorted(kept, key=lambda each: each.number))


def with_images(exhibits: Sequence[Exhibit], count: int) -> tuple[Exhibit, ...]:
    """The same with screenshots on the most relevant ones only."""
    seen = [each for each in exhibits if each.image is not None]
    kept = {each.number for each in best(seen, count)} if count else set()
    return tuple(each if each.number in kept else replace(each, image=None) for each in exhibits)


def pages_text(exhibits: Sequence[Exhibit]) -> str:
    """The texts, each in a fence of its own."""
    texts = [fence(f"page {each.number}", each.text) for each in exhibits if each.text]
    return "\n\n".join(texts) or "No text of a page was recorded."


def captions(exhibits: Sequence[Exhibit]) -> str:
    """Which page each attached screenshot shows, in their order."""
    numbers = [each.number for each in exhibits if each.image is not None]
    said = [f"screenshot {number} shows page {number}" for number in numbers]
    return "; ".join(said) or "none"


def images_of(exhibits: Sequence[Exhibit]) -> tuple[bytes, ...]:
    """The screenshots in order."""
    return tuple(each.image for each in exhibits if each.image is not None)


def text_of(page: Observation, render: Callable[[Observation], str]) -> str:
    """Title, address and lines; empty where no line was recorded."""
    if not page.nodes:
        return ""
    heading = [line for line in (page.title, page.url) if line]
    return "\n".join([*heading, *[""] * bool(heading), render(page)])


def _look_the_same(first: Exhibit, second: Exhibit) -> bool:
    if first.observation.url != second.observation.url:
        return False
    if _words(first.observation) != _words(second.observation):
        return False
    if first.image is None or second.image is None:
        return first.image is second.image
    return first.image == second.image or _differ_by_a_caret(first.image, second.image)


def _words(page: Observation) -> tuple[tuple[object, ...], ...]:
    return tuple(
        (
            node.role,
            re.sub(r"\s+", " ", node.name),
            node.value,
            tuple(state for state in node.states if state != "focused"),
        )
        for node in page.nodes
    )


def _differ_by_a_caret(first: bytes, second: bytes) -> bool:
    """Whether no cell of the two pictures differs by more than a caret; not where one is unread."""
    try:
        from PIL import Image, ImageChops

        pictures = [Image.open(io.BytesIO(each)).convert("L") for each in (first, second)]
    except (OSError, ValueError):
        return False
    if pictures[0].size != pictures[1].size:
        return False
    difference = ImageChops.difference(*pictures).resize((_GRID, _GRID), Image.Resampling.BOX)
    return max(difference.tobytes()) <= _SAME_CELL
