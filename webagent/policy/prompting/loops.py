"""Going in circles: the same deed on a page that looks as it did then."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from webagent.action import Action, format_action
from webagent.models.prompt import load_prompt
from webagent.policy.deeds import Deed, deed, looks
from webagent.policy.marks import FIELDS
from webagent.records import Observation, Trajectory

PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "loops.md")
NOTICED = 2
"""The same deed on the same page so often is a loop."""


@dataclass(frozen=True, slots=True)
class Loop:
    """What was done on a page that is there again."""

    deeds: tuple[tuple[Deed, int], ...]
    """Each deed that was done here more than once, with how often; the most frequent first."""
    lines: tuple[str, ...]
    """The same as text, with the marks of the page now."""

    @property
    def times(self) -> int:
        """How often the most frequent one was done."""
        return self.deeds[0][1]

    @property
    def reason(self) -> str:
        """Why an episode in it is given up."""
        return PROMPT.fill("reason", done=self.lines[0].removeprefix("- "))

    def count(self, action: Action, observation: Observation) -> int:
        """How often the action was done here, where that was more than once."""
        return dict(self.deeds).get(deed(action, observation), 0)

    def said(self, *, demanded: bool) -> str:
        """What the prompt says of it."""
        return PROMPT.fill("demand" if demanded else "say", done="\n".join(self.lines))


def loop_of(trajectory: Trajectory, now: Observation) -> Loop | None:
    """The loop the episode is in, if any.

    It makes no difference whether the deeds had no effect or led away and back again: in both
    cases the page, its address and its place of scrolling are as they were.
    """
    here = _place(now)
    last: dict[Deed, str] = {}
    counts: Counter[Deed] = Counter()
    still: Counter[Deed] = Counter()
    steps = trajectory.steps
    after = [*(step.observation for step in steps[1:]), now]
    for step, led_to in zip(steps, after, strict=False):
        if _place(step.observation) == here:
            done = deed(step.decision.action, step.observation)
            last[done] = _with_marks_of_now(step.decision.action, step.observation, now)
            counts[done] += 1
            still[done] += _place(led_to) == here
    deeds = tuple((done, n) for done, n in counts.most_common() if n >= NOTICED)
    lines = tuple(
        f"- {last[done]}: {n} times, {'without effect' if still[done] == n else 'and back here'}"
        for done, n in deeds
    )
    return Loop(deeds, lines) if deeds else None


def _place(page: Observation) -> tuple[object, ...]:
    return page.url, page.active_tab, len(page.tabs), page.scroll, looks(page)


def _with_marks_of_now(action: Action, then: Observation, now: Observation) -> str:
    """The action with the marks that the same lines have now."""
    lines = {node.mark: i for i, node in enumerate(then.nodes) if node.mark}
    marks: dict[str, Any] = {
        name: now.nodes[lines[mark]].mark
        for name in FIELDS
        if (mark := getattr(action, name, 0)) in lines
    }
    return format_action(replace(action, **marks))
