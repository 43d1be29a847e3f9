"""A task as a moving picture: every page with what was done on it, and where."""

import io
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
    """Write the picture as a GIF; return how many pages it shows.

    Raises `StoreError` where there is no screenshot, or the file cannot be written.
    """
    from PIL import Image

    frames, count = [], len(trajectory.steps)
    for number, step in enumerate(trajectory.steps, start=1):
        if step.observation.screenshot:
            who = "you: " if step.decision.weights == PERSON else ""
            said = f"{number}/{count}  {who}{describe_action(step.decision, step.observation)}"
            frames.append(_draw_frame(step.observation, images, said, step.decision))
    last = trajectory.last
    is_over = count and is_final(trajectory.steps[-1].decision.action)
    if last and last.screenshot and not is_over:
        said = f"{trajectory.ending}: {trajectory.error}"
        frames.append(_draw_frame(last, images, said, None))
    if not frames:
        raise StoreError(f"{trajectory.id} has no screenshots to make a picture of")
    whole = []
    for frame in frames:
        padded = Image.new(
            "RGB", (max(f.width for f in frames), max(f.height for f in frames)), _PAPER
        )
        padded.paste(frame, (0, 0))
        whole.append(padded.quantize(128))
    times = [STEP_MS] * (len(whole) - 1) + [LAST_MS]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole[0].save(path, "GIF", save_all=True, append_images=whole[1:], duration=times, loop=0)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}") from error
    return len(whole)


def _draw_frame(
    page: Observation, images: ImageFolder, said: str, decision: Decision | None
) -> "Image":
    """Return the page with a bar above it that says what is done, and a ring where."""
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
        at_x, at_y = x * scale, y * scale + _BAR
        for radius, colour in ((17, _PAPER), (15, _ACCENT), (12, _PAPER)):
            around = (at_x - radius, at_y - radius, at_x + radius, at_y + radius)
            draw.ellipse(around, outline=colour, width=3)
        draw.ellipse((at_x - 4, at_y - 4, at_x + 4, at_y + 4), fill=_ACCENT)
    return frame


def _points(decision: Decision, page: Observation) -> list[tuple[float, float]]:
    """Return where an action was done, in CSS pixels of the viewport."""
    x, y = getattr(decision.action, "x", None), getattr(decision.action, "y", None)
    if x is not None and y is not None:
        return [(x, y)]
    boxes = [node.box for node in elements_of(decision.action, page)]
    return [(left + width / 2, top + height / 2) for left, top, width, height in boxes]
