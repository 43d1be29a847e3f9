"""Replies under a constraint: from a model, and from nothing but the masks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from webagent.models.constraint import Constraint, Matcher


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


def sample(model, prompt: Sequence[int], make, seed: int, most: int = 2000) -> Sample:  # type: ignore[no-untyped-def]
    """A reply of the model at temperature 1, every id drawn under the mask."""
    import torch

    draw = torch.Generator().manual_seed(seed)
    matcher, ids, log_probs, cache = make(), list[int](), list[float](), None
    given = torch.tensor([list(prompt)])
    with torch.inference_mode():
        while len(ids) < most and not matcher.is_complete:
            out = model(given, past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            logits = out.logits[0, -1].float()
            logits[~torch.from_numpy(matcher.mask().copy())] = float("-inf")
            logs = logits.log_softmax(-1)
            token = int(torch.multinomial(logs.exp(), 1, generator=draw))
            matcher.accept(token)
            ids.append(token)
            log_probs.append(float(logs[token]))
            given = torch.tensor([[token]])
    return Sample(tuple(ids), tuple(log_probs), matcher.is_complete)


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
