"""How a page is put before a model: as fenced text, as a picture, as what is recalled of it."""

from collections.abc import Callable
from dataclasses import dataclass

from webagent.action import Action
from webagent.errors import StoreError
from webagent.models.prompt import fence
from webagent.observation.variants import Variant
from webagent.observation.variants.pruned import recall as recall_pruned
from webagent.policy.marks import marks_of
from webagent.policy.prompting.wording import line
from webagent.records import Observation


@dataclass(frozen=True, slots=True)
class Picture:
    """A screenshot as it is shown."""

    image: bytes
    reference: str
    """Into the image store; empty where it was drawn on and could not be kept."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a model sees of pages."""

    render: Callable[[Observation], str]
    variant: Variant
    images: Callable[[str], bytes] | None = None
    """Looks a screenshot up by its reference; None where the model does not look at images."""
    add_image: Callable[[bytes], str] | None = None
    """Keeps a picture that was drawn on and gives its reference."""

    def page(self, observation: Observation) -> str:
        """Title, address and content, fenced."""
        where = f"{line(observation.title)}\n{line(observation.url)}"
        return fence("page", f"{where}\n\n{self.render(observation)}")

    def recall(self, observation: Observation, action: Action, *, always: bool = False) -> str:
        """What to repeat of an earlier page, fenced; empty where the variant repeats nothing.

        With `always` such a variant repeats what lies around the elements acted on.
        """
        recall = self.variant.recall or (recall_pruned if always else None)
        there = recall(observation, marks_of(action)) if recall else ""
        return fence("page", there) if there else ""

    def goal_picture(self, name: str) -> Picture:
        """A picture of the goal, for a model that looks. Raises `StoreError`."""
        if self.images is None:
            raise StoreError(f"no images are looked up, {name!r:.80} neither")
        image = self.images(name)
        return Picture(image, self.add_image(image) if self.add_image else "")

    def picture(self, observation: Observation) -> tuple[Picture, ...]:
        """The screenshot, where there is one and the model looks."""
        if self.images is None or not observation.screenshot:
            return ()
        plain = self.images(observation.screenshot)
        shown = self.variant.picture(plain, observation)
        if shown == plain:
            return (Picture(plain, observation.screenshot),)
        return (Picture(shown, self.add_image(shown) if self.add_image else ""),)
