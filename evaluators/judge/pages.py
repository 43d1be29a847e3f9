"""What a judge can be shown of a trajectory: its pages, its actions, and what the agent claims."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from webagent.action import Action, Answer, GiveUp, format_action, is_final
from webagent.models.prompt import fence
from webagent.records import Observation, Step, Trajectory

_GRID = 64
"""Cells of the raster, each way, on which two screenshots are compared."""
_SAME_CELL = 24
"""Difference in brightness, of 255, that a caret or an antialiased edge makes in a cell."""


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """One page with what can be shown of it."""

    number: int
    """Counted from 1: page n is the one that action n was taken on, one more is how it was left."""
    observation: Observation
    text: str = ""
    """Title, address and lines; empty where no text was recorded or none is shown."""
    image: bytes | None = None
    relevance: float = 0.0

    @property
    def has_content(self) -> bool:
        """Whether there is anything to see."""
        return bool(self.text) or self.image is not None


def list_pages(trajectory: Trajectory) -> list[Observation]:
    """Return all pages in order, the one the agent left last."""
    last = [trajectory.last] if trajectory.last is not None else []
    return [*(step.observation for step in trajectory.steps), *last]


def view_pages(
    trajectory: Trajectory,
    render: Callable[[Observation], str],
    screenshot: Callable[[Observation], bytes | None],
) -> tuple[EvidencePage, ...]:
    """Return all pages in order, the one the agent left last.

    The page after an answer is left out where it looks as the one that was answered on.
    """
    views = [
        EvidencePage(number, page, format_page(page, render), screenshot(page))
        for number, page in enumerate(list_pages(trajectory), start=1)
    ]
    if trajectory.last is not None and trajectory.steps:
        final = trajectory.steps[-1].decision.action
        if is_final(final) and _look_the_same(views[-2], views[-1]):
            views.pop()
    return tuple(views)


def drop_repeats(views: Sequence[EvidencePage]) -> tuple[EvidencePage, ...]:
    """Return the last of consecutive pages that show the same; pages without content are left out.

    The same: equal words in equal order, whatever their marks, focus and spacing, and screenshots
    that are equal but for a caret. A page that differs by a single word or tick is kept.
    """
    kept: list[EvidencePage] = []
    for view in views:
        if not view.has_content:
            continue
        if kept and _look_the_same(kept[-1], view):
            kept.pop()
        kept.append(view)
    return tuple(kept)


def select_relevant(views: Sequence[EvidencePage], count: int) -> tuple[EvidencePage, ...]:
    """Return the most relevant ones in their own order, the last one always among them."""
    ranked = sorted(views[:-1], key=lambda each: (-each.relevance, -each.number))
    kept = [*ranked[: max(count - 1, 0)], *views[-1:]]
    return tuple(sorted(kept, key=lambda each: each.number))


def limit_images(views: Sequence[EvidencePage], count: int) -> tuple[EvidencePage, ...]:
    """Return the same with screenshots on the most relevant ones only."""
    seen = [each for each in views if each.image is not None]
    kept = {each.number for each in select_relevant(seen, count)} if count else set()
    return tuple(each if each.number in kept else replace(each, image=None) for each in views)


def format_pages(views: Sequence[EvidencePage]) -> str:
    """Return the texts, each in a fence of its own."""
    texts = [fence(f"page {each.number}", each.text) for each in views if each.text]
    return "\n\n".join(texts) or "No text of a page was recorded."


def format_captions(views: Sequence[EvidencePage]) -> str:
    """Return which page each attached screenshot shows, in their order."""
    numbers = [each.number for each in views if each.image is not None]
    return "; ".join(f"screenshot {n} shows page {n}" for n in numbers) or "none"


def collect_images(views: Sequence[EvidencePage]) -> tuple[bytes, ...]:
    """Return the screenshots in order."""
    return tuple(each.image for each in views if each.image is not None)


def format_page(page: Observation, render: Callable[[Observation], str]) -> str:
    """Return title, address and lines; empty where no line was recorded."""
    if not page.nodes:
        return ""
    heading = [line for line in (page.title, page.url) if line]
    return "\n".join([*heading, *[""] * bool(heading), render(page)])


def _look_the_same(first: EvidencePage, second: EvidencePage) -> bool:
    if first.observation.url != second.observation.url:
        return False
    if _words(first.observation) != _words(second.observation):
        return False
    if first.image is None or second.image is None:
        return first.image is second.image
    return first.image == second.image or _differ_by_a_caret(first.image, second.image)


def _words(page: Observation) -> tuple[tuple[object, ...], ...]:
    return tuple(
        (
            node.role,
            re.sub(r"\s+", " ", node.name),
            node.value,
            tuple(state for state in node.states if state != "focused"),
        )
        for node in page.nodes
    )


def _differ_by_a_caret(first: bytes, second: bytes) -> bool:
    """Return whether no cell of two pictures differs by more than a caret; not of unread ones."""
    try:
        from PIL import Image, ImageChops

        pictures = [Image.open(io.BytesIO(each)).convert("L") for each in (first, second)]
    except (OSError, ValueError):
        return False
    if pictures[0].size != pictures[1].size:
        return False
    difference = ImageChops.difference(*pictures).resize((_GRID, _GRID), Image.Resampling.BOX)
    return max(difference.tobytes()) <= _SAME_CELL


@dataclass(frozen=True, slots=True)
class Claim:
    """What the agent says of its own work: never evidence, compared with it afterwards."""

    stance: str = "none"
    """`done`, `gave up` or `none`."""
    answer: str = ""


def find_claim(trajectory: Trajectory) -> Claim:
    """Find the claim that the last action makes."""
    action = trajectory.steps[-1].decision.action if trajectory.steps else None
    if isinstance(action, Answer):
        return Claim("done", action.text)
    return Claim("gave up", action.reason) if isinstance(action, GiveUp) else Claim()


def format_actions(trajectory: Trajectory) -> str:
    """Return what was done, a numbered line each, without the agent's words about it."""
    pages = [*(step.observation for step in trajectory.steps), trajectory.last][1:]
    lines = []
    for number, (step, after) in enumerate(zip(trajectory.steps, pages, strict=True), start=1):
        match step.decision.action:
            case Answer():
                done = "said that it had finished"
            case GiveUp():
                done = "gave up"
            case _:
                done = format_targeted_action(step)
        outcome = f" ({after.outcome})" if after is not None and after.outcome else ""
        lines.append(f"{number}. {done}{outcome}")
    return "\n".join(lines) or "nothing"


def has_acted(trajectory: Trajectory) -> bool:
    """Return whether anything was done but to end the episode."""
    return any(not is_final(step.decision.action) for step in trajectory.steps)


def format_reasoned_actions(trajectory: Trajectory) -> str:
    """Return each step with its address, action and reasoning, and the last page at the end.

    The answer stands in the last action: this is for judges that were published with it.
    """
    steps = [
        (step.observation.url, format_targeted_action(step), step.decision.thought)
        for step in trajectory.steps
    ]
    if trajectory.last is not None:
        steps.append((trajectory.last.url, "none, the episode is over", ""))
    return "\n".join(
        f"Step {number}\nURL: {url or 'not recorded'}\nAction: {action}\n"
        f"Reasoning: {thought or '-'}"
        for number, (url, action, thought) in enumerate(steps, start=1)
    )


def format_targeted_action(step: Step) -> str:
    """Return a step's action with the element that it was done to, without the agent's words."""
    action: Action = step.decision.action
    target = step.observation.node(getattr(action, "mark", 0))
    return format_action(action) + (f' on {target.role} "{target.name}"' if target else "")
