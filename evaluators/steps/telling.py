"""An episode put into words for whoever reads it from its first page to its last."""

from collections.abc import Callable

from webagent.action import Answer, GiveUp, format_action
from webagent.errors import StoreError
from webagent.models.prompt import fence
from webagent.records import Observation, Step, Trajectory

_LEAST_TOKENS = 120
"""Of a page, however long the episode."""


def told_course(
    trajectory: Trajectory, render: Callable[[Observation, int], str], page_tokens: int
) -> str:
    """Every page with what was done on it, fenced, within about so many tokens together."""
    parts = told_parts(trajectory, render, page_tokens)
    texts = [fence(name, text) for name, text in parts.items()]
    if trajectory.last is None:
        texts.append("The page after the last step was not seen.")
    return "\n\n".join(texts)


def told_parts(
    trajectory: Trajectory, render: Callable[[Observation, int], str], page_tokens: int
) -> dict[str, str]:
    """`page 1`, `step 1`, `page 2` and so on, with what each was."""
    pages = [step.observation for step in trajectory.steps]
    if trajectory.last is not None:
        pages.append(trajectory.last)
    share = max(_LEAST_TOKENS, page_tokens // max(1, len(pages)))
    parts = {}
    for number, page in enumerate(pages, start=1):
        parts[f"page {number}"] = f"{page.title}\n{page.url}\n\n{render(page, share)}"
        if number <= len(trajectory.steps):
            after = pages[number] if number < len(pages) else None
            parts[f"step {number}"] = _done(trajectory.steps[number - 1], after)
    return parts


def attached(
    trajectory: Trajectory, images: Callable[[str], bytes] | None, most: int
) -> list[tuple[int, bytes]]:
    """Page numbers, counted from 1, with their screenshots, the last so many that can be found."""
    if images is None or most <= 0:
        return []
    pages = [step.observation for step in trajectory.steps]
    pages += [trajectory.last] if trajectory.last is not None else []
    found = []
    for number, page in enumerate(pages, start=1):
        if page.screenshot:
            try:
                found.append((number, images(page.screenshot)))
            except StoreError:
                continue
    return found[-most:]


def _done(step: Step, after: Observation | None) -> str:
    """What was done and what the browser said to it, without the agent's thoughts."""
    action = step.decision.action
    if isinstance(action, GiveUp):
        return "gave up"
    target = step.observation.node(getattr(action, "mark", 0))
    named = f' on {target.role} "{target.name}"' if target else ""
    said = f"\nthe browser said: {after.outcome}" if after is not None and after.outcome else ""
    ended = "ended the episode with " if isinstance(action, Answer) else ""
    return f"{ended}{format_action(action)}{named}{said}"
