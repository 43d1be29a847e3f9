"""A language or vision-language model, asked for one thought and one action a turn."""

import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from webagent.action import ESSENTIAL, GiveUp
from webagent.errors import ActionError, PolicyError, SetupError
from webagent.models.constraint import Constraint
from webagent.models.model import Model, Reply
from webagent.models.prompt import Prompt, load_prompt
from webagent.models.replies import follow_up
from webagent.observation import render as render_page
from webagent.observation.variants import VARIANTS, Variant
from webagent.policy.allowed import constraint_of
from webagent.policy.asking import Choice, Turn
from webagent.policy.knowledge.knowledge import Knowledge
from webagent.policy.marks import marks_on
from webagent.policy.prompting import loops
from webagent.policy.prompting.briefing import Brief, Briefing
from webagent.policy.prompting.critique import reviewing
from webagent.policy.prompting.plan import plan_of
from webagent.policy.prompting.settings import Prompting
from webagent.policy.prompting.sight import Sight
from webagent.policy.proposals import ranked
from webagent.policy.reading import Reading
from webagent.records import Decision, Observation, Trajectory

PROMPT = Path(__file__).parent / "prompts" / "act.md"
_LEAST_DIVERSE = 0.7
"""Temperature below which samples for `propose` would be copies of each other."""


