"""A reply read as an action that can be done on the page at hand."""

from dataclasses import dataclass

from webagent.action import Action, format_action
from webagent.errors import ActionError
from webagent.models.model import Reply
from webagent.policy.marks import marks_of, marks_on
from webagent.policy.prompting import loops
from webagent.policy.prompting.loops import Loop
from webagent.policy.prompting.plan import Plan
from webagent.policy.reply import read_reply
from webagent.records import Observation


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply is held to on one page."""

    observation: Observation
    actions: tuple[str, ...]
    max_tokens: int
    plan: Plan | None = None
    """The plans so far, where there are any."""
    loop: Loop | None = None
    """The loop that another action is demanded for."""
    patience: int = 0
    """How often a deed has been done that is not accepted again."""

    def of(self, reply: Reply) -> tuple[str, Action]:
        """Thought and action. Raises `ActionError` when the action cannot be done on this page."""
        try:
            thought, action = read_reply(reply.text)
        except ActionError as error:
            if reply.finish_reason != "length":
                raise
            raise ActionError(
                f"the reply was cut off after {self.max_tokens} tokens; be brief"
            ) from error
        name = format_action(action).partition("(")[0]
        if name not in self.actions:
            raise ActionError(f"{name} is not allowed here; allowed: {', '.join(self.actions)}")
        for mark in marks_of(action):
            if self.observation.node(mark) is None:
                raise ActionError(
                    f"no element [{mark}] on this page; the marks are {marks_on(self.observation)}"
                )
        return thought, action

    def strictly(self, reply: Reply) -> tuple[str, Action]:
        """The same, but without going in circles or plans that are not there.

        These are objections that a model hears once; where it insists, `of` takes it at its word.
        """
        thought, action = self.of(reply)
        if self.plan is not None and (wrong := self.plan.after(thought).objections):
            raise ActionError(wrong[0])
        times = self.loop.count(action, self.observation) if self.loop is not None else 0
        if times and times >= self.patience:
            words = {"action": format_action(action), "times": str(times)}
            raise ActionError(loops.PROMPT.fill("refuse", **words))
        return thought, action
