"""How pages and the goal's pictures are shown to a model."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from tasks.task import Task
from webagent.action import Action
from webagent.errors import StoreError
from webagent.models.prompt import fence, shorten
from webagent.observation.variants import ObservationVariant
from webagent.policy.past_actions import marks_of
from webagent.records import Observation

_MAX_NAME = 120
"""Characters of a picture's name, of which the end tells more than the beginning."""


@dataclass(frozen=True, slots=True)
class PromptImage:
    """A screenshot as it is shown."""

    image: bytes
    reference: str
    """Into the image store; empty where it was drawn on and could not be kept."""


@dataclass(frozen=True, slots=True)
class PageFormatter:
    """Puts pages before a model: as fenced text, as a picture, as what is recalled of them."""

    render: Callable[[Observation], str]
    variant: ObservationVariant
    images: Callable[[str], bytes] | None = None
    """Looks a screenshot up by its reference; None where the model does not look at images."""
    add_image: Callable[[bytes], str] | None = None
    """Keeps a picture that was drawn on and gives its reference."""

    def format_page(self, observation: Observation) -> str:
        """Return title, address and content, fenced."""
        where = f"{shorten(observation.title)}\n{shorten(observation.url)}"
        return fence("page", f"{where}\n\n{self.render(observation)}")

    def format_recall(self, observation: Observation, action: Action) -> str:
        """Return what is repeated of an earlier page, fenced; empty where that is nothing."""
        text = self.variant.recall(observation, marks_of(action)) if self.variant.recall else ""
        return fence("page", text) if text else ""

    def goal_image(self, name: str) -> PromptImage:
        """Return a picture of the goal, for a model that looks. Raises `StoreError`."""
        if self.images is None:
            raise StoreError(f"no images are looked up, {name!r:.80} neither")
        image = self.images(name)
        return PromptImage(image, self.add_image(image) if self.add_image else "")

    def screenshot(self, observation: Observation) -> tuple[PromptImage, ...]:
        """Return the screenshot, where there is one and the model looks."""
        if self.images is None or not observation.screenshot:
            return ()
        plain = self.images(observation.screenshot)
        shown = self.variant.picture(plain, observation)
        if shown == plain:
            return (PromptImage(plain, observation.screenshot),)
        return (PromptImage(shown, self.add_image(shown) if self.add_image else ""),)


def format_goal(goal: str, task: Task, pages: PageFormatter) -> tuple[str, tuple[PromptImage, ...]]:
    """Return the goal with a word on its pictures, and those attached, before all others.

    Pictures are attached where the model looks, and named where they are not shown.
    """
    if not task.images:
        return goal, ()
    shown: dict[str, PromptImage] = {}
    for name in task.images if pages.images else ():
        with suppress(StoreError):
            shown[name] = pages.goal_image(name)
    unseen = [name for name in task.images if name not in shown]
    notes = []
    if shown:
        notes.append(f"Pictures that belong to the task, attached first: {_join(list(shown))}.")
    if unseen:
        notes.append(f"Pictures that belong to the task but are not shown: {_join(unseen)}.")
    return "\n".join([goal, "", *notes]), tuple(shown.values())


def _join(names: list[str]) -> str:
    short = [shorten(name)[-_MAX_NAME:] for name in names]
    return ", ".join(f"{place}. {name}" for place, name in enumerate(short, start=1))
