"""Rows of token ids: what a stored step teaches a language model, exactly as it was sampled."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from webagent.errors import ModelError, SetupError
from webagent.models.model import Constraint
from webagent.records import Decision, Trajectory

_WITHOUT_IDS = ("demonstration", "explore", "memory")
"""Sources of decisions that no language model sampled."""
_SAMPLED = ("policy",)
"""Sources whose stored log-probabilities are those of the choice; elsewhere something chose among
samples, and what they were sampled with is not what was done with."""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One line of ids for a model to be trained on: a prompt and a reply, or several in turn."""

    ids: tuple[int, ...]
    """Prompts and replies in order."""
    weights: tuple[float, ...]
    """How much the loss counts each id: 0 for the prompts' and for steps left out. The first id
    follows nothing, so its weight is always 0."""
    log_probs: tuple[float, ...] = ()
    """Behaviour log-probability of each sampled id, 0.0 where nothing was sampled; empty for a row
    that no model sampled, such as a demonstration, which losses with ratios refuse."""
    temperature: float = 1.0
    """Of the sampling; 1 where it was greedy, as log-probabilities are stored then."""
    allowed: tuple[tuple[int, int, str], ...] = ()
    """(start, stop, constraint): `ids[start:stop]` were sampled under this stored constraint."""
    images: tuple[str, ...] = ()
    """References into the image store, in the order of their places among the ids."""
    advantages: tuple[float, ...] = ()
    """One for each id, 0.0 outside of replies, or empty when none were given. One a token, since
    the steps of a merged row have their own."""
    imagined: bool = False
    """Whether it was never played on a real page."""
    group: str = ""
    """What is compared with what: the task with its seed."""
    episode: str = ""
    steps: tuple[int, ...] = ()
    """Which steps of the episode the replies are, in order."""
    spans: tuple[tuple[int, int], ...] = ()
    """(start, stop) of each reply, one for each of `steps`: `ids[start:stop]` is what the step's
    loss counts. A sequence, where a loss speaks of sequences, is one of these."""
    weights_version: str = ""
    """The weights that sampled it."""

    def __post_init__(self) -> None:
        size = len(self.ids)
        for name, values in (("log_probs", self.log_probs), ("advantages", self.advantages)):
            if values and len(values) != size:
                raise ValueError(f"{len(values)} {name} for {size} ids")
        if len(self.weights) != size or (size and self.weights[0]):
            raise ValueError(f"{size} ids need as many weights, the first of them 0")
        if len(self.spans) != len(self.steps):
            raise ValueError(f"{len(self.spans)} spans for {len(self.steps)} steps")
        taught = sum(map(bool, self.weights))
        if self.spans and taught != sum(sum(map(bool, self.weights[a:b])) for a, b in self.spans):
            raise ValueError("ids outside of the replies have a weight")
        for start, stop in (*self.spans, *((start, stop) for start, stop, _ in self.allowed)):
            if not 0 < start <= stop <= size:
                raise ValueError(f"ids {start} to {stop} are not of a row of {size}")

    @property
    def has_behaviour(self) -> bool:
        """Whether it is known with what probability its replies were sampled."""
        return bool(self.log_probs)

    def with_advantage(self, advantage: float | Sequence[float]) -> "TokenRow":
        """Return the row with this advantage at every id of its replies, or one for each reply."""
        each = [advantage] * len(self.spans) if isinstance(advantage, int | float) else advantage
        values = [0.0] * len(self.ids)
        for (start, stop), value in zip(self.spans, each, strict=True):
            values[start:stop] = [float(value)] * (stop - start)
        return replace(self, advantages=tuple(values))


@dataclass(frozen=True, slots=True)
class Encoded:
    """A prompt with the reply to teach, in the model's ids."""

    prompt_ids: tuple[int, ...]
    reply_ids: tuple[int, ...]
    """The id that ends the reply included."""
    images: tuple[str, ...] = ()
    """References to the images of the prompt, in the order of their places."""


Encode: TypeAlias = Callable[[Trajectory, int], Encoded]
"""Writes out the step of this index as the model would have been asked and should have replied."""


def make_step_rows(
    trajectory: Trajectory,
    *,
    weights: Sequence[float] | Mapping[int, float] | None = None,
    advantages: Sequence[float] | None = None,
    encode: Encode | None = None,
) -> list[TokenRow]:
    """Return a row for each step, from its stored ids; an episode that infrastructure ended gives
    none.

    `weights` says how much the loss counts each step (1 where a mapping has none); a step of weight
    0 gives no row. `advantages` has one value for each step.
    Demonstrated and random steps have no ids, and neither have those of a model behind a server
    that returns none: `encode` writes them out to be imitated, and their rows carry no behaviour
    log-probabilities, as do rows of steps that look-ahead or a reranker chose.

    Raises `SetupError` for a step without ids where there is no `encode`.
    """
    if trajectory.ending is None or trajectory.ending.is_infrastructure:
        return []
    rows = []
    for index in range(len(trajectory.steps)):
        if weights is None:
            weight = 1.0
        else:
            weight = weights.get(index, 1.0) if isinstance(weights, Mapping) else weights[index]
        if not weight:
            continue
        row = make_step_row(trajectory, index, weight=weight, encode=encode)
        rows.append(row if advantages is None else row.with_advantage(advantages[index]))
    return rows


