"""How a judge looks, is asked and votes."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Show: TypeAlias = Literal["auto", "screenshots", "texts", "both"]


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The settings of all variants; each takes those that its `Variant.takes` names."""

    show: Show = "auto"
    """What is shown of a page. `auto`: what the variant was published with, and texts where the
    model does not look at images or no screenshots can be looked up."""
    pages: int = 6
    """How many pages are shown, at most."""
    screenshots: int = 6
    """How many of them with their screenshots, at most."""
    page_tokens: int = 2000
    """Of a page's text, at most, estimated at 3.5 characters each."""
    relevance: Literal["words", "model"] = "words"
    """How pages are chosen: by the words they share with the key points, which costs nothing, or
    by the model's score from 1 to 5, a request for each page."""
    threshold: int = 3
    """Score of the model below which a page is not shown."""
    votes: int = 1
    """How often the model is asked; only more than half of the votes make a verdict."""
    temperature: float = 0.7
    """Of the votes when there are several; a single one is taken at 0."""
    max_tokens: int = 2048
    """Of one reply."""
    timeout: float = 180.0
    """Seconds that one request may take before the judge goes on without its reply."""
    answer_needed: bool = True
    """Whether an episode without an answer counts as failed without asking, as published."""
    score: str = "success"
    """The score that the verdict is given under."""
