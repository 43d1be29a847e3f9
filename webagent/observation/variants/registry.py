"""The forms in which a page can be shown to a model, by name."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Literal

from webagent.errors import unknown_name
from webagent.observation.render import render
from webagent.observation.variants.accessibility import write_accessibility
from webagent.observation.variants.bounded import bounded
from webagent.observation.variants.html import clean_html
from webagent.observation.variants.markdown import to_markdown
from webagent.observation.variants.pruned import prune, recall
from webagent.observation.variants.set_of_marks import draw_marks, list_marks
from webagent.observation.variants.source import Source
from webagent.records import Observation


@dataclass(frozen=True, slots=True)
class Variant:
    """One form: what is captured with each observation, and how it is written out."""

    name: str
    summary: str
    write: Callable[[Observation, int], str] = render
    """The text for a model, within so many tokens."""
    capture: Callable[[Source], Awaitable[str]] | None = None
    """Fills `Observation.captured`; None where the lines are enough."""
    image: Literal["", "screenshot", "marks"] = ""
    """Whether the model is to see the screenshot, plain or with numbered boxes."""
    recall: Callable[[Observation, Collection[int]], str] | None = None
    """What to repeat of an earlier page, given the marks that were acted on there."""
    words: str = ""
    """How the page is written, going on from "The page now" in a prompt."""

    def picture(self, image: bytes, observation: Observation) -> bytes:
        """The screenshot as the model is to see it, as PNG."""
        return draw_marks(image, observation) if self.image == "marks" else image


def variant_named(name: str) -> Variant:
    """The variant of this name. Raises `SetupError` naming those that come close."""
    if name not in VARIANTS:
        raise unknown_name("observation", name, VARIANTS)
    return VARIANTS[name]


async def _accessibility(source: Source) -> str:
    return write_accessibility(await source.accessibility())


async def _in_view(source: Source) -> str:
    return " ".join(map(str, await source.marks_in_view()))


async def _html(source: Source) -> str:
    return clean_html(await source.markup())


async def _markdown(source: Source) -> str:
    return to_markdown(await source.markup())


def _captured(observation: Observation, max_tokens: int) -> str:
    return bounded(observation.captured.split("\n"), max_tokens)


_ALL = (
    Variant("text", "numbered lines, one an element"),
    Variant("screenshot", "the lines and the screenshot", image="screenshot"),
    Variant(
        "set-of-marks",
        "the screenshot with numbered boxes, and what they are",
        list_marks,
        _in_view,
        image="marks",
        words=", its marks drawn into the screenshot",
    ),
    Variant("pruned", "the lines without repetition, tables as Markdown", prune, recall=recall),
    Variant("accessibility", "Chromium's own accessibility tree", _captured, _accessibility),
    Variant(
        "html",
        "cleaned HTML with marks as attributes",
        _captured,
        _html,
        words=" as HTML, where the attribute `mark` holds an element's mark",
    ),
    Variant("markdown", "Markdown, for reading", _captured, _markdown, words=" as Markdown"),
)
"""Pruned and accessibility lines carry marks as the plain ones do and need no words."""

VARIANTS = {variant.name: variant for variant in _ALL}