def make_step_row(
    trajectory: Trajectory, index: int, *, weight: float = 1.0, encode: Encode | None = None
) -> TokenRow:
    """Return the row of one step. Raises `SetupError` as `step_rows` does."""
    decision = trajectory.steps[index].decision
    place = f"step {index} of episode {trajectory.id}"
    if decision.prompt_ids and decision.sampled_ids:
        encoded = Encoded(decision.prompt_ids, decision.sampled_ids, decision.images)
        # What the sampling really had.
        log_probs = decision.log_probs if decision.source in _SAMPLED else ()
        count = len(decision.sampled_ids)
        if decision.source in _SAMPLED and len(log_probs) != count:
            raise SetupError(
                f"{place} has {count} sampled ids but {len(log_probs)} log-probabilities; collect"
                " with a model that returns both"
            )
    elif encode is not None:
        encoded, log_probs = encode(trajectory, index), ()
    elif decision.source in _WITHOUT_IDS:
        raise SetupError(
            f"{place} is a {decision.source} step without ids; pass `encode`, which writes it out"
            " for the model that is to learn it"
        )
    else:
        raise SetupError(
            f"{place} was chosen by {decision.weights or 'a model'} without prompt and sampled ids,"
            " and ids made by tokenising again would not be the ones sampled; collect with a model"
            " whose capabilities name token_ids"
        )
    row = make_encoded_row(encoded, log_probs=log_probs, weight=weight)
    return replace(
        row,
        temperature=decision.temperature,
        allowed=_allowed(decision, row) if decision.sampled_ids else (),
        imagined=trajectory.provenance.imagined,
        group=f"{trajectory.task.id}:{trajectory.task.seed}",
        episode=trajectory.id,
        steps=(index,),
        weights_version=decision.weights,
    )


def make_encoded_row(
    encoded: Encoded, *, log_probs: Sequence[float] = (), weight: float = 1.0, step: int = 0
) -> TokenRow:
    """Return a row teaching the reply after its prompt. Raises `SetupError` if one is empty."""
    if not encoded.prompt_ids or not encoded.reply_ids:
        raise SetupError("a row needs a prompt and a reply of at least one id each")
    start = len(encoded.prompt_ids)
    ids = (*encoded.prompt_ids, *encoded.reply_ids)
    return TokenRow(
        ids=ids,
        weights=(0.0,) * start + (float(weight),) * len(encoded.reply_ids),
        log_probs=(0.0,) * start + tuple(log_probs) if log_probs else (),
        images=encoded.images,
        steps=(step,),
        spans=((start, len(ids)),),
    )


def add_advantages(
    rows: Iterable[TokenRow], advantages: Mapping[str, float | Sequence[float]]
) -> list[TokenRow]:
    """Return the rows with the advantages of their episodes: one for all steps, or one for each
    step.

    A row whose episode has none is left out, so that it cannot count as average.
    """
    found = []
    for row in rows:
        if row.episode not in advantages:
            continue
        value = advantages[row.episode]
        if not isinstance(value, int | float):
            value = [value[step] for step in row.steps]
        found.append(row.with_advantage(value))
    return found


def _allowed(decision: Decision, row: TokenRow) -> tuple[tuple[int, int, str], ...]:
    """Return the constraint of the reply; a mere description of what was allowed masks nothing.

    Raises `SetupError` for what begins as a stored constraint but is none.
    """
    if not decision.allowed.startswith("{"):
        return ()
    try:
        Constraint.loads(decision.allowed)
    except (ModelError, ValueError) as error:
        raise SetupError(f"a step's stored constraint cannot be read: {error}") from error
    [(start, stop)] = row.spans
    return ((start, stop, decision.allowed),)


def merge_rows(rows: Iterable[TokenRow]) -> list[TokenRow]:
    """Return as few rows as teach the same: each is read once, with all its replies.

    A row is joined to the latest one before it, of the same episode and sampled alike, whose ids
    and images begin its prompt; one that begins otherwise, because old pages were left out or a
    repair was asked for, stays a row of its own. Losses per token, per step and per episode are
    the same before and after; one per row is not.
    """
    merged: list[TokenRow] = []
    open_ones: dict[object, list[int]] = {}
    for row in rows:
        what = (row.episode, row.group, row.weights_version, row.imagined)
        places = open_ones.setdefault(
            (*what, row.temperature, row.has_behaviour, bool(row.advantages)), []
        )
        found = next(
            (
                i
                for i in reversed(places)
                if row.spans
                and len(merged[i].ids) <= row.spans[0][0]
                and row.ids[: len(merged[i].ids)] == merged[i].ids
                and row.images[: len(merged[i].images)] == merged[i].images
            ),
            None,
        )
        if found is None or not row.episode:
            places.append(len(merged))
            merged.append(row)
        else:
            before = merged[found]
            size = len(before.ids)
            merged[found] = TokenRow(
                ids=row.ids,
                weights=before.weights + row.weights[size:],
                log_probs=before.log_probs + row.log_probs[size:],
                temperature=row.temperature,
                allowed=before.allowed + row.allowed,
                images=row.images,
                advantages=before.advantages + row.advantages[size:],
                imagined=row.imagined,
                group=row.group,
                episode=row.episode,
                steps=before.steps + row.steps,
                spans=before.spans + row.spans,
                weights_version=row.weights_version,
            )
    return merged