@dataclass(frozen=True, slots=True)
class LanguagePolicy:
    """Acts by asking a `Model`.

    The prompt holds the task, the thoughts and actions so far without their old pages, and the
    page now; `prompting` says what else. An unreadable reply is sent back once with what was wrong
    with it. Raises `SetupError` for switches that the model or the other settings cannot serve.
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
    prompting: Prompting = field(default_factory=Prompting)
    knowledge: tuple[Knowledge, ...] = ()
    """What is known from finished episodes: demonstrations, hints, reflections."""
    add_image: Callable[[bytes], str] | None = None
    """Keeps a picture that was drawn on, so that the decision can refer to it."""

    def __post_init__(self) -> None:
        can = self.model.capabilities
        if self.prompting.screenshots > 1 and not (can.images and self.images):
            lacking = "looks at no images" if not can.images else "is given no way to find images"
            raise SetupError(
                f"screenshots={self.prompting.screenshots}, but {self.model.name} {lacking};"
                " leave it at 1 or take a model that looks"
            )
        draws = self.images is not None and can.images and self.variant.image == "marks"
        if draws and can.token_ids and self.add_image is None:
            raise SetupError(
                f"the observation {self.variant.name} draws on screenshots, and what is trained on"
                " later must be kept as it was shown; give the policy add_image, such as the add"
                " of the store's images"
            )
        if self.prompting.constrained and not can.constraints:
            raise SetupError(
                f"{self.model.name} does not hold its replies to a constraint; leave constrained"
                " off, or take weights in this process or a server that declares grammars"
            )

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The model's action.

        Raises `PolicyError` when the repaired reply is unreadable too, `ModelError` when the model
        fails.
        """
        reading = self._reading(trajectory, observation)
        if self._is_lost(reading):
            return self._give_up(reading)
        turn = await self._ask(self._turn(trajectory, observation), trajectory)
        turn, choice = await self._settle(turn, trajectory, reading)
        if self.prompting.critique:
            turn, choice = await self._review(turn, choice, trajectory, reading)
        return choice.decided(turn, self.prompt_hash)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """The different actions among n samples, the likeliest first, as `ranked` tells.

        Each carries its log-probability in `candidates`. When no sample is readable the first is
        repaired. Proposals are not reviewed.
        """
        reading = self._reading(trajectory, observation)
        if self._is_lost(reading):
            return [self._give_up(reading)]
        temperature = max(self.temperature, _LEAST_DIVERSE)
        turn = await self._ask(self._turn(trajectory, observation), trajectory, n, temperature)
        choices: list[Choice] = []
        for reply in turn.replies:
            with suppress(ActionError):
                choices.append(Choice(turn.completions[-1], reply, *reading.strictly(reply)))
        if not choices:
            turn, choice = await self._settle(turn, trajectory, reading)
            return [choice.decided(turn, self.prompt_hash)]
        return [
            choice.decided(turn, self.prompt_hash, candidate)
            for choice, candidate in ranked(choices)
        ]

    @property
    def prompt_hash(self) -> str:
        """The hash of every prompt in use, as decisions carry it."""
        return self._briefing.hash()

    def brief(self, trajectory: Trajectory, observation: Observation) -> Brief:
        """What the model is told on this page, without asking it."""
        return self._briefing.of(trajectory, observation)

    async def _settle(
        self, turn: Turn, trajectory: Trajectory, reading: Reading
    ) -> tuple[Turn, Choice]:
        """The first reply as an action, repaired once where it is unreadable."""
        reply = turn.replies[0]
        try:
            return turn, Choice(turn.completions[-1], reply, *reading.strictly(reply))
        except ActionError as error:
            turn = self._repair(turn, reply, error)
        turn = await self._ask(turn, trajectory)
        reply = turn.replies[0]
        try:
            return turn, Choice(turn.completions[-1], reply, *reading.of(reply))
        except ActionError as error:
            raise PolicyError(f"no usable action from {self.model.name}: {error}") from error

    async def _review(
        self, turn: Turn, choice: Choice, trajectory: Trajectory, reading: Reading
    ) -> tuple[Turn, Choice]:
        """What the model makes of its own action; the action itself where that is unreadable."""
        messages = reviewing(turn.messages, choice.reply, self._briefing.form())
        asked = replace(turn, messages=messages)
        turn = await self._ask(asked, trajectory)
        with suppress(ActionError):
            reply = turn.replies[0]
            choice = Choice(turn.completions[-1], reply, *reading.strictly(reply))
        return turn, choice

    @property
    def _briefing(self) -> Briefing:
        images = self.images if self.model.capabilities.images else None
        sight = Sight(self.render, self.variant, images, self.add_image)
        return Briefing(self.prompt, sight, self.prompting, self.actions, self.knowledge)

    def _turn(self, trajectory: Trajectory, observation: Observation) -> Turn:
        start = time.monotonic()
        brief = self.brief(trajectory, observation)
        constraint = self._constraint(observation) if self.prompting.constrained else None
        named = f"{' '.join(self.actions)}; marks {marks_on(observation)}"
        allowed = constraint.dumps() if constraint is not None else named
        return Turn(brief.messages, allowed, start, constraint, brief.images)

    def _constraint(self, observation: Observation) -> Constraint:
        tokens = self.prompting.thought_tokens
        return constraint_of(
            observation, self.actions, thought_tokens=tokens, max_tokens=self.max_tokens
        )

    def _reading(self, trajectory: Trajectory, observation: Observation) -> Reading:
        settings = self.prompting
        return Reading(
            observation,
            self.actions,
            self.max_tokens,
            plan_of(trajectory) if settings.plan else None,
            loops.loop_of(trajectory, observation) if settings.loops in ("demand", "end") else None,
            settings.loop_patience,
        )

    def _is_lost(self, reading: Reading) -> bool:
        """Whether the episode has gone in circles for so long that it is to end."""
        loop = reading.loop if self.prompting.loops == "end" else None
        return loop is not None and loop.times >= 2 * self.prompting.loop_patience

    def _give_up(self, reading: Reading) -> Decision:
        """The end of an episode that goes in circles; no model was asked for it."""
        assert reading.loop is not None
        reason = reading.loop.reason
        return Decision(GiveUp(reason), source="loop", prompt_hash=self.prompt_hash)

    async def _ask(
        self, turn: Turn, trajectory: Trajectory, n: int = 1, temperature: float | None = None
    ) -> Turn:
        place = f"{trajectory.id}:{trajectory.attempt}:{len(trajectory.steps)}:{self.seed}"
        completion = await self.model.complete(
            turn.messages,
            n=n,
            temperature=self.temperature if temperature is None else temperature,
            seed=zlib.crc32(place.encode()) & 0x7FFFFFFF,
            max_tokens=self.max_tokens,
            constraint=turn.constraint,
        )
        return replace(turn, completions=(*turn.completions, completion))

    def _repair(self, turn: Turn, reply: Reply, error: ActionError) -> Turn:
        asked = self.prompt.fill("repair", error=str(error), form=self._briefing.form())
        return turn.gone_on(*follow_up(reply.text, asked))
