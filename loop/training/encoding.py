"""Training rows in a model's ids, and what is needed to read them again: masks and screenshots."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from webagent.agent.asking import Asking
from webagent.models.constrain import Masks, replay_masks
from webagent.models.local.weights import LoadedWeights
from webagent.models.model import Message
from webagent.policy.knowledge import Knowledge
from webagent.policy.prompting.messages import format_reply
from webagent.records import Trajectory
from webagent.store import ImageFolder
from webagent.training.language.likelihood import ForwardOptions
from webagent.training.language.rows import Encoded


class RunImages:
    """The screenshots of several runs, each looked for wherever it may lie."""

    def __init__(self, runs: Sequence[Path]) -> None:
        self._folders = [ImageFolder(run / "images") for run in runs]

    def get(self, reference: str) -> bytes:
        """An image by its reference. Raises `StoreError` where no run has it."""
        for folder in self._folders[:-1]:
            if folder.path(reference).is_file():
                return folder.get(reference)
        return self._folders[-1].get(reference)

    def add(self, image: bytes) -> str:
        """Keep a picture that was made for a prompt, in the last run's folder."""
        return self._folders[-1].add(image)


_MASKED_REPLIES = 4096
"""Replies whose masks are kept from one epoch to the next."""


def build_reading(weights: LoadedWeights, runs: Sequence[Path]) -> ForwardOptions:
    """What the model needs beside rows of these runs to read them."""
    images = RunImages(runs)

    @lru_cache(maxsize=_MASKED_REPLIES)
    def packed(allowed: str, ids: tuple[int, ...]) -> Masks:
        ends = tuple(sorted(weights.endings.stop))
        return replay_masks(allowed, ids, weights.tokenizer, width=weights.width, ends=ends)

    def masks(allowed: str, ids: Sequence[int]) -> NDArray[np.bool_]:
        return packed(allowed, tuple(ids)).unpacked()

    def pictures(references: Sequence[str]) -> Mapping[str, Tensor]:
        return weights.reader.pixels([images.get(reference) for reference in references])

    return ForwardOptions(masks=masks, pictures=pictures, never=weights.endings.never)


class PromptEncoder:
    """Writes prompts as the loaded model reads them when it acts, image places included."""

    def __init__(
        self,
        weights: LoadedWeights,
        asking: Asking,
        images: RunImages,
        knowledge: tuple[Knowledge, ...] = (),
    ) -> None:
        """`images` holds the screenshots, for a model that is shown them, `knowledge` the hints."""
        from webagent.models.local.model import LocalModel

        self._weights = weights
        shown = images if weights.sees_images else None
        self._policy = asking.policy(LocalModel(weights), shown, knowledge)

    def write(self, messages: Sequence[Message], reply: str) -> Encoded:
        """Messages without images, and a reply, ended as the model ends one; however long, since
        the trainer drops and counts what the model cannot read."""
        prompt = self._weights.reader.encode(messages).ids
        written = self._weights.tokenizer(reply, add_special_tokens=False)["input_ids"]
        end = self._weights.tokenizer.eos_token_id
        end = min(self._weights.endings.stop) if end is None else int(end)
        return Encoded(prompt, (*written, end))

    def encode(self, trajectory: Trajectory, index: int) -> Encoded:
        """A step that no model sampled, as the policy would have been asked and have replied."""
        step = trajectory.steps[index]
        before = replace(trajectory, steps=trajectory.steps[:index], last=None, ending=None)
        brief = self._policy.brief(before, step.observation)
        encoded = self.write(brief.messages, format_reply(step.decision))
        return replace(encoded, images=brief.images)
