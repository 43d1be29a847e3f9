"""A finished episode as text, within a bound."""

from dataclasses import dataclass

from webagent.action import format_action
from webagent.errors import SetupError
from webagent.models.prompt import estimate_tokens, shorten
from webagent.observation.variants.pruned import prune, recall
from webagent.policy.past_actions import marks_of
from webagent.records import Trajectory

_PAGE_TOKENS = 150
_LAST_PAGE_TOKENS = 400
_LEFT_OUT = ("", "\n(pages left out)", "\n(pages and thoughts left out)")


def is_finished(trajectory: Trajectory) -> bool:
    """Whether the agent finished it, well or badly, so that there is something to learn."""
    return trajectory.ending is not None and not trajectory.ending.is_infrastructure


def require_finished(trajectory: Trajectory) -> None:
    """Refuse what nothing can be learnt from. Raises `SetupError` for an episode that is under way
    or that ended with a failure of world or model."""
    if not is_finished(trajectory):
        found = trajectory.ending or "still under way"
        raise SetupError(
            f"the episode {trajectory.id} is {found}; expected one that the agent finished, well"
            " or badly"
        )


@dataclass(frozen=True, slots=True)
class Transcript:
    """An episode in words, without the pages it took."""

    head: str
    forms: tuple[tuple[str, ...], ...]
    """The turns with what lay around the elements acted on, without that, and as bare actions."""
    tail: str

    def within(self, max_tokens: int) -> str:
        """Return task, turns and how it ended, at most so many tokens by estimate.

        Where not all fits, the pages go first, then the thoughts, then turns from the middle; what
        is left out is said.
        """
        for turns, said in zip(self.forms, _LEFT_OUT, strict=True):
            text = "\n".join([self.head + said, *turns, self.tail])
            if estimate_tokens(text) <= max_tokens:
                return text
        turns = self.forms[-1]
        for kept in range(len(turns) - 1, 0, -1):
            begin, end = (kept + 1) // 2, kept // 2
            gap = f"({len(turns) - kept} turns left out)"
            lines = [self.head, *turns[:begin], gap, *turns[len(turns) - end :], self.tail]
            text = "\n".join(lines)
            if estimate_tokens(text) <= max_tokens:
                return text
        return f"{self.head}\n({len(turns)} turns left out)"


def transcribe(trajectory: Trajectory, *, with_last: bool = False) -> Transcript:
    """Return the episode in words; `with_last` adds the page at the end."""
    head = f"Task: {shorten(trajectory.goal or trajectory.task.goal)}"
    if trajectory.provenance.imagined:
        head += "\n(imagined: no real page was touched)"
    tail = f"It ended: {trajectory.ending}."
    if with_last and trajectory.last is not None:
        tail += f"\nThe page at the end:\n{prune(trajectory.last, _LAST_PAGE_TOKENS)}"
    after = [*(step.observation for step in trajectory.steps), trajectory.last][1:]
    whole, without_pages, actions = [], [], []
    for number, (step, led_to) in enumerate(zip(trajectory.steps, after, strict=True), start=1):
        action = f"Action: {format_action(step.decision.action)}"
        if led_to is not None and led_to.outcome:
            action += f"\n   Outcome: {shorten(led_to.outcome)}"
        thought = shorten(step.decision.thought)
        thought = f"Thought: {thought}\n   " if thought else ""
        seen = recall(step.observation, marks_of(step.decision.action), _PAGE_TOKENS)
        page = "".join(f"   {line}\n" for line in seen.splitlines())
        page = f"Seen:\n{page}   " if seen else ""
        whole.append(f"{number}. {page}{thought}{action}")
        without_pages.append(f"{number}. {thought}{action}")
        actions.append(f"{number}. {action}")
    return Transcript(head, (tuple(whole), tuple(without_pages), tuple(actions)), tail)
