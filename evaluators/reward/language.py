"""A language or vision-language model as reward model: how likely it finds yes, over no."""

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluators.evaluator import FunctionEvaluator, Verdict
from webagent.action import Answer, GiveUp
from webagent.errors import ModelError, SetupError, StoreError
from webagent.models.model import Constraint, Message, Model
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.records import Trajectory
from webagent.training.language.rows import Encoded, TokenRow, make_encoded_row
from webagent.training.language.texts import NO, YES, format_turns, page_text

Pixels: TypeAlias = NDArray[np.uint8]
Box: TypeAlias = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels."""


@dataclass(frozen=True, slots=True)
class FrameSettings:
    """What counts as a change, and how much of it is kept."""

    patch: int = 14
    """Pixels of a patch's side, as the model cuts pictures into tokens."""
    tolerance: float = 6.0
    """Mean difference of a patch's pixels, of 255, up to which it counts as the same."""
    most: int = 6
    """Frames at most: the first, the last and, in between, those with the largest change."""
    margin: int = 1
    """Patches that are kept around what changed."""
    whole_last: bool = True
    """Show the last page whole, since what was always there may decide, too."""


@dataclass(frozen=True, slots=True)
class KeyFrame:
    """One kept picture."""

    index: int
    """Its place among the screenshots."""
    image: bytes
    """PNG."""
    box: Box
    """Which part of the screenshot it is."""

    @property
    def pixels(self) -> int:
        """How many it has."""
        left, top, right, bottom = self.box
        return (right - left) * (bottom - top)


def select_key_frames(
    screenshots: Sequence[bytes], settings: FrameSettings = FrameSettings()
) -> list[KeyFrame]:
    """Return the frames worth looking at, in order: the first whole, then what changed in others.

    A screenshot that shows no change is dropped, and of the others all but the smallest rectangle
    of patches around the change (after ExeVRM's pruning of regions that stay the same, on pictures
    in place of token masks, so that any image model can read them). A screenshot of another size
    counts as changed throughout. Raises `StoreError` for one that cannot be read.
    """
    from PIL import Image, UnidentifiedImageError

    pictures = []
    for place, image in enumerate(screenshots):
        try:
            pictures.append(Image.open(io.BytesIO(image)).convert("RGB"))
        except (UnidentifiedImageError, OSError) as error:
            raise StoreError(f"screenshot {place} cannot be read as a picture: {error}") from error
    pixels = [np.asarray(picture) for picture in pictures]
    side, margin = settings.patch, settings.margin
    found: list[tuple[int, Box, float]] = []
    for index, now in enumerate(pixels):
        height, width = now.shape[:2]
        if not found:
            found.append((index, (0, 0, width, height), 1.0))
            continue
        changed = find_changed_patches(pixels[found[-1][0]], now, settings)
        box = (0, 0, width, height)
        if not (settings.whole_last and index == len(pixels) - 1):
            if not changed.any():
                continue
            rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
            left, right = int(columns[0]) - margin, int(columns[-1]) + 1 + margin
            top, bottom = int(rows[0]) - margin, int(rows[-1]) + 1 + margin
            box = (max(0, left * side), max(0, top * side), right * side, bottom * side)
            box = (box[0], box[1], min(width, box[2]), min(height, box[3]))
        found.append((index, box, float(changed.mean())))
    if len(found) > settings.most:
        # The ends, and those in between with the largest change.
        between = sorted(found[1:-1], key=lambda each: -each[2])[: max(0, settings.most - 2)]
        ends = [found[0], found[-1]] if settings.most > 1 else [found[-1]]
        found = sorted([*ends, *between])
    frames = []
    for index, box, _ in found:
        out = io.BytesIO()
        pictures[index].crop(box).save(out, "PNG")
        frames.append(KeyFrame(index, out.getvalue(), box))
    return frames


