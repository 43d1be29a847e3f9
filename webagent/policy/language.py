"""A language or vision-language model, asked for one thought and one action a turn."""

import math
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from webagent.action import ESSENTIAL, Action, describe, format_action
from webagent.action.actions import Press, Scroll, UploadFile, UploadFiles
from webagent.errors import ActionError, PolicyError
from webagent.models.model import Completion, Message, Model, Reply
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.observation import render as render_page
from webagent.observation.variants import VARIANTS, Variant
from webagent.policy.reply import read_reply
from webagent.records import Candidate, Decision, Observation, Step, Trajectory

PROMPT = Path(__file__).parent / "prompts" / "act.md"
_HISTORY = 40
"""Steps of history in the prompt; what went before is only counted."""
_MAY_MEAN_THE_PAGE = Press | Scroll | UploadFile | UploadFiles
_ATTACHED = ", also as the attached screenshot"
_LEAST_DIVERSE = 0.7
"""Temperature below which samples for `propose` would be copies of each other."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """One prompt with what came back, repair included."""

    messages: tuple[Message, ...]
    allowed: str
    start: float
    completions: tuple[Completion, ...] = ()


@dataclass(frozen=True, slots=True)
class LanguagePolicy:
    """Acts by asking a `Model`.

    The prompt holds the task, the thoughts and actions so far without their old pages, and the
    page now. An unreadable reply is sent back once with what was wrong with it.
    """

    model: Model
    render: Callable[[Observation], str] = render_page
    """Writes a page out for the prompt."""
    images: Callable[[str], bytes] | None = None
    """Looks a screenshot up by its reference; used when the model looks at images."""
    variant: Variant = VARIANTS["text"]
    """The form in which pages are shown, beyond what `render` writes: how the screenshot is drawn
    on, and what is repeated of earlier pages."""
    temperature: float = 0.0
    max_tokens: int = 1024
    actions: tuple[str, ...] = ESSENTIAL
    """Names of the actions that may be chosen."""
    seed: int = 0
    prompt: Prompt = field(default_factory=lambda: load_prompt(PROMPT))

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The model's action.

        Raises `PolicyError` when the repaired reply is unreadable too, `ModelError` when the model
        fails.
        """
        turn = self._turn(trajectory, observation)
        turn = await self._ask(turn, trajectory, 1, self.temperature)
        return await self._settle(turn, trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """The different actions among n samples, the most frequent first.

        An endpoint gives no log-probability of an action, so each carries the logarithm of its
        share of the readable samples in `candidates`. When none is readable the first is repaired.
        """
        turn = self._turn(trajectory, observation)
        turn = await self._ask(turn, trajectory, n, max(self.temperature, _LEAST_DIVERSE))
        thoughts: dict[Action, str] = {}
        counts: Counter[Action] = Counter()
        for reply in turn.completions[-1].replies:
            with suppress(ActionError):
                thought, action = self._read(reply, observation)
                thoughts.setdefault(action, thought)
                counts[action] += 1
        if not counts:
            return [await self._settle(turn, trajectory, observation)]
        return [
            replace(
                self._decision(turn, thoughts[action], action),
                candidates=(Candidate(format_action(action), math.log(count / counts.total())),),
            )
            for action, count in counts.most_common()
        ]

    async def _settle(
        self, turn: _Turn, trajectory: Trajectory, observation: Observation
    ) -> Decision:
        """The decision of the first reply, repaired once where it is unreadable."""
        reply = turn.completions[-1].replies[0]
        try:
            return self._decision(turn, *self._read(reply, observation))
        except ActionError as error:
            repair = self._repair(turn, reply, error)
        turn = await self._ask(repair, trajectory, 1, self.temperature)
        try:
            return self._decision(turn, *self._read(turn.completions[-1].replies[0], observation))
        except ActionError as error:
            raise PolicyError(f"no usable action from {self.model.name}: {error}") from error

    def _turn(self, trajectory: Trajectory, observation: Observation) -> _Turn:
        screenshots = self._screenshots(observation)
        user = self.prompt.fill(
            "user",
            goal=observation.goal or trajectory.goal or trajectory.task.goal,
            history=self._history(trajectory, observation),
            page=fence("page", self._page(observation)),
            images=self.variant.words + (_ATTACHED if screenshots else ""),
        )
        system = self.prompt.fill("system", actions=describe(self.actions))
        messages = (Message("system", system), Message("user", user, screenshots))
        allowed = f"{' '.join(self.actions)}; marks {_marks(observation)}"
        return _Turn(messages, allowed, time.monotonic())

    def _page(self, observation: Observation) -> str:
        where = f"{_line(observation.title)}\n{_line(observation.url)}"
        return f"{where}\n\n{self.render(observation)}"

    def _screenshots(self, observation: Observation) -> tuple[bytes, ...]:
        if self.images is None or not observation.screenshot:
            return ()
        if not self.model.capabilities.images:
            return ()
        image = self.images(observation.screenshot)
        return (self.variant.picture(image, observation),)

    def _history(self, trajectory: Trajectory, now: Observation) -> str:
        """Thoughts, actions and what came of them, and of the pages what is to be recalled."""
        if not trajectory.steps:
            return "Nothing yet."
        seen_after = [*(step.observation for step in trajectory.steps[1:]), now]
        turns = list(enumerate(zip(trajectory.steps, seen_after, strict=True), start=1))
        lines = [
            self._past_turn(number, step, after) for number, (step, after) in turns[-_HISTORY:]
        ]
        left_out = len(turns) - len(lines)
        return "\n".join([f"({left_out} earlier turns left out)"] * bool(left_out) + lines)

    def _past_turn(self, number: int, step: Step, after: Observation) -> str:
        decision = step.decision
        outcome = f"\n   Outcome: {_line(after.outcome)}" if after.outcome else ""
        thought = f"Thought: {_line(decision.thought)}\n   " if decision.thought else ""
        recall = self.variant.recall
        there = recall(step.observation, _marks_of(decision.action)) if recall else ""
        seen = f"\n   Seen there:\n{fence('page', there)}" if there else ""
        return f"{number}. {thought}Action: {format_action(decision.action)}{outcome}{seen}"

    async def _ask(self, turn: _Turn, trajectory: Trajectory, n: int, temperature: float) -> _Turn:
        place = f"{trajectory.id}:{trajectory.attempt}:{len(trajectory.steps)}:{self.seed}"
        completion = await self.model.complete(
            turn.messages,
            n=n,
            temperature=temperature,
            seed=zlib.crc32(place.encode()) & 0x7FFFFFFF,
            max_tokens=self.max_tokens,
        )
        return replace(turn, completions=(*turn.completions, completion))

    def _repair(self, turn: _Turn, reply: Reply, error: ActionError) -> _Turn:
        said = Message("assistant", reply.text or "(an empty reply)")
        asked = Message("user", self.prompt.fill("repair", error=str(error)))
        return replace(turn, messages=(*turn.messages, said, asked))

    def _read(self, reply: Reply, observation: Observation) -> tuple[str, Action]:
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
        for mark in _marks_of(action):
            if observation.node(mark) is None:
                raise ActionError(
                    f"no element [{mark}] on this page; the marks are {_marks(observation)}"
                )
        return thought, action

    def _decision(self, turn: _Turn, thought: str, action: Action) -> Decision:
        usage: Counter[str] = Counter()
        for completion in turn.completions:
            usage.update(completion.usage)
        return Decision(
            action=action,
            thought=thought,
            allowed=turn.allowed,
            weights=turn.completions[-1].model,
            prompt_hash=self.prompt.hash,
            seconds=time.monotonic() - turn.start,
            usage=dict(usage),
        )


def _line(text: str, limit: int = 400) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def _marks_of(action: Action) -> tuple[int, ...]:
    """The marks an action names; 0 is the page where the action allows it."""
    named = [getattr(action, field, None) for field in ("mark", "source", "target")]
    marks = tuple(mark for mark in named if mark is not None)
    return () if isinstance(action, _MAY_MEAN_THE_PAGE) and marks == (0,) else marks


def _marks(observation: Observation) -> str:
    """The marks on the page as ranges: `1-4, 7`; `none` when there are none."""
    ranges: list[list[int]] = []
    for mark in sorted({node.mark for node in observation.nodes if node.mark}):
        if ranges and mark == ranges[-1][1] + 1:
            ranges[-1][1] = mark
        else:
            ranges.append([mark, mark])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges) or "none"
