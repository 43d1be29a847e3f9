"""VisualWebArena's checks of pictures: what a model sees in them, and likeness to a reference.

A picture is given by its reference into the store, as a probe captured it. References that the
benchmark ships (`coco_images/…`) or that lie on other sites are looked up by `Means.images`, for
which `with_folder` adds a folder of such files.
"""

import io
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from benchmarks.webarena.rules.consulting import PROMPTS, ModelQuestion, any_of, ask
from benchmarks.webarena.rules.webarena import text_of, texts_of
from evaluators.evaluator import Verdict
from evaluators.rules.checks import RuleQuestion, consulting_rule
from tasks.task import Json
from webagent.errors import StoreError
from webagent.models.prompt import load_prompt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Grey: TypeAlias = NDArray[np.float64]

WINDOW = 7
"""Pixels of the square that is compared at a time."""

NO_PICTURE = Verdict(0.0, "fails: there is no picture")


@consulting_rule
async def visualwebarena_picture_answer(question: RuleQuestion) -> Verdict:
    """In one of the pictures a model sees the answer; the scorer asks BLIP-2."""
    pictures = texts_of(question.found)
    if not pictures:
        return NO_PICTURE
    query, wanted = _field(question.expected, "question"), _field(question.expected, "answer")

    def read(text: str) -> Verdict | None:
        if not text:
            return None
        return Verdict(float(wanted.lower() in text.lower()), f"{query} {text[:80]!r}")

    prompt, verdicts = load_prompt(PROMPTS / "picture_question.md"), []
    model = question.means.model
    if model is not None and not model.capabilities.images:
        return Verdict(None, f"asks about pictures, but {model.name} does not accept images")
    for picture in pictures:
        image = _bytes(question, picture)
        if isinstance(image, Verdict):
            verdicts.append(image)
            continue
        verdicts.append(
            await ask(model, ModelQuestion(prompt, {"question": query}, read, (image,)))
        )
        if verdicts[-1].value == 1.0:
            break
    return any_of(verdicts)


@consulting_rule
async def visualwebarena_same_picture(question: RuleQuestion) -> Verdict:
    """One of the pictures is more alike to one of the references than the threshold (SSIM)."""
    pictures = texts_of(question.found)
    if not pictures:
        return NO_PICTURE
    expected = _mapping(question.expected)
    references: list[str] = []  # into the store, in place of the names of probes that captured them
    for name in texts_of(expected.get("references")):
        captured = question.evidence.get(name, name)
        if captured == []:
            return Verdict(None, f"the reference picture {name} was not captured")
        references += [captured] if isinstance(captured, str) else texts_of(captured)
    threshold = expected.get("threshold")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise TypeError(f"{threshold!r} is not a threshold")
    verdicts = []
    for reference, picture in product(references, pictures):
        pair = [_bytes(question, name) for name in (picture, reference)]
        lost = [image for image in pair if isinstance(image, Verdict)]
        if lost:
            verdicts.append(lost[0])
            continue
        alike = likeness(*(image for image in pair if isinstance(image, bytes)))
        sign = ">" if alike > threshold else "<="
        reason = f"{reference} alike {alike:.3f} {sign} {threshold:g}"
        verdicts.append(Verdict(float(alike > threshold), reason))
    return any_of(verdicts)


def likeness(one: bytes, other: bytes) -> float:
    """Mean structural similarity of two encoded pictures, each made as large as the larger side.

    As scikit-image computes it by default: windows of 7 by 7 with equal weights, sample
    covariance, 8-bit greys (Wang et al. 2004, equation 13). Raises `TypeError` for what is no
    picture, and for sides below 7 pixels.
    """
    import numpy as np
    from PIL import Image, UnidentifiedImageError

    try:
        pictures = [Image.open(io.BytesIO(data)) for data in (one, other)]
        size = max(each.width for each in pictures), max(each.height for each in pictures)
        resized = [each.resize(size, Image.Resampling.LANCZOS).convert("L") for each in pictures]
        greys = [np.asarray(each, dtype=np.float64) for each in resized]
    except (OSError, UnidentifiedImageError) as error:
        raise TypeError(f"a picture cannot be read: {error}") from error
    if min(size) < WINDOW:
        raise TypeError(f"pictures of {size[0]} by {size[1]} are too small to compare")
    one_grey, other_grey = greys
    weight = WINDOW**2 / (WINDOW**2 - 1)
    mean_one, mean_other = _means(one_grey), _means(other_grey)
    spread_one = weight * (_means(one_grey * one_grey) - mean_one**2)
    spread_other = weight * (_means(other_grey * other_grey) - mean_other**2)
    shared = weight * (_means(one_grey * other_grey) - mean_one * mean_other)
    steady, sharp = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    above = (2 * mean_one * mean_other + steady) * (2 * shared + sharp)
    below = (mean_one**2 + mean_other**2 + steady) * (spread_one + spread_other + sharp)
    return float((above / below).mean())


def with_folder(folder: Path, images: Callable[[str], bytes]) -> Callable[[str], bytes]:
    """`Means.images` that looks into a folder first: by path, or by an address's host and path."""

    def look_up(reference: str) -> bytes:
        parts = urlsplit(reference)
        place = folder / (parts.netloc + parts.path if parts.scheme else reference).lstrip("/")
        if place.resolve().is_relative_to(folder.resolve()) and place.is_file():
            return place.read_bytes()
        return images(reference)

    return look_up


def _means(values: "Grey") -> "Grey":
    """Over each window that lies within the picture."""
    from numpy.lib.stride_tricks import sliding_window_view

    for axis in (0, 1):
        values = sliding_window_view(values, WINDOW, axis=axis).mean(axis=-1)
    return values


def _bytes(question: RuleQuestion, reference: str) -> bytes | Verdict:
    images = question.means.images
    if images is None:
        return Verdict(None, "needs pictures; give them: Means(images=store.images.get)")
    try:
        return images(reference)
    except StoreError as error:
        return Verdict(None, f"the picture {reference} cannot be read: {error}")


def _mapping(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} does not name what to compare pictures with")
    return value


def _field(value: Json, name: str) -> str:
    return text_of(_mapping(value).get(name))
