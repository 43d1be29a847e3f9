"""What a policy was asked and what it should have replied, in the model's ids."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loop.training.images import Images
from webagent.agent.asking import Asking
from webagent.models.model import Message
from webagent.records import Trajectory
from webagent.training.language.rows import Encoded
from webagent.training.language.texts import reply_text

if TYPE_CHECKING:
    from webagent.models.local.weights import Weights


class Writer:
    """Writes prompts as the loaded model reads them when it acts, image places included."""

    def __init__(self, weights: "Weights", asking: Asking, images: Images) -> None:
        """`images` holds the screenshots, for a model that is shown them."""
        from webagent.models.local.model import LocalModel

        self._weights = weights
        shown = images if weights.sees_images else None
        self._policy = asking.policy(LocalModel(weights), shown)

    def write(self, messages: Sequence[Message], reply: str) -> Encoded:
        """Messages without images, and a reply, ended as the model ends one."""
        prompt = self._weights.reader.read(messages).tokens.ids
        said = self._weights.tokenizer(reply, add_special_tokens=False)["input_ids"]
        return Encoded(prompt, (*said, self._end))

    def encode(self, trajectory: Trajectory, index: int) -> Encoded:
        """A step that no model sampled, as the policy would have been asked and have replied."""
        step = trajectory.steps[index]
        before = replace(trajectory, steps=trajectory.steps[:index], last=None, ending=None)
        brief = self._policy.brief(before, step.observation)
        encoded = self.write(brief.messages, reply_text(step.decision))
        return replace(encoded, images=brief.images)

    @property
    def _end(self) -> int:
        end = self._weights.tokenizer.eos_token_id
        return min(self._weights.endings.stop) if end is None else int(end)
