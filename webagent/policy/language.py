"""A language or vision-language model, asked for one thought and one action a turn."""

import math
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from webagent.action import ESSENTIAL, Action, GiveUp, format_action
from webagent.errors import ActionError, PolicyError, SetupError
from webagent.models.model import Completion, Constraint, Message, Model, Reply
from webagent.models.prompt import Prompt, load_prompt
from webagent.models.replies import follow_up
from webagent.observation import render as render_page
from webagent.observation.variants import VARIANTS, ObservationVariant
from webagent.policy.allowed import build_constraint
from webagent.policy.past_actions import LOOP_PATIENCE, find_loop, format_marks, page_state
from webagent.policy.policy import Knowledge
from webagent.policy.prompting.messages import PromptBuilder, TurnPrompt
from webagent.policy.prompting.pages import PageFormatter
from webagent.policy.prompting.settings import Prompting
from webagent.policy.reply import ReplyReader
from webagent.records import Candidate, Decision, Node, Observation, Trajectory

PROMPT = Path(__file__).parent / "prompts" / "act.md"
_PAGE = Observation("", "", "", (Node(1, "button", ""),))
"""A page on which replies are as short as anywhere: what does not fit here fits nowhere."""
_MIN_DIVERSE_TEMPERATURE = 0.7
"""Below it the samples for `propose` would be copies of each other."""


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
    variant: ObservationVariant = VARIANTS["text"]
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
    """What is known from finished episodes: demonstrations, hints."""
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
        draws = self.images is not None and can.images and self.variant.changes_picture
        if draws and can.token_ids and self.add_image is None:
            raise SetupError(
                f"the observation {self.variant.name} changes screenshots, and what is trained on"
                " later must be kept as it was shown; give the policy add_image, such as the add"
                " of the store's images"
            )
        if self.prompting.constrained and not can.constraints:
            raise SetupError(
                f"{self.model.name} does not hold its replies to a constraint; leave constrained"
                " off, or take weights in this process or a server that declares grammars"
            )
        if self.prompting.constrained:
            with suppress(PolicyError):  # this page may not take these actions, others do
                self._constrain(_PAGE)

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the model's action.

        Raises `PolicyError` when the repaired reply is unreadable too, `ModelError` when the model
        fails.
        """
        reader = self._make_reader(trajectory, observation)
        if (end := self._give_up_in_loop(reader)) is not None:
            return end
        turn = await self._ask(self._begin_turn(trajectory, observation), trajectory)
        turn, choice = await self._read_or_repair(turn, trajectory, reader)
        return choice.to_decision(turn, self.prompt_hash)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the different actions among n samples, the likeliest first (see `rank_choices`).

        Each carries its log-probability in `candidates`. When no sample is readable the first is
        repaired.
        """
        reader = self._make_reader(trajectory, observation)
        if (end := self._give_up_in_loop(reader)) is not None:
            return [end]
        temperature = max(self.temperature, _MIN_DIVERSE_TEMPERATURE)
        turn = self._begin_turn(trajectory, observation)
        turn = await self._ask(turn, trajectory, n, temperature)
        choices: list[ReadReply] = []
        for reply in turn.replies:
            with suppress(ActionError):
                choices.append(turn.read(reply, reader))
        if not choices:
            turn, choice = await self._read_or_repair(turn, trajectory, reader)
            return [choice.to_decision(turn, self.prompt_hash)]
        return [
            choice.to_decision(turn, self.prompt_hash, candidate)
            for choice, candidate in rank_choices(choices)
        ]

    @property
    def prompt_hash(self) -> str:
        """The hash of every prompt in use, as decisions carry it."""
        return self._builder.hash()

    def brief(self, trajectory: Trajectory, observation: Observation) -> TurnPrompt:
        """Return the messages for this page, without asking it."""
        return self._builder.build(trajectory, observation)

    @property
    def _builder(self) -> PromptBuilder:
        images = self.images if self.model.capabilities.images else None
        pages = PageFormatter(self.render, self.variant, images, self.add_image)
        shown = self.prompting.examples
        shown = self.model.capabilities.token_ids if shown is None else shown
        return PromptBuilder(
            self.prompt, pages, self.prompting, self.actions, self.knowledge, shown
        )

    def _begin_turn(self, trajectory: Trajectory, observation: Observation) -> "PromptedTurn":
        start = time.monotonic()
        prompt = self.brief(trajectory, observation)
        constraint = None
        allowed = f"{' '.join(self.actions)}; marks {format_marks(observation)}"
        if self.prompting.constrained:
            here = page_state(observation)
            tried = [
                step.decision.action
                for step in trajectory.steps
                if page_state(step.observation) == here
            ]
            constraint = self._constrain(observation, tried)
            allowed = constraint.dumps()
        return PromptedTurn(prompt.messages, allowed, start, constraint, prompt.images)

    def _constrain(self, observation: Observation, tried: Sequence[Action] = ()) -> Constraint:
        return build_constraint(
            observation,
            self.actions,
            thought_tokens=self.prompting.thought_tokens,
            max_tokens=self.max_tokens,
            tried=tried,
        )

    async def _ask(
        self,
        turn: "PromptedTurn",
        trajectory: Trajectory,
        n: int = 1,
        temperature: float | None = None,
    ) -> "PromptedTurn":
        # The same for every attempt, so that an episode that a kill cut off is played again as it
        # would have been. The id ends with the attempt.
        episode = trajectory.id.rpartition("-")[0] or trajectory.id
        place = f"{episode}:{len(trajectory.steps)}:{self.seed}"
        completion = await self.model.complete(
            turn.messages,
            n=n,
            temperature=self.temperature if temperature is None else temperature,
            seed=zlib.crc32(place.encode()) & 0x7FFFFFFF,
            max_tokens=self.max_tokens,
            constraint=turn.constraint,
        )
        return replace(turn, completions=(*turn.completions, completion))

    async def _read_or_repair(
        self, turn: "PromptedTurn", trajectory: Trajectory, reader: ReplyReader
    ) -> "tuple[PromptedTurn, ReadReply]":
        """Read the first reply as an action; ask once more where it is unreadable."""
        reply = turn.replies[0]
        try:
            return turn, turn.read(reply, reader)
        except ActionError as error:
            request = self.prompt.fill("repair", error=str(error))
            more = follow_up(reply.text, request)
            turn = replace(turn, messages=(*turn.messages, *more))
        turn = await self._ask(turn, trajectory)
        try:
            return turn, turn.read(turn.replies[0], reader, is_strict=False)
        except ActionError as error:
            raise PolicyError(f"no usable action from {self.model.name}: {error}") from error

    def _make_reader(self, trajectory: Trajectory, observation: Observation) -> ReplyReader:
        return ReplyReader(
            observation,
            self.actions,
            self.max_tokens,
            find_loop(trajectory, observation) if self.prompting.loops else None,
            trajectory.steps[-1].decision.action if trajectory.steps else None,
        )

    def _give_up_in_loop(self, reader: ReplyReader) -> Decision | None:
        """Return the end of an episode that has gone in circles for too long, unasked."""
        loop = reader.loop
        if loop is None or loop.times < 2 * LOOP_PATIENCE:
            return None
        return Decision(GiveUp(loop.reason), source="loop", prompt_hash=self.prompt_hash)


