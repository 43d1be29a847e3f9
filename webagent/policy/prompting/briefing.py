"""What a model is told before it acts: the messages of one turn."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from webagent.action import describe
from webagent.models.model import Message
from webagent.models.prompt import Prompt
from webagent.policy.knowledge.knowledge import Knowledge
from webagent.policy.prompting import critique, loops, notes, plan
from webagent.policy.prompting.conversation import Conversation
from webagent.policy.prompting.goal import pictured
from webagent.policy.prompting.history import told
from webagent.policy.prompting.settings import Prompting
from webagent.policy.prompting.sight import Picture, Sight
from webagent.records import Observation, Trajectory

_WHERE = ("on a line of its own between thought and action", "at the end of your thought")
"""Where plans and notes are written: freely, or where a reply is held to two lines."""


@dataclass(frozen=True, slots=True)
class Brief:
    """The messages of one turn."""

    messages: tuple[Message, ...]
    images: tuple[str, ...]
    """References to their images in order; empty where one of them has none."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """Writes briefs as the switches say."""

    prompt: Prompt
    sight: Sight
    settings: Prompting
    actions: tuple[str, ...]
    knowledge: tuple[Knowledge, ...] = ()

    def of(self, trajectory: Trajectory, now: Observation) -> Brief:
        """What the model is told on this page."""
        where = _WHERE[self.settings.constrained]
        rules = "".join(f"\n{part.fill('rules', where=where)}" for part in self._beside())
        described = describe(self.actions)
        system = self.prompt.fill("system", actions=described, rules=rules, form=self.form())
        first = trajectory.steps[0].observation if trajectory.steps else now
        goal = first.goal or trajectory.goal or trajectory.task.goal
        known = [each.recall(trajectory.task, goal, first) for each in self.knowledge]
        told_goal, belonging = pictured(goal, trajectory.task, self.sight)
        opening = {"goal": told_goal, "knowledge": _paragraphs(known)}
        if self.settings.form == "conversation":
            conversation = Conversation(self.prompt, self.sight, self.settings, self._notice)
            turns, pictures = conversation.of(trajectory, now, opening, belonging)
            return Brief((Message("system", system), *turns), _references(pictures))
        goal = now.goal or trajectory.goal or trajectory.task.goal
        told_goal, _ = pictured(goal, trajectory.task, self.sight)
        pictures, words = self._pictures(trajectory, now)
        pictures = (*belonging, *pictures)
        user = self.prompt.fill(
            "user",
            **(opening | {"goal": told_goal}),
            history=told(trajectory, now, self.sight, self.settings),
            page=self.sight.page(now),
            images=self.sight.variant.words + words,
            notice=self._notice(trajectory, now),
        )
        shown = Message("user", user, tuple(each.image for each in pictures))
        return Brief((Message("system", system), shown), _references(pictures))

    def form(self) -> str:
        """The lines between thought and action in the form of a reply."""
        if self.settings.constrained:
            return ""
        return "".join(f"{part.fill('form')}\n" for part in self._beside())

    def hash(self) -> str:
        """The hash of every prompt in use; of one alone its own."""
        parts = [self.prompt, *self._beside(), *(each.prompt for each in self.knowledge)]
        parts += [critique.PROMPT] * self.settings.critique
        parts += [loops.PROMPT] * (self.settings.loops != "off")
        if len(parts) == 1:
            return self.prompt.hash
        return hashlib.sha256(" ".join(part.hash for part in parts).encode()).hexdigest()[:16]

    def _beside(self) -> list[Prompt]:
        """The prompts for what the model is to write beside thought and action."""
        is_noting = self.settings.thoughts == "notes"
        return [notes.PROMPT] * is_noting + [plan.PROMPT] * self.settings.plan

    def _notice(self, trajectory: Trajectory, now: Observation) -> str:
        """The plans, and the loop the episode is in."""
        said = []
        if self.settings.plan:
            plans = plan.plan_of(trajectory)
            said.append(plan.PROMPT.fill("tree", tree=plans.tree(), active=str(plans.active)))
        if self.settings.loops != "off" and (loop := loops.loop_of(trajectory, now)):
            is_late = self.settings.loops != "say" and loop.times >= self.settings.loop_patience
            said.append(loop.said(demanded=is_late))
        return _paragraphs(said)

    def _pictures(
        self, trajectory: Trajectory, now: Observation
    ) -> tuple[tuple[Picture, ...], str]:
        """The last screenshots, and what is said of them."""
        kept = self.settings.screenshots - 1
        past = list(enumerate(trajectory.steps, start=1))[-kept:] if kept else []
        earlier = [
            (number, picture)
            for number, step in past
            for picture in self.sight.picture(step.observation)
        ]
        current = self.sight.picture(now)
        pictures = (*(picture for _, picture in earlier), *current)
        if not earlier:
            return pictures, ", also as the attached screenshot" if current else ""
        turns = ", ".join(str(number) for number, _ in earlier)
        words = f"the first {len(earlier)} of the attached screenshots show what was seen at turns"
        last = "; the last one shows it as it is now" if current else ""
        return pictures, f" ({words} {turns}{last})"


def _paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"{text}\n\n" for text in texts if text)


def _references(pictures: Sequence[Picture]) -> tuple[str, ...]:
    references = tuple(each.reference for each in pictures)
    return references if all(references) else ()
