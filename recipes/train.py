"""`webagent train`: read run folders, build training data, train, save the weights."""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.frozen import read_frozen, refuse_frozen
from loop.console.output import CommandResult
from loop.judging.specification import FILE as FROZEN
from loop.planning import plan_units, print_plan
from loop.training.lessons import build_units, load_experience
from loop.training.settings import MODEL, TrainSettings
from recipes.settings import resolve
from webagent.agent.asking import Asking
from webagent.errors import SetupError
from webagent.models.canned import CannedModel
from webagent.models.weight_notes import write_role
from webagent.policy.knowledge import SiteMemory
from webagent.policy.prompting.messages import format_reply
from webagent.records import Trajectory
from webagent.training.language.texts import make_world_lessons

if TYPE_CHECKING:
    from webagent.models.local.weights import LoadedWeights

FRESH = "fresh"
"""Folder in the output folder of weights created from scratch."""
_SHOWN = ("loss", "gradient_norm", "learning_rate", "tokens_per_second", "accuracy")
_LINE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training."""

    weights: str
    """Folder of the trained weights."""
    updates: int
    tokens: int
    seconds: float
    """Seconds of this process, without earlier interrupted ones."""
    loss: float
    """Loss of the last update, as defined by the objective."""
    skipped: int
    """Updates skipped because the loss or gradient was not finite."""
    dropped: dict[str, int]
    """Number of dropped units, by reason."""
    imagined: float
    """Share of imagined tokens."""
    resumed: int
    """The update from which training resumed; 0 for a run from the start."""


def main(argv: Sequence[str]) -> CommandResult:
    """Train, save the weights together with their prompting, and print the result.

    Of several processes that a launcher started, the first alone prints and writes.
    """
    settings = resolve(TrainSettings, "train", argv)
    settings.check()
    records = [run / FROZEN for run in settings.runs if (run / FROZEN).exists()]
    refuse_frozen(settings.out / MODEL, [judge for file in records for judge in read_frozen(file)])
    if _is_first():
        return _train_and_save(settings)
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        return _train_and_save(settings)


def _is_first() -> bool:
    return os.environ.get("RANK", "0") == "0"  # as torchrun and accelerate number processes


def _train_and_save(settings: TrainSettings) -> CommandResult:
    lived = load_experience(settings.runs, settings.score)
    asking = Asking(actions=settings.actions, observation=settings.observation)
    asking = asking.switched(settings.prompt)
    weights = _weights(settings, asking, lived.episodes)
    from loop.training.encoding import PromptEncoder, RunImages, build_reading

    known = (SiteMemory.read(settings.site_memory),) if settings.site_memory else ()
    writer = PromptEncoder(weights, asking, RunImages(settings.runs), known)
    units = build_units(settings, lived.episodes, lived.scores, writer.write, writer.encode)
    tokens = sum(unit.tokens for unit in units)
    plan = plan_units(settings.model or str(settings.out / FRESH), settings, units)
    if settings.plan:
        return print_plan(plan)
    found = f"{len(lived.episodes):,} episodes give {len(units):,} units of {tokens:,} tokens"
    if lived.held_out:
        found += f"; {lived.held_out:,} episodes on seeds of other splits are not learnt from"
    print(f"{found}. {settings.objective} on {settings.role}, into {settings.out}", flush=True)
    folder = settings.out / MODEL
    from loop.training.lessons import make_objective
    from webagent.training.language.run import train
    from webagent.training.language.trainer import Trainer

    trainer = Trainer(
        weights.module,
        make_objective(settings.weights),
        settings.course,
        reading=build_reading(weights, settings.runs),
        adapter=settings.adapter,
    )
    settings.out.mkdir(parents=True, exist_ok=True)
    report = train(trainer, units, settings.out, progress=_Progress())
    trainer.save(folder)
    if _is_first():
        weights.save_reading(folder)
        write_role(folder, settings.role)
        (settings.out / "report.json").write_text(json.dumps(asdict(report), indent=1) + "\n")
    if settings.role == "policy" and _is_first():
        asking.save(folder)
    left = "".join(f", {count:,} {reason}" for reason, count in report.dropped.items())
    print(
        f"{report.updates:,} updates on {report.tokens:,} tokens in {report.seconds:,.0f} s{left};"
        f" last loss {report.loss:.4f}\nweights: {folder}"
    )
    return CommandResult(Trained(**asdict(report), weights=str(folder)))


def _weights(
    settings: TrainSettings, asking: Asking, episodes: Sequence[Trajectory]
) -> "LoadedWeights":
    from webagent.models.local.loading import load_weights
    from webagent.models.local.source import ModelSource

    is_launched = int(os.environ.get("WORLD_SIZE", "1")) > 1
    name = settings.model or str(settings.out / FRESH)
    # The first of several processes goes before the others.
    first_alone: AbstractContextManager[None] = nullcontext()
    if is_launched:
        from accelerate import Accelerator  # type: ignore[import-untyped]

        first_alone = Accelerator().main_process_first()
    with first_alone:
        if not settings.model and not Path(name).is_dir():
            if not episodes:
                raise SetupError("no episodes with text to train a tokenizer on")
            from webagent.models.fresh import create_model

            seed = settings.seed
            texts = _texts(settings.role, episodes, asking)
            count = create_model(Path(name), texts, settings.shape, seed=seed)
            print(f"a model of {count:,} parameters was created in {name}", flush=True)
    # The trainer moves it to the GPU of its process, or a part of it to each.
    device = "cpu" if is_launched else "auto"
    return load_weights(ModelSource(name, dtype=settings.course.held_in, device=device))


def _texts(role: str, episodes: Sequence[Trajectory], asking: Asking) -> Iterator[str]:
    """Yield what a model of this role reads and writes at each step. A reward model, which has an
    own prompt as well, is shown the policy's without its fixed instructions, so that it spends no
    vocabulary on them."""
    policy = asking.policy(CannedModel(()))
    for episode in episodes:
        if role == "world":
            for _, messages, reply in make_world_lessons(episode):
                yield from (*(each.text for each in messages), reply)
            continue
        for index, step in enumerate(episode.steps):
            before = replace(episode, steps=episode.steps[:index], last=None, ending=None)
            shown = policy.brief(before, step.observation).messages
            yield from (each.text for each in shown if role == "policy" or each.role != "system")
            yield format_reply(step.decision)


class _Progress:
    """Prints progress and remaining time, one line every few seconds."""

    def __init__(self) -> None:
        self._printed = 0.0
        self._begun = (0.0, 0.0)
        """Time and share done at the first report; a resumed training begins late."""

    def __call__(self, done: float, figures: Mapping[str, float]) -> None:
        now = time.monotonic()
        began, before = self._begun = self._begun if self._begun[0] else (now, done)
        if done < 1 and now - self._printed < _LINE_SECONDS:
            return
        self._printed = now
        named = ", ".join(f"{name} {figures[name]:.4g}" for name in _SHOWN if name in figures)
        left = ""
        if before < done < 1:
            seconds = round((now - began) * (1 - done) / (done - before))
            left = f"  {timedelta(seconds=seconds)} left"
        print(f"{done:6.1%}{left}  {named}", flush=True)
