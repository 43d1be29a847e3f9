"""A request on its way through the decoding loop, and the replies that are written for it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from webagent.errors import WebAgentError
from webagent.models.local.copying import Copier
from webagent.models.local.reading import Reading
from webagent.models.local.sampling import Draw, Noise
from webagent.models.model import Completion, Constraint, Matcher, Message, Reply, Tokens

Answer = Callable[[Completion | WebAgentError], None]


@dataclass(eq=False, slots=True)
class Row:
    """One reply under way."""

    request: "Request"
    reply: int
    """Its number among the replies to the request."""
    noise: Noise
    said: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    matcher: Matcher | None = None
    copier: Copier | None = None
    place: int = 0
    """Position of the id that is read next."""
    first: int = 0
    """The first column of the cache that is its own."""
    finish: str = ""
    """`stop` or `length` once it is done."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more is written for it."""
        return bool(self.finish) or self.request.is_closed

    def draw(self) -> Draw:
        """How its next id is drawn."""
        temperature = self.request.temperature
        noise = self.noise.at(len(self.said)) if temperature else 0.0
        return Draw(temperature, noise, self.matcher.mask() if self.matcher else None)

    def say(self, token: int, log_prob: float, stop: frozenset[int]) -> None:
        """Append the id that was drawn."""
        self.said.append(token)
        self.log_probs.append(log_prob)
        if self.copier:
            self.copier.follow(token)
        if self.matcher:
            self.matcher.accept(token)
        if token in stop or (self.matcher and self.matcher.is_complete):
            self.finish = "stop"
        elif len(self.said) >= self.request.limit:
            self.finish = "length"

    def restart(self) -> None:
        """Begin again from the prompt, with the same random numbers."""
        self.said, self.log_probs, self.finish = [], [], ""
        self.matcher = self.request.matcher() if self.request.matcher else None
        self.copier = None


@dataclass(eq=False, slots=True)
class Request:
    """What was asked, and what has come of it so far."""

    prompt: Sequence[Message] | Tokens
    n: int
    temperature: float
    seed: int | None
    max_tokens: int
    constraint: Constraint | None
    adapter: str | None
    answer: Answer
    is_closed: bool = False
    """Answered, failed or given up by whoever asked."""
    limit: int = 0
    """Ids of a reply at most: `max_tokens`, or what the context leaves."""
    reading: Reading | None = None
    matcher: Callable[[], Matcher] | None = None
    rows: list[Row] = field(default_factory=list)
    pending: list[Row] = field(default_factory=list)
    """Rows that wait to be read, in order."""
    version: str = ""
    reused: int = 0
    """Ids of the prompt that were not read again."""
    started: float = field(default_factory=time.monotonic)

    def begin(self, reading: Reading, context: int) -> None:
        """Make its rows. At temperature 0 all replies are one."""
        self.reading = reading
        self.limit = min(self.max_tokens, context - len(reading))
        count = self.n if self.temperature else 1
        self.rows = [Row(self, reply, Noise(self.seed, reply)) for reply in range(count)]
        for row in self.rows:
            row.restart()
        self.pending = list(self.rows)

    def fail(self, error: WebAgentError) -> None:
        """Answer with an error, once."""
        if not self.is_closed:
            self.is_closed = True
            self.answer(error)

    def settle(self, text: Callable[[list[int]], str]) -> None:
        """Answer if every reply is written."""
        if self.is_closed or not self.rows or not all(row.finish for row in self.rows):
            return
        assert self.reading is not None
        replies = tuple(
            Reply(text(row.said), row.finish, tuple(row.said), tuple(row.log_probs))
            for row in self.rows
        )
        replies *= self.n // len(replies)
        usage = {
            "input_tokens": len(self.reading),
            "cached_input_tokens": self.reused,
            "output_tokens": sum(len(reply.token_ids) for reply in replies),
            "requests": 1,
        }
        seconds = time.monotonic() - self.started
        self.is_closed = True
        ids = self.reading.tokens.ids
        warmth = self.temperature or 1.0
        self.answer(Completion(replies, self.version, usage, seconds, ids, warmth))
