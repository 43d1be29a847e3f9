"""Replies under a constraint: from a model, and from nothing but the masks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from webagent.models.model import Constraint, Matcher


@dataclass(frozen=True, slots=True)
class Sample:
    """One reply as it would be stored."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    is_whole: bool


def walk(make: Callable[[], Matcher], rng: np.random.Generator, most: int = 10_000) -> list[int]:
    """The ids of a reply in which each allowed id was as likely as any other."""
    matcher, ids = make(), list[int]()
    while not matcher.is_complete:
        assert len(ids) < most, "the reply does not end"
        ids.append(int(rng.choice(np.flatnonzero(matcher.mask()))))
        matcher.accept(ids[-1])
    return ids


def walk_towards(make: Callable[[], Matcher], wanted: Sequence[int], most: int) -> list[int]:
    """The ids of a reply that takes the first of the wanted ids that may come, for as long as one
    may."""
    matcher, ids = make(), list[int]()
    while not matcher.is_complete:
        assert len(ids) < most, "the reply does not end"
        mask = matcher.mask()
        ids.append(next((id for id in wanted if mask[id]), int(np.flatnonzero(mask)[-1])))
        matcher.accept(ids[-1])
    return ids


class Anything:
    """No constraint: every id until the one that ends the reply."""

    def __init__(self, width: int, end: int) -> None:
        self._all, self._end = np.ones(width, dtype=np.bool_), end
        self.is_complete = False

    def mask(self) -> np.ndarray:
        """All of them."""
        return self._all

    def accept(self, token: int) -> None:
        """Whatever came."""
        self.is_complete = token == self._end


def sample(model, prompts: Sequence[Sequence[int]], makes, seed: int, most: int) -> list[Sample]:  # type: ignore[no-untyped-def]
    """A reply to each prompt at temperature 1, every id drawn under the mask of its own matcher."""
    import torch

    draw = torch.Generator().manual_seed(seed)
    matchers = [make() for make in makes]
    ids, log_probs = [[] for _ in prompts], [[] for _ in prompts]
    longest, cache = max(map(len, prompts)), None
    given = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts])
    seen = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    with torch.inference_mode():
        for _ in range(most):
            places = (seen.cumsum(-1) - 1).clamp(min=0)[:, -given.shape[1] :]
            out = model(given, attention_mask=seen, position_ids=places, past_key_values=cache)
            cache = out.past_key_values
            masks = torch.from_numpy(np.array([_open(matcher) for matcher in matchers]))
            logs = out.logits[:, -1].float().masked_fill(~masks, -torch.inf).log_softmax(-1)
            given = torch.multinomial(logs.exp(), 1, generator=draw)
            seen = torch.cat([seen, torch.ones_like(given)], dim=1)
            for row, matcher in enumerate(matchers):
                if not matcher.is_complete:
                    ids[row].append(int(given[row]))
                    log_probs[row].append(float(logs[row, given[row]]))
                    matcher.accept(ids[row][-1])
            if all(matcher.is_complete for matcher in matchers):
                break
    return [
        Sample(tuple(ids[row]), tuple(log_probs[row]), matcher.is_complete)
        for row, matcher in enumerate(matchers)
    ]


def _open(matcher: Matcher) -> np.ndarray:
    """The mask, or all ids where the reply has ended and what comes is not looked at."""
    mask = matcher.mask()
    return np.ones_like(mask) if matcher.is_complete else mask


def log_probs_under(model, prompt: Sequence[int], ids: Sequence[int], masks) -> list[float]:  # type: ignore[no-untyped-def]
    """The log-probability of each stored id in one forward pass, under the masks given."""
    import torch

    with torch.inference_mode():
        logits = model(torch.tensor([[*prompt, *ids]])).logits[0, len(prompt) - 1 : -1].float()
        logs = logits.masked_fill(~torch.from_numpy(masks), float("-inf")).log_softmax(-1)
        return logs.gather(1, torch.tensor(ids)[:, None])[:, 0].tolist()


def text_of(tokenizer, ids: Sequence[int]) -> str:  # type: ignore[no-untyped-def]
    """The reply as text, without the id that ended it."""
    kept = [id for id in ids if id != tokenizer.eos_token_id]
    return tokenizer.decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def grammar(*lines: str) -> Constraint:
    """A constraint of these lines of Lark."""
    return Constraint(grammar="\n".join(lines))
