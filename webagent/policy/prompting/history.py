"""The turns so far as one text: what was thought and done, what came of it, which pages again."""

from dataclasses import dataclass

from webagent.action import format_action
from webagent.policy.prompting import notes
from webagent.policy.prompting.plan import plan_of, without_plans
from webagent.policy.prompting.settings import Prompting
from webagent.policy.prompting.sight import Sight
from webagent.policy.prompting.wording import line, tokens_in
from webagent.records import Observation, Step, Trajectory

_BESIDE_NOTES = 3
"""Turns that are listed although notes stand for them."""
_FOR_WHAT_IS_LEFT_OUT = 40
"""Tokens kept free for saying so."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn with the page it led to."""

    number: int
    step: Step
    after: Observation
    age: int
    """1 for the turn before the one now."""


class _Room:
    """What is left of a bound on tokens; 0 bounds nothing."""

    def __init__(self, tokens: int, taken: str) -> None:
        self._is_bound = bool(tokens)
        self._left = tokens - _FOR_WHAT_IS_LEFT_OUT - tokens_in(taken)

    def takes(self, text: str) -> bool:
        """Whether there is room for the text, which then is taken."""
        size = tokens_in(text) if self._is_bound else 0
        fits = not self._is_bound or size <= self._left
        self._left -= size if fits else 0
        return fits


def told(trajectory: Trajectory, now: Observation, sight: Sight, settings: Prompting) -> str:
    """Thoughts, actions and what came of them, the pages that are to be seen again, and what was
    left out of all this. Where room is short, words go before pages and the newer before the older.
    """
    if not trajectory.steps:
        return "Nothing yet."
    steps = trajectory.steps
    after = [*(step.observation for step in steps[1:]), now]
    turns = [
        _Turn(number, step, page, len(steps) - number + 1)
        for number, (step, page) in enumerate(zip(steps, after, strict=True), start=1)
    ]
    first, opening = _noted(trajectory) if settings.thoughts == "notes" else (0, "")
    pruned = _pruned(trajectory) if settings.plan else {}
    room = _Room(settings.history_tokens, opening)
    said: dict[int, str] = {}
    for turn in reversed(turns[first:]):
        words = pruned.get(turn.number) or _words(turn, settings)
        if len(said) == settings.turns or not room.takes(words):
            break
        said[turn.number] = words
    lacking = []
    for turn in reversed(turns):
        page = _page(turn, sight, settings) if turn.number in said.keys() - pruned.keys() else ""
        if page and room.takes(page):
            said[turn.number] += page
        elif page:
            lacking.append(str(turn.number))
    left_out = len(turns) - first - len(said)
    lines = [opening] * bool(opening)
    lines += [f"({left_out} earlier turns left out)"] * bool(left_out)
    lines += [f"(pages of turns {', '.join(lacking[::-1])} left out)"] * bool(lacking)
    # Turns of one plan that was given up share a line.
    return "\n".join([*lines, *dict.fromkeys(said[number] for number in sorted(said))])


def _noted(trajectory: Trajectory) -> tuple[int, str]:
    """How many turns the latest notes stand for, and the notes."""
    words, place = notes.last_notes(trajectory)
    count = max(0, min(place, len(trajectory.steps) - _BESIDE_NOTES))
    if not words or not place:
        return 0, ""
    return count, notes.PROMPT.fill("past", count=str(place), notes=words) + "\n"


def _pruned(trajectory: Trajectory) -> dict[int, str]:
    """By number the turns of plans that were given up, each with the line that stands for it."""
    plan = plan_of(trajectory)
    return {
        number: f"(turns of plan {worked_on}, which was given up, left out)"
        for number, worked_on in enumerate(plan.worked_on, start=1)
        if plan.is_given_up(worked_on)
    }


def _page(turn: _Turn, sight: Sight, settings: Prompting) -> str:
    """What is shown again of the page of a turn."""
    if turn.age <= settings.pages:
        return f"\n   The page then:\n{sight.page(turn.step.observation)}"
    always = turn.age <= settings.replay
    there = sight.recall(turn.step.observation, turn.step.decision.action, always=always)
    return f"\n   Seen there:\n{there}" if there else ""


def _words(turn: _Turn, settings: Prompting) -> str:
    decision = turn.step.decision
    thought = decision.thought
    if settings.plan:
        thought = without_plans(thought)
    if settings.thoughts == "notes":
        thought = notes.without_notes(thought)
    thought = "\n     ".join(thought.splitlines()) if settings.thoughts == "full" else line(thought)
    said = f"Thought: {thought}\n   " if thought else ""
    outcome = f"\n   Outcome: {line(turn.after.outcome)}" if turn.after.outcome else ""
    return f"{turn.number}. {said}Action: {format_action(decision.action)}{outcome}"
