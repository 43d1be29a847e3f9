"""From run folders to trained weights: read, write out, train, save."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from recipes.asking import Asking
from recipes.config import resolve
from recipes.train.images import Images
from recipes.train.lessons import Scores, lessons
from recipes.train.settings import TrainSettings
from tasks.suite import split_of
from webagent.action import format_action
from webagent.errors import SetupError
from webagent.observation import render
from webagent.records import Trajectory
from webagent.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from webagent.models.local.weights import Weights
    from webagent.training.language.course import TrainReport
    from webagent.training.language.intake import Unit
    from webagent.training.language.likelihood import Reading
    from webagent.training.language.objective import Objective

MODEL, FRESH = "model", "fresh"
"""Folders in the training's own: the trained weights, and those that were made from nothing."""
_SHOWN = ("loss", "gradient_norm", "learning_rate", "tokens_per_second", "accuracy", "clip_share")
_LINE_SECONDS = 5.0
_MASKED_REPLIES = 4096
"""Replies whose masks are kept from one epoch to the next."""


def main(argv: Sequence[str]) -> int:
    """Train, save the weights beside how they are to be asked, and print what was done."""
    settings = resolve(TrainSettings, "train", argv)
    settings.check()
    episodes, scores, held_out = _read(settings)
    weights = _weights(settings, episodes)
    asking = Asking(settings.prompt, settings.actions, settings.prompting, settings.observation)
    units = _units(settings, asking, weights, episodes, scores)
    print(_offered(settings, units, len(episodes), held_out), flush=True)
    report, folder = _train(settings, weights, units)
    if settings.role == "policy":
        asking.save(folder)
    print(_done(report, folder))
    return 0


def _read(settings: TrainSettings) -> tuple[list[Trajectory], Scores, int]:
    """Episodes with their scores, those of other splits than training's left out and counted."""
    episodes, scores, held_out = [], {}, 0
    for run in settings.runs:
        with Store.open(run) as store:
            for name, found in store.scores().items():
                values = [score.value for score in found if score.name == settings.score]
                if values and values[0] is not None:
                    scores[name] = values[0]
            for episode in store.trajectories():
                if _is_for_training(episode):
                    episodes.append(episode)
                else:
                    held_out += 1
    kept = {episode.id for episode in episodes}
    return episodes, {name: value for name, value in scores.items() if name in kept}, held_out


def _is_for_training(episode: Trajectory) -> bool:
    """Whether no measurement is made on the episode's seed."""
    try:
        return split_of(episode.task.seed) == "train"
    except ValueError:
        return False


def _weights(settings: TrainSettings, episodes: Sequence[Trajectory]) -> "Weights":
    from webagent.models.local.loading import load
    from webagent.models.local.settings import Source

    name = settings.model
    if not name:
        name = str(settings.out / FRESH)
        if not Path(name).is_dir():
            if not episodes:
                raise SetupError("no episodes whose texts a tokenizer could be made from")
            from webagent.models.fresh import create

            count = create(Path(name), _texts(episodes), settings.shape, seed=settings.train.seed)
            print(f"a model of {count:,} parameters was made from nothing in {name}", flush=True)
    return load(Source(name, dtype="float32"))


def _texts(episodes: Sequence[Trajectory]) -> Iterator[str]:
    """What the model will read and write."""
    for episode in episodes:
        yield episode.goal
        for step in episode.steps:
            yield render(step.observation)
            yield f"Action: {format_action(step.decision.action)}"


def _units(
    settings: TrainSettings,
    asking: Asking,
    weights: "Weights",
    episodes: Sequence[Trajectory],
    scores: Scores,
) -> "list[Unit]":
    from recipes.train.writing import Writer

    writer = Writer(weights, asking, Images(settings.runs))
    return lessons(settings, episodes, scores, writer.write, writer.encode)


def _train(
    settings: TrainSettings, weights: "Weights", units: "Sequence[Unit]"
) -> "tuple[TrainReport, Path]":
    from webagent.training.language.course import train
    from webagent.training.language.trainer import Trainer

    trainer = Trainer(
        weights.module,
        _objective(settings),
        settings.course,
        reading=_reading(settings, weights),
        adapter=settings.adapter,
    )
    settings.out.mkdir(parents=True, exist_ok=True)
    report = train(trainer, units, settings.out, progress=_Progress())
    folder = settings.out / MODEL
    trainer.save(folder)
    weights.save_reading(folder)
    (settings.out / "report.json").write_text(json.dumps(asdict(report), indent=1) + "\n")
    return report, folder


def _objective(settings: TrainSettings) -> "Objective":
    from webagent.training.language import objectives
    from webagent.training.language.losses import Clipping, Desirability

    given = settings.beta
    match settings.objective:
        case "dpo":
            return objectives.Preference(0.1 if given is None else given)
        case "kto":
            return objectives.Desirable(Desirability(beta=0.1 if given is None else given))
        case "webrl":
            return objectives.Regression(1.0 if given is None else given)
        case "grpo":
            return objectives.PolicyGradient(Clipping(high=0.28, divergence=given or 0.0))
        case "gspo":
            bounds = Clipping(3e-4, 4e-4, level="sequence", per="sequence", divergence=given or 0.0)
            return objectives.PolicyGradient(bounds)
        case _:
            return objectives.Supervised()


def _reading(settings: TrainSettings, weights: "Weights") -> "Reading":
    """How rows are read: under the masks and with the pictures of their sampling."""
    from webagent.models.constrain import Masks, replay
    from webagent.training.language.likelihood import Reading

    images = Images(settings.runs)

    @lru_cache(maxsize=_MASKED_REPLIES)
    def packed(allowed: str, ids: tuple[int, ...]) -> Masks:
        ends = tuple(sorted(weights.endings.stop))
        return replay(allowed, ids, weights.tokenizer, width=weights.width, ends=ends)

    def masks(allowed: str, ids: Sequence[int]) -> "NDArray[np.bool_]":
        return packed(allowed, tuple(ids)).unpacked()

    def pictures(references: Sequence[str]) -> "Mapping[str, Tensor]":
        return weights.reader.pixels([images.get(reference) for reference in references])

    return Reading(masks=masks, pictures=pictures, never=weights.endings.never)


def _offered(settings: TrainSettings, units: "Sequence[Unit]", played: int, held_out: int) -> str:
    tokens = sum(unit.tokens for unit in units)
    said = f"{played:,} episodes give {len(units):,} units of {tokens:,} tokens"
    if held_out:
        said += f"; {held_out:,} episodes on seeds of other splits are not learnt from"
    return f"{said}. {settings.objective} on {settings.role}, into {settings.out}"


class _Progress:
    """Says how it goes, a line every few seconds."""

    def __init__(self) -> None:
        self._said = 0.0

    def __call__(self, done: float, figures: Mapping[str, float]) -> None:
        now = time.monotonic()
        if done < 1 and now - self._said < _LINE_SECONDS:
            return
        self._said = now
        named = ", ".join(f"{name} {figures[name]:.4g}" for name in _SHOWN if name in figures)
        print(f"{done:6.1%}  {named}", flush=True)


def _done(report: "TrainReport", folder: Path) -> str:
    left = "".join(f", {count:,} {reason}" for reason, count in report.dropped.items())
    return (
        f"{report.updates:,} updates on {report.tokens:,} tokens in {report.seconds:,.0f} s{left};"
        f" last loss {report.loss:.4f}\nweights: {folder}"
    )
