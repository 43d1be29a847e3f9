"""Turns as a conversation that is only appended to, so that each prompt begins as the last did.

A message depends on nothing but the turns before it. What grows old (pages, screenshots, whole
turns) goes in blocks: for all turns but one in `Prompting.block` a prompt is the one before it, a
reply and a new page. Replies are written in the form that is asked for, thought and action, so
where a model kept to the form its tokens are those it sampled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from webagent.action import format_action
from webagent.models.model import Message
from webagent.models.prompt import Prompt
from webagent.policy.prompting.settings import Prompting
from webagent.policy.prompting.sight import Picture, Sight
from webagent.policy.prompting.wording import line, tokens_in
from webagent.records import Decision, Observation, Trajectory

_LEFT_OUT = "(left out; it was shown at this turn)"


@dataclass(frozen=True, slots=True)
class Conversation:
    """How the turns of an episode are put as messages."""

    prompt: Prompt
    sight: Sight
    settings: Prompting
    notice: Callable[[Trajectory, Observation], str]
    """What is said beside a page, given the turns before it."""

    def of(
        self,
        trajectory: Trajectory,
        now: Observation,
        opening: dict[str, str],
        belonging: tuple[Picture, ...] = (),
    ) -> tuple[tuple[Message, ...], tuple[Picture, ...]]:
        """The messages after the system's, and their pictures; `opening` fills the first, and the
        goal's own pictures, `belonging`, are attached to it."""
        settings, count = self.settings, len(trajectory.steps)
        seen = [*(step.observation for step in trajectory.steps), now]
        first = _boundary(count, settings.turns, settings.block)
        pages = max(first, _boundary(count, settings.pages, settings.block))
        if settings.history_tokens:
            sizes = [self._size(trajectory, seen, turn, turn >= pages) for turn in range(count)]
            first, pages = _within(sizes, first, pages, settings)
        looked = max(first, _boundary(count, settings.screenshots - 1, settings.block))
        messages: list[Message] = []
        pictures: list[Picture] = []
        for turn in range(first, count + 1):
            shown = self.sight.picture(seen[turn]) if turn >= looked else ()
            if turn == first:
                out = f"({first} earlier turns left out)\n\n" if first else ""
                words = self._page(trajectory, seen, turn, whole=turn >= pages)
                words |= {"images": self._images(shown), "left_out": out + _outcome(seen[turn])}
                text = self.prompt.fill("opening", **opening, **words)
            else:
                messages.append(Message("assistant", said(trajectory.steps[turn - 1].decision)))
                text = self._next(trajectory, seen, turn, shown, whole=turn >= pages)
            shown = (*belonging, *shown) if turn == first else shown
            messages.append(Message("user", text, tuple(each.image for each in shown)))
            pictures.extend(shown)
        return tuple(messages), tuple(pictures)

    def _next(
        self,
        trajectory: Trajectory,
        seen: Sequence[Observation],
        turn: int,
        shown: Sequence[Picture] = (),
        *,
        whole: bool,
    ) -> str:
        """The message of a turn that is not the first."""
        words = self._page(trajectory, seen, turn, whole=whole)
        outcome = _outcome(seen[turn])
        return self.prompt.fill("next", **words, outcome=outcome, images=self._images(shown))

    def _page(
        self, trajectory: Trajectory, seen: Sequence[Observation], turn: int, *, whole: bool
    ) -> dict[str, str]:
        """The page of a turn and what is said beside it; nothing of either where it has gone."""
        if not whole:
            step = trajectory.steps[turn]
            always = bool(self.settings.replay)
            there = self.sight.recall(step.observation, step.decision.action, always=always)
            return {"page": there or _LEFT_OUT, "notice": ""}
        before = replace(trajectory, steps=trajectory.steps[:turn])
        return {
            "page": self.sight.page(seen[turn]),
            "notice": self.notice(before, seen[turn]),
        }

    def _images(self, shown: Sequence[Picture]) -> str:
        return self.sight.variant.words + (", also as the attached screenshot" if shown else "")

    def _size(
        self, trajectory: Trajectory, seen: Sequence[Observation], turn: int, has_page: bool
    ) -> tuple[int, int]:
        """Estimated tokens of an earlier turn without its page, and of its page if it has one."""
        reply = said(trajectory.steps[turn].decision)
        least = tokens_in(reply + self._next(trajectory, seen, turn, whole=False))
        if not has_page:
            return least, 0
        return least, tokens_in(reply + self._next(trajectory, seen, turn, whole=True)) - least


def said(decision: Decision) -> str:
    """A decision in the form in which replies are asked for."""
    thought = f"Thought: {decision.thought}\n" if decision.thought else ""
    return f"{thought}Action: {format_action(decision.action)}"


def _outcome(page: Observation) -> str:
    return f"Outcome of your action: {line(page.outcome)}\n\n" if page.outcome else ""


def _boundary(count: int, kept: int, block: int) -> int:
    """How many of so many old things have gone, in whole blocks, when at least `kept` stay."""
    return max(0, count - kept) // block * block


def _within(
    sizes: Sequence[tuple[int, int]], first: int, pages: int, settings: Prompting
) -> tuple[int, int]:
    """The boundaries of turns and of pages, moved on by blocks until all fits."""
    count = len(sizes)

    def total() -> int:
        return sum(least for least, _ in sizes[first:]) + sum(page for _, page in sizes[pages:])

    while total() > settings.history_tokens and pages < count:
        pages = min(count, pages + settings.block)
    while total() > settings.history_tokens and first < count:
        first = min(count, first + settings.block)
    return first, max(first, pages)