def find_changed_patches(before: Pixels, now: Pixels, settings: FrameSettings) -> NDArray[np.bool_]:
    """Return (rows, columns) which patches differ; all of them between pictures of two sizes."""
    side = settings.patch
    rows, columns = -(-now.shape[0] // side), -(-now.shape[1] // side)
    if before.shape != now.shape:
        return np.ones((rows, columns), np.bool_)
    off = np.abs(before.astype(np.int16) - now.astype(np.int16)).max(axis=2)
    room = ((0, rows * side - off.shape[0]), (0, columns * side - off.shape[1]))
    patches = np.pad(off, room).reshape(rows, side, columns, side)
    return np.asarray(patches.mean(axis=(1, 3)) > settings.tolerance)


PROMPT = Path(__file__).parent / "prompts" / "reward.md"
_ANSWERS = Constraint(choices=(YES, NO))

Look = Callable[[str], bytes]
"""The bytes of a screenshot by its reference, such as `ImageFolder.get`."""
Keep = Callable[[bytes], str]
"""Keeps a picture and gives its reference, such as `ImageFolder.add`."""
WriteShown = Callable[[Sequence[Message], str], Encoded]
"""Messages, images included, and a reply in a model's ids."""


@dataclass(frozen=True, slots=True)
class RewardQuestions:
    """How episodes are shown to a model; the same for training and for judging.

    The question is that of WebRL's reward model (Qi et al. 2024): task, all actions, the page at
    the end. With `look` the key frames of the screenshots are shown as well. The agent's thoughts
    are never shown.
    """

    prompt: Prompt
    look: Look | None = None
    frames: FrameSettings = field(default_factory=FrameSettings)

    @classmethod
    def load(
        cls, look: Look | None = None, frames: FrameSettings | None = None
    ) -> "RewardQuestions":
        """Return the questions with the prompt that comes with the package."""
        return cls(load_prompt(PROMPT), look, frames or FrameSettings())

    def outcome(self, trajectory: Trajectory) -> tuple[Message, Message]:
        """Return the request that asks whether a finished episode succeeded."""
        steps, last = trajectory.steps, trajectory.last
        pages = [step.observation for step in steps]
        # The page that shows the end: the last one, or that before it where it shows nothing.
        shown = last if (last is not None and last.nodes) or not pages else pages[-1]
        seen = [page.screenshot for page in (*pages, last) if page and page.screenshot]
        frames = (
            select_key_frames([self.look(each) for each in seen], self.frames) if self.look else []
        )
        match steps[-1].decision.action if steps else None:
            case Answer(text) if text:
                answer = fence("answer", text)
            case GiveUp():
                answer = "nothing, it gave up"
            case _:
                answer = "nothing"
        captions = [
            f"Picture {number}: page {frame.index + 1}"
            + (", the one after the last action" if frame.index >= len(pages) else "")
            + f", pixels {frame.box[0]},{frame.box[1]} to {frame.box[2]},{frame.box[3]}"
            for number, frame in enumerate(frames, start=1)
        ] or ["There are no pictures."]
        if frames:
            captions.insert(0, "Of every page what had changed since the one before:")
        user = self.prompt.fill(
            "outcome",
            goal=trajectory.goal or trajectory.task.goal or (pages[0].goal if pages else ""),
            turns=format_turns(trajectory) or "Nothing was done.",
            ending=trajectory.ending.value if trajectory.ending else "it is still under way",
            answer=answer,
            page=fence("page", page_text(shown)) if shown else "It was not seen.",
            frames="\n".join(captions),
        )
        images = tuple(frame.image for frame in frames)
        return Message("system", self.prompt.fill("system")), Message("user", user, images)


class LanguageReward:
    """A model that replies yes or no and never more.

    The probability is that of yes where only the two may be said. It needs a model with
    constraints and token ids, such as weights in this process. Raises `SetupError` for another.
    """

    def __init__(self, model: Model, questions: RewardQuestions | None = None) -> None:
        if not (model.capabilities.constraints and model.capabilities.token_ids):
            raise SetupError(
                f"{model.name} cannot be held to yes or no and return how likely each is; a reward"
                " model needs a backend with constraints and token_ids, as `LocalModel` is"
            )
        self.model = model
        self.questions = questions or RewardQuestions.load()
        if self.questions.look is not None and not model.capabilities.images:
            raise SetupError(f"{model.name} does not look at images; leave out `look`")

    async def probability(self, trajectory: Trajectory) -> float:
        """Return P(success) of a finished episode. Raises `ModelError`."""
        messages = self.questions.outcome(trajectory)
        completion = await self.model.complete(messages, max_tokens=16, constraint=_ANSWERS)
        [reply] = completion.replies
        if reply.text not in (YES, NO) or not reply.log_probs:
            raise ModelError(
                f"{self.model.name} replied {reply.text[:40]!r} where only yes or no was allowed"
            )
        chance = math.exp(min(0.0, sum(reply.log_probs)))
        return chance if reply.text == YES else 1.0 - chance

    def evaluator(self, threshold: float = 0.5) -> FunctionEvaluator:
        """Return an evaluator; it abstains when the model fails or nothing was done."""

        async def judge(trajectory: Trajectory) -> Verdict:
            if not trajectory.steps:
                return Verdict(None, "nothing to judge: the episode has no steps")
            try:
                chance = await self.probability(trajectory)
            except ModelError as error:
                return Verdict(None, f"the reward model failed: {error}")
            return Verdict(float(chance >= threshold), f"P(success) = {chance:.3f}")

        name = f"language_reward[{self.model.name}]"
        return FunctionEvaluator(f"{name}@1#{self.questions.prompt.hash}", "success", judge)


def outcome_row(
    questions: RewardQuestions,
    trajectory: Trajectory,
    succeeded: bool,
    write: WriteShown,
    keep: Keep | None = None,
) -> TokenRow:
    """Return the row that teaches whether an episode succeeded.

    `keep` stores the pictures that the model is to be shown; without it there are none. Raises
    `SetupError` when the episode is not finished or infrastructure ended it.
    """
    if trajectory.ending is None or trajectory.ending.is_infrastructure or not trajectory.steps:
        raise SetupError(f"episode {trajectory.id} has no outcome to learn from")
    messages = questions.outcome(trajectory)
    encoded = write(messages, YES if succeeded else NO)
    images = tuple(keep(image) for m in messages for image in m.images) if keep else ()
    return replace(
        make_encoded_row(replace(encoded, images=images), step=len(trajectory.steps) - 1),
        imagined=trajectory.provenance.imagined,
        group=f"{trajectory.task.id}:{trajectory.task.seed}",
        episode=trajectory.id,
    )
