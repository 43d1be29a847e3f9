"""What of the rows offered may be trained on, and why the rest may not."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from torch import nn

from webagent.errors import SetupError
from webagent.training.language.config import TrainConfig
from webagent.training.language.likelihood import image_ids, text_config
from webagent.training.language.packing import taught_indices
from webagent.training.language.rows import TokenRow


@dataclass(frozen=True, slots=True)
class TrainingUnit:
    """Rows that a loss sees together: one row, all of an episode, both sides of a pair."""

    rows: tuple[TokenRow, ...]
    better: int = 0
    """How many of the rows, from the first on, are good: the chosen of a pair, whose other rows
    are the rejected; for losses that know good from bad all rows or none."""

    @property
    def imagined(self) -> bool:
        """Whether any of it was never played on a real page."""
        return any(row.imagined for row in self.rows)

    @property
    def tokens(self) -> int:
        """Ids of all rows."""
        return sum(len(row.ids) for row in self.rows)


def pair_rows(
    chosen: TokenRow | Sequence[TokenRow], rejected: TokenRow | Sequence[TokenRow]
) -> TrainingUnit:
    """Return what was better with what was worse: two rows, or all rows of two episodes."""
    better, worse = (
        (each,) if isinstance(each, TokenRow) else tuple(each) for each in (chosen, rejected)
    )
    return TrainingUnit((*better, *worse), len(better))


def balance_units(units: Sequence[TrainingUnit], tasks: Mapping[str, str]) -> list[TrainingUnit]:
    """Return the units with as many of each task as of the most frequent one, no two alike counted.

    `tasks` is each episode's task, by the episode's id. Units with the same ids are one lesson,
    however often it was played; a task with fewer lessons has them repeated, the first ones once
    more than the last. A loop that draws what it fails at would otherwise train on little else and
    forget the tasks that it no longer draws.
    """
    lessons: defaultdict[str, dict[tuple[object, ...], TrainingUnit]] = defaultdict(dict)
    for unit in units:
        key = (unit.better, *((row.ids, row.images) for row in unit.rows))
        lessons[tasks[unit.rows[0].episode]].setdefault(key, unit)
    most = max(map(len, lessons.values()), default=0)
    return [unit for each in lessons.values() for unit in islice(cycle(each.values()), most)]


@dataclass(frozen=True, slots=True)
class AcceptedUnits:
    """The units to train on."""

    units: tuple[TrainingUnit, ...]
    dropped: dict[str, int]
    """How many units were left out, by reason."""


def accept_units(
    offered: Sequence[TokenRow | TrainingUnit], model: nn.Module, config: TrainConfig
) -> AcceptedUnits:
    """Leave out units that teach nothing, are too long or imagined above their share.

    Raises `SetupError` when nothing is left, for ids outside the vocabulary, and for images where
    the model has no place for them.
    """
    if not offered:
        raise SetupError("nothing to train on: no rows were given; collect or select some first")
    units = [TrainingUnit((each,)) if isinstance(each, TokenRow) else each for each in offered]
    vocabulary = int(getattr(text_config(model), "vocab_size", 0) or 0)
    looks = bool(image_ids(model)) or getattr(model, "config", None) is None
    for number, row in enumerate(row for unit in units for row in unit.rows):
        place = f"row {number} (episode {row.episode or '?'})"
        if vocabulary and row.ids and not 0 <= min(row.ids) <= max(row.ids) < vocabulary:
            wrong = next(i for i in row.ids if not 0 <= i < vocabulary)
            raise SetupError(
                f"{place} has the id {wrong}, but the model knows ids 0 to {vocabulary - 1};"
                " the rows were made with another tokenizer"
            )
        if row.images and not looks:
            raise SetupError(
                f"{place} shows {len(row.images)} images, but the model reads text only;"
                " train an image-text model, or collect without screenshots"
            )
    longest = context_length(model)
    dropped: Counter[str] = Counter()
    kept = []
    for unit in units:
        if any(not len(taught_indices(row)) for row in unit.rows):
            dropped["teaches nothing"] += 1
        elif longest and any(len(row.ids) > longest for row in unit.rows):
            dropped["too long"] += 1
        else:
            kept.append(unit)
    fitting = _cap_imagined(kept, config.imagined)
    if len(fitting) < len(kept):
        dropped["imagined above its share"] = len(kept) - len(fitting)
    if not fitting:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in dropped.items())
        most = max(len(row.ids) for unit in units for row in unit.rows)
        raise SetupError(
            f"nothing to train on: all {len(units)} units were left out ({reasons}). The longest"
            f" row has {most} tokens, {longest or 'any number'} may be read; shorten the prompts,"
            " raise imagined, or collect real steps with the weights now"
        )
    return AcceptedUnits(tuple(fitting), dict(dropped))


def context_length(model: nn.Module) -> int:
    """Return the longest row the model can read; 0 where it does not say."""
    return int(getattr(text_config(model), "max_position_embeddings", 0) or 0)


def _cap_imagined(units: Sequence[TrainingUnit], share: float) -> list[TrainingUnit]:
    """Return all real units; of the imagined the first that fit."""
    if share == 1:
        return list(units)
    room = share / (1 - share) * sum(unit.tokens for unit in units if not unit.imagined)
    kept = []
    for unit in units:
        if unit.imagined:
            if unit.tokens > room:
                continue
            room -= unit.tokens
        kept.append(unit)
    return kept