@dataclass(frozen=True, slots=True)
class PromptedTurn:
    """One prompt with what came back so far, a repair included."""

    messages: tuple[Message, ...]
    allowed: str
    """What was allowed, as it is stored."""
    start: float
    constraint: Constraint | None = None
    images: tuple[str, ...] = ()
    """References to the images of the messages."""
    completions: tuple[Completion, ...] = ()

    @property
    def replies(self) -> tuple[Reply, ...]:
        """The replies to the latest request."""
        return self.completions[-1].replies

    def read(self, reply: Reply, reader: ReplyReader, *, is_strict: bool = True) -> "ReadReply":
        """Read a reply to the latest request. Raises `ActionError` as the reader does."""
        read = reader.read_strictly if is_strict else reader.read
        parsed = read(reply)
        return ReadReply(
            self.completions[-1],
            reply,
            parsed.thought,
            parsed.action,
            tuple(map(format_action, parsed.not_done)),
        )


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A reply that was read as an action."""

    completion: Completion
    reply: Reply
    thought: str
    action: Action
    not_done: tuple[str, ...] = ()

    def to_decision(self, turn: PromptedTurn, hash: str, *candidates: Candidate) -> Decision:
        """Return the decision, with the cost of the whole turn and what training needs."""
        usage: Counter[str] = Counter()
        for completion in turn.completions:
            usage.update(completion.usage)
        return Decision(
            action=self.action,
            thought=self.thought,
            prompt_ids=self.completion.prompt_ids,
            images=turn.images,
            sampled_ids=self.reply.token_ids,
            log_probs=self.reply.log_probs,
            temperature=self.completion.temperature,
            allowed=turn.allowed,
            weights=self.completion.model,
            prompt_hash=hash,
            candidates=candidates,
            seconds=time.monotonic() - turn.start,
            usage=dict(usage),
            not_done=self.not_done,
        )


def rank_choices(choices: Sequence[ReadReply]) -> list[tuple[ReadReply, Candidate]]:
    """Return the different actions among samples, the likeliest first, each with its first sample.

    Where the model gives log-probabilities and every reply is an action without a thought, an
    action's is that of its different spellings together. Otherwise, as an action can come of
    countless thoughts, it is the logarithm of its share of the samples.
    """
    firsts: dict[Action, ReadReply] = {}
    counts = Counter(choice.action for choice in choices)
    spellings: defaultdict[Action, dict[tuple[int, ...], float]] = defaultdict(dict)
    for choice in choices:
        firsts.setdefault(choice.action, choice)
        spellings[choice.action][choice.reply.token_ids] = sum(choice.reply.log_probs)
    log_probs = {action: math.log(n / counts.total()) for action, n in counts.items()}
    if all(choice.reply.log_probs and not choice.thought for choice in choices):
        for action, known in spellings.items():
            most = max(known.values())
            shares = math.fsum(math.exp(value - most) for value in known.values())
            log_probs[action] = most + math.log(shares)
    order = sorted(firsts, key=lambda action: (-log_probs[action], -counts[action]))
    return [
        (firsts[action], Candidate(format_action(action), log_probs[action])) for action in order
    ]
