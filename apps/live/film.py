"""A task as a moving picture: every page with what was done on it, and where."""

import io
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from apps.live.terminal import describe_action, plain
from webagent.action import is_final
from webagent.errors import StoreError
from webagent.guard.actions import elements_of
from webagent.records import PERSON, Decision, Observation, Trajectory
from webagent.store import ImageFolder

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH = 800
"""Pixels of the picture; pages are made smaller to fit, never larger."""
STEP_MS, LAST_MS = 1500, 4000
_BAR, _MARGIN = 62, 10
_LETTERS = 92
_INK, _PAPER, _ACCENT = (24, 26, 32), (245, 245, 242), (214, 40, 60)


def write_film(trajectory: Trajectory, images: ImageFolder, path: Path) -> int:
    """Write the picture as a GIF; how many pages it shows. Raises `StoreError` where there is no
    screenshot, or the file cannot be written."""
    frames = list(_frames(trajectory, images))
    if not frames:
        raise StoreError(f"{trajectory.id} has no screenshots to make a picture of")
    size = max(frame.width for frame in frames), max(frame.height for frame in frames)
    whole = [_padded(frame, size).quantize(128) for frame in frames]
    times = [STEP_MS] * (len(whole) - 1) + [LAST_MS]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole[0].save(path, "GIF", save_all=True, append_images=whole[1:], duration=times, loop=0)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}") from error
    return len(whole)


def _frames(trajectory: Trajectory, images: ImageFolder) -> "Iterator[Image]":
    count = len(trajectory.steps)
    for number, step in enumerate(trajectory.steps, start=1):
        if step.observation.screenshot:
            who = "you: " if step.decision.weights == PERSON else ""
            said = f"{number}/{count}  {who}{describe_action(step.decision, step.observation)}"
            yield _frame(step.observation, images, said, step.decision)
    is_over = bool(count) and is_final(trajectory.steps[-1].decision.action)
    if trajectory.last and trajectory.last.screenshot and not is_over:
        yield _frame(trajectory.last, images, f"{trajectory.ending}: {trajectory.error}", None)


def _frame(page: Observation, images: ImageFolder, said: str, decision: Decision | None) -> "Image":
    """The page with a bar above it that says what is done, and a ring where."""
    from PIL import Image, ImageDraw, ImageFont

    shot = Image.open(io.BytesIO(images.get(page.screenshot))).convert("RGB")
    scale = min(1.0, WIDTH / shot.width)
    shown = shot.resize((round(shot.width * scale), round(shot.height * scale)))
    frame = Image.new("RGB", (shown.width, shown.height + _BAR), _PAPER)
    frame.paste(shown, (0, _BAR))
    draw = ImageDraw.Draw(frame)
    font: Any = ImageFont.load_default(size=15)
    letters = max(20, _LETTERS * shown.width // WIDTH)
    draw.text((_MARGIN, 8), shorten(plain(said), letters, placeholder="…"), _ACCENT, font)
    thought = shorten(plain(decision.thought if decision else ""), letters, placeholder="…")
    draw.text((_MARGIN, 34), thought, _INK, font)
    for x, y in _points(decision, page) if decision else ():
        _ring(draw, x * scale, y * scale + _BAR)
    return frame


def _points(decision: Decision, page: Observation) -> list[tuple[float, float]]:
    """Where an action was done, in CSS pixels of the viewport."""
    x, y = getattr(decision.action, "x", None), getattr(decision.action, "y", None)
    if x is not None and y is not None:
        return [(x, y)]
    boxes = [node.box for node in elements_of(decision.action, page)]
    return [(left + width / 2, top + height / 2) for left, top, width, height in boxes]


def _ring(draw: Any, x: float, y: float) -> None:
    for radius, colour in ((17, _PAPER), (15, _ACCENT), (12, _PAPER)):
        around = (x - radius, y - radius, x + radius, y + radius)
        draw.ellipse(around, outline=colour, width=3)
    draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=_ACCENT)


def _padded(frame: "Image", size: tuple[int, int]) -> "Image":
    from PIL import Image

    if frame.size == size:
        return frame
    whole = Image.new("RGB", size, _PAPER)
    whole.paste(frame, (0, 0))
    return whole
