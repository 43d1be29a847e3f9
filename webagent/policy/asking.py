"""One turn's requests to a model, and the decision that becomes of a reply."""

import time
from collections import Counter
from dataclasses import dataclass, replace

from webagent.action import Action
from webagent.models.constraint import Constraint
from webagent.models.model import Completion, Message, Reply
from webagent.records import Candidate, Decision


@dataclass(frozen=True, slots=True)
class Turn:
    """One prompt with what came back so far, repairs and reviews included."""

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
        """Those to the latest request."""
        return self.completions[-1].replies

    def gone_on(self, *messages: Message) -> "Turn":
        """With more messages to be asked with."""
        return replace(self, messages=(*self.messages, *messages))


@dataclass(frozen=True, slots=True)
class Choice:
    """A reply that was read as an action."""

    completion: Completion
    reply: Reply
    thought: str
    action: Action

    def decided(self, turn: Turn, hash: str, *candidates: Candidate) -> Decision:
        """The decision, with what every request of the turn cost and what training needs."""
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
        )
