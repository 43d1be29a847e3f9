"""Requests under way, and how the next ids of their replies are sampled."""

import math
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from webagent.errors import WebAgentError
from webagent.models.local.prompts import EncodedPrompt
from webagent.models.model import Completion, Constraint, Matcher, Message, Reply, Tokens


class Noise:
    """The random numbers of one reply: a function of seed, reply and place alone.

    Whatever else is in the batch, the id at a place is sampled with the same number.
    """

    def __init__(self, seed: int | None, reply: int) -> None:
        base = secrets.randbits(63) if seed is None else seed & (2**64 - 1)
        self._source = np.random.default_rng([base, reply])
        self._drawn: list[float] = []

    def at(self, place: int) -> float:
        """Return it in [0, 1)."""
        while len(self._drawn) <= place:
            self._drawn.extend(self._source.random(32).tolist())
        return self._drawn[place]


@dataclass(frozen=True, slots=True)
class TokenDraw:
    """How one row is sampled."""

    temperature: float
    """0 takes the most probable."""
    noise: float = 0.0
    allowed: NDArray[np.bool_] | None = None
    """Which ids a constraint lets through; None for all."""


def sample_tokens(
    logits: Tensor, draws: Sequence[TokenDraw], never: Tensor
) -> tuple[list[int], list[float]]:
    """Return ids and their natural log-probabilities of (rows, vocabulary) logits.

    `never` holds ids that are taken out. The distribution is the softmax of logits divided by the
    temperature (by 1 where it is 0) over the ids that are left, inverted at the row's noise. A
    row whose logits are no numbers, or that allows no id, has a log-probability that is no number.
    """
    chances = log_softmax(logits, draws, never)
    best = chances.argmax(-1)
    if any(one.temperature for one in draws):
        sums = chances.double().exp().cumsum(-1)
        noise = torch.tensor([one.noise for one in draws], dtype=sums.dtype, device=sums.device)
        found = torch.searchsorted(sums, (noise * sums[:, -1])[:, None], right=True).squeeze(-1)
        cold = torch.tensor([not one.temperature for one in draws], device=best.device)
        best = torch.where(cold | (found >= sums.shape[-1]), best, found)
    log_probs: list[float] = chances.gather(-1, best[:, None]).squeeze(-1).tolist()
    return best.tolist(), log_probs


def log_softmax(logits: Tensor, draws: Sequence[TokenDraw], never: Tensor) -> Tensor:
    """Return the distributions that ids are sampled from, (rows, vocabulary), as logarithms."""
    scaled = logits.to(torch.promote_types(logits.dtype, torch.float32))
    heat = [one.temperature or 1.0 for one in draws]
    if any(value != 1.0 for value in heat):
        scaled = scaled / torch.tensor(heat, dtype=scaled.dtype, device=scaled.device)[:, None]
    if len(never):
        scaled = scaled.index_fill(-1, never, -math.inf)
    if any(one.allowed is not None for one in draws):
        masks = np.ones(tuple(scaled.shape), dtype=np.bool_)
        for row, one in enumerate(draws):
            if one.allowed is not None:
                width = min(len(one.allowed), masks.shape[1])
                masks[row, :width] = one.allowed[:width]
                masks[row, width:] = False  # ids without a mask entry are out
        scaled = scaled.masked_fill(~torch.from_numpy(masks).to(scaled.device), -math.inf)
    return torch.log_softmax(scaled, -1)


@dataclass(eq=False, slots=True)
class ReplyRow:
    """One reply under way."""

    request: "GenerationRequest"
    reply: int
    """Its number among the replies to the request."""
    noise: Noise
    sampled_ids: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    matcher: Matcher | None = None
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

    def draw(self) -> TokenDraw:
        """Return how its next id is sampled."""
        temperature = self.request.temperature
        noise = self.noise.at(len(self.sampled_ids)) if temperature else 0.0
        return TokenDraw(temperature, noise, self.matcher.mask() if self.matcher else None)

    def append(self, token: int, log_prob: float, stop: frozenset[int]) -> None:
        """Append the sampled id."""
        self.sampled_ids.append(token)
        self.log_probs.append(log_prob)
        if self.matcher:
            self.matcher.accept(token)
        if token in stop or (self.matcher and self.matcher.is_complete):
            self.finish = "stop"
        elif len(self.sampled_ids) >= self.request.limit:
            self.finish = "length"


@dataclass(eq=False, slots=True)
class GenerationRequest:
    """What was asked, and what has come of it so far."""

    prompt: Sequence[Message] | Tokens
    n: int
    temperature: float
    seed: int | None
    max_tokens: int
    constraint: Constraint | None
    future: Future[Completion]
    """Running, so that it cannot be cancelled; set once."""
    is_closed: bool = False
    """Answered, failed or given up by whoever asked."""
    limit: int = 0
    """Ids of a reply at most: `max_tokens`, or what the context leaves."""
    encoded: EncodedPrompt | None = None
    matcher: Callable[[], Matcher] | None = None
    rows: list[ReplyRow] = field(default_factory=list)
    pending: list[ReplyRow] = field(default_factory=list)
    """Rows that wait to be read, in order."""
    version: str = ""
    reused: int = 0
    """Ids of the prompt that were not read again."""
    started: float = field(default_factory=time.monotonic)

    def begin(self, encoded: EncodedPrompt, context: int) -> None:
        """Make its rows. At temperature 0 all replies are one."""
        self.encoded = encoded
        self.limit = min(self.max_tokens, context - len(encoded))
        count = self.n if self.temperature else 1
        self.rows = [
            ReplyRow(
                self,
                reply,
                Noise(self.seed, reply),
                matcher=self.matcher() if self.matcher else None,
            )
            for reply in range(count)
        ]
        self.pending = list(self.rows)

    def fail(self, error: WebAgentError) -> None:
        """Answer with an error, once."""
        if not self.is_closed:
            self.is_closed = True
            self.future.set_exception(error)

    def settle(self, text: Callable[[list[int]], str]) -> None:
        """Answer if every reply is written."""
        if self.is_closed or not self.rows or not all(row.finish for row in self.rows):
            return
        assert self.encoded is not None
        replies = tuple(
            Reply(text(row.sampled_ids), row.finish, tuple(row.sampled_ids), tuple(row.log_probs))
            for row in self.rows
        )
        replies *= self.n // len(replies)
        usage = {
            "input_tokens": len(self.encoded),
            "cached_input_tokens": self.reused,
            "output_tokens": sum(len(reply.token_ids) for reply in replies),
            "requests": 1,
        }
        seconds = time.monotonic() - self.started
        self.is_closed = True
        ids = self.encoded.tokens.ids
        scale = self.temperature or 1.0
        self.future.set_result(Completion(replies, self.version, usage, seconds, ids, scale))
