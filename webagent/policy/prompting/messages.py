"""The messages of one turn: goal, earlier turns and the page now.

Earlier turns stand in one message as a list, or as a conversation that is only appended to, so that
each prompt begins as the last did. There a message depends on nothing but the turns before it, and
what grows old (pages, screenshots, whole turns) goes in blocks: for all turns but one in
`BLOCK` a prompt is the one before it, a reply and a new page. Replies are written in the
form that is asked for, so where a model kept to the form its tokens are those it sampled.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from webagent.action import describe, format_action
from webagent.models.model import Message
from webagent.models.prompt import Prompt, fence, shorten
from webagent.policy.past_actions import LOOP_PATIENCE, LOOPS_PROMPT, find_loop
from webagent.policy.policy import Knowledge
from webagent.policy.prompting.pages import PageFormatter, PromptImage, format_goal
from webagent.policy.prompting.settings import Prompting
from webagent.records import Decision, Observation, Trajectory

_OUTCOME, _EARLIER_OUTCOME = 4_000, 400
"""Characters that are shown of what came of the last action, and of those before."""
_OWN_WORDS = ("no effect", "a dialog is open; answer it", "the answer was not accepted")
"""How outcomes begin that hold no words of a page."""
_LEFT_OUT = "(left out; it was shown at this turn)"
_TURNS = 40
"""Earlier turns that are listed; older ones are only counted."""
BLOCK = 4
"""Old pages, screenshots or turns that a conversation drops at a time; so many more remain."""


@dataclass(frozen=True, slots=True)
class TurnPrompt:
    """The messages of one turn."""

    messages: tuple[Message, ...]
    images: tuple[str, ...]
    """References to their images in order; empty where one of them has none."""


@dataclass(frozen=True, slots=True)
class PromptBuilder:
    """Writes prompts as the switches say."""

    prompt: Prompt
    pages: PageFormatter
    settings: Prompting
    actions: tuple[str, ...]
    knowledge: tuple[Knowledge, ...] = ()
    examples: bool = False

    def build(self, trajectory: Trajectory, now: Observation) -> TurnPrompt:
        """Return the messages for this page."""
        start = [Message("system", self.prompt.fill("system", actions=describe(self.actions)))]
        for name in ("example", "second_example", "third_example"):
            # A weak model follows a turn that was taken, where it copies the call that a form
            # shows. The marks are on no page that is likely, and other ones in each example, as a
            # model of 0.5 B copied those of a page that was shown twice.
            if self.examples and name in self.prompt.sections:
                start.append(Message("user", self.prompt.fill(name)))
                start.append(Message("assistant", self.prompt.fill(f"{name}_reply")))
        first = trajectory.steps[0].observation if trajectory.steps else now
        goal = first.goal or trajectory.goal or trajectory.task.goal
        known = [each.recall(trajectory.task, goal, first) for each in self.knowledge]
        goal_text, goal_images = format_goal(goal, trajectory.task, self.pages)
        opening = {"goal": goal_text, "knowledge": _join_paragraphs(known)}
        if self.settings.form == "conversation":
            turns, images = self._write_conversation(trajectory, now, opening, goal_images)
            return TurnPrompt((*start, *turns), _list_references(images))
        goal = now.goal or trajectory.goal or trajectory.task.goal
        opening["goal"], _ = format_goal(goal, trajectory.task, self.pages)
        screenshots, words = self._list_screenshots(trajectory, now)
        images = (*goal_images, *screenshots)
        text = self.prompt.fill(
            "user",
            **opening,
            history=format_history(trajectory, now, self.pages, self.settings),
            page=self.pages.format_page(now),
            images=self.pages.variant.words + words,
            notice=self._write_notice(trajectory, now),
        )
        user = Message("user", text, tuple(each.image for each in images))
        return TurnPrompt((*start, user), _list_references(images))

    def hash(self) -> str:
        """Return the hash of every prompt in use; of one alone its own."""
        parts = [self.prompt, *(each.prompt for each in self.knowledge)]
        parts += [LOOPS_PROMPT] * self.settings.loops
        if len(parts) == 1:
            return self.prompt.hash
        return hashlib.sha256(" ".join(part.hash for part in parts).encode()).hexdigest()[:16]

    def _write_notice(self, trajectory: Trajectory, now: Observation) -> str:
        """Return what is said about the loop that the episode is in; empty where it is in none."""
        if not self.settings.loops or (loop := find_loop(trajectory, now)) is None:
            return ""
        name = "demand" if loop.times >= LOOP_PATIENCE else "say"
        text = LOOPS_PROMPT.fill(name, done="\n".join(loop.lines))
        return f"{text}\n\n"

    def _list_screenshots(
        self, trajectory: Trajectory, now: Observation
    ) -> tuple[tuple[PromptImage, ...], str]:
        """Return the last screenshots, and what is said of them."""
        kept = self.settings.screenshots - 1
        past = list(enumerate(trajectory.steps, start=1))[-kept:] if kept else []
        earlier = [
            (number, image)
            for number, step in past
            for image in self.pages.screenshot(step.observation)
        ]
        current = self.pages.screenshot(now)
        images = (*(image for _, image in earlier), *current)
        if not earlier:
            return images, ", also as the attached screenshot" if current else ""
        turns = ", ".join(str(number) for number, _ in earlier)
        words = f"the first {len(earlier)} of the attached screenshots show what was seen at turns"
        last = "; the last one shows it as it is now" if current else ""
        return images, f" ({words} {turns}{last})"

    # -- a conversation ------------------------------------------------------------------

    def _write_conversation(
        self,
        trajectory: Trajectory,
        now: Observation,
        opening: dict[str, str],
        goal_images: tuple[PromptImage, ...],
    ) -> tuple[tuple[Message, ...], tuple[PromptImage, ...]]:
        """Return the messages after the system's, and their images.

        `opening` fills the first message, and the goal's own images are attached to it.
        """
        settings, count = self.settings, len(trajectory.steps)
        seen = [*(step.observation for step in trajectory.steps), now]
        first = _find_boundary(count, _TURNS)
        pages = max(first, _find_boundary(count, settings.pages))
        screenshots = max(first, _find_boundary(count, settings.screenshots - 1))
        messages: list[Message] = []
        images: list[PromptImage] = []
        for turn in range(first, count + 1):
            shown = self.pages.screenshot(seen[turn]) if turn >= screenshots else ()
            words = self._fill_slots(trajectory, seen, turn, shown, whole=turn >= pages)
            if turn == first:
                left_out = f"({first} earlier turns left out)\n\n" if first else ""
                left_out += words.pop("outcome")
                text = self.prompt.fill("opening", **opening, **words, left_out=left_out)
                shown = (*goal_images, *shown)
            else:
                reply = format_reply(trajectory.steps[turn - 1].decision)
                messages.append(Message("assistant", reply))
                text = self.prompt.fill("next", **words)
            messages.append(Message("user", text, tuple(each.image for each in shown)))
            images.extend(shown)
        return tuple(messages), tuple(images)

    def _fill_slots(
        self,
        trajectory: Trajectory,
        seen: Sequence[Observation],
        turn: int,
        shown: Sequence[PromptImage] = (),
        *,
        whole: bool,
    ) -> dict[str, str]:
        """Return the page of a turn, what it came of and what is said beside it, by slot."""
        page = seen[turn]
        further = _write_not_done(trajectory.steps[turn - 1].decision) if turn else ""
        outcome = _write_outcome(page, _OUTCOME)
        outcome = _join_paragraphs([further, outcome and f"Outcome of your action: {outcome}"])
        images = ", also as the attached screenshot" if shown else ""
        slots = {"images": self.pages.variant.words + images, "outcome": outcome}
        if whole:
            before = replace(trajectory, steps=trajectory.steps[:turn])
            text, notice = self.pages.format_page(page), self._write_notice(before, page)
            return slots | {"page": text, "notice": notice}
        text = self.pages.format_recall(page, trajectory.steps[turn].decision.action)
        return slots | {"page": text or _LEFT_OUT, "notice": ""}


def format_reply(decision: Decision) -> str:
    """Return a decision in the form in which replies are asked for."""
    thought = f"Thought: {decision.thought}\n" if decision.thought else ""
    return f"{thought}Action: {format_action(decision.action)}"


def _write_outcome(page: Observation, longest: int) -> str:
    """Return what came of the action before a page, fenced where words of the page may be in it:
    a dialog's, a file's, those of what covers an element or has a similar name."""
    text = shorten(page.outcome, longest)
    return text if not text or text.startswith(_OWN_WORDS) else fence("page", text)


def _write_not_done(decision: Decision) -> str:
    """Return what else a reply asked for; nothing where it asked for one action."""
    further = shorten("; ".join(decision.not_done), _EARLIER_OUTCOME)
    return f"Not done, as one action is done a turn: {further}" if further else ""


def _find_boundary(count: int, kept: int) -> int:
    """Return how many of `count` old things go, in whole blocks, when at least `kept` stay."""
    return max(0, count - kept) // BLOCK * BLOCK


def _join_paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"{text}\n\n" for text in texts if text)


def _list_references(images: Sequence[PromptImage]) -> tuple[str, ...]:
    references = tuple(each.reference for each in images)
    return references if all(references) else ()


# -- earlier turns as one text ---------------------------------------------------------------


def format_history(
    trajectory: Trajectory, now: Observation, pages: PageFormatter, settings: Prompting
) -> str:
    """Return thoughts, actions and what came of them, with the pages that are to be seen again, and
    how many older turns were left out."""
    steps = trajectory.steps
    if not steps:
        return "Nothing yet."
    left_out = max(0, len(steps) - _TURNS)
    written = [f"({left_out} earlier turns left out)"] * bool(left_out)
    for number, step in enumerate(steps[left_out:], start=left_out + 1):
        decision, is_last = step.decision, number == len(steps)
        after = now if is_last else steps[number].observation
        outcome = _write_outcome(after, _OUTCOME if is_last else _EARLIER_OUTCOME)
        is_full = settings.thoughts == "full"
        thought = (
            "\n     ".join(decision.thought.splitlines()) if is_full else shorten(decision.thought)
        )
        words = f"{number}. " + (f"Thought: {thought}\n   " if thought else "")
        words += f"Action: {format_action(decision.action)}"
        words += f"\n   {_write_not_done(decision)}" if decision.not_done else ""
        words += f"\n   Outcome: {outcome}" if outcome else ""
        if number > len(steps) - settings.pages:
            words += f"\n   The page then:\n{pages.format_page(step.observation)}"
        elif recall := pages.format_recall(step.observation, decision.action):
            words += f"\n   Seen there:\n{recall}"
        written.append(words)
    return "\n".join(written)
