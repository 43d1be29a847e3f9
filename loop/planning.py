"""What training a local language model takes, found from settings before anything is spent."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loop.console.output import CommandResult
from loop.measurement.settings import contestant
from loop.settings import ImproveConfig
from loop.training.settings import TrainSettings
from webagent.agent.asking import MAX_TOKENS
from webagent.errors import SetupError, UsageError
from webagent.models.weight_notes import resolve_unchanged

if TYPE_CHECKING:
    from webagent.training.language.config import TrainConfig
    from webagent.training.language.plan import Lengths
    from webagent.training.language.units import TrainingUnit

Facts = list[tuple[str, str]]
PASSES = 2
"""Passes over a round's rows where no tokens are given."""
_AROUND_THE_PAGE = 1_500
"""Tokens of a prompt beside the page's text: instructions, examples, what was done so far."""
_SCREENSHOT = 1_300
"""Tokens of a screenshot of 1280 by 720 pixels, as Qwen2.5-VL counts them."""
_REPLY = 60
"""Tokens of a usual reply."""
_REFERRING = ("dpo",)


def find_base(place: str) -> str:
    """Return the weights that an adapter lies on; a folder without an adapter is its own."""
    noted = Path(place, "adapter_config.json")
    if not noted.is_file():
        return place
    return str(json.loads(noted.read_text(encoding="utf-8"))["base_model_name_or_path"])


def plan_rounds(config: ImproveConfig) -> Facts:
    """Return what a run trains a round and what that takes.

    Raises `UsageError` for a policy that has no weights here, `SetupError` for what cannot fit.
    """
    from transformers import AutoConfig

    from webagent.training.language.plan import Lengths, sees_images

    if config.learner != "local":
        raise UsageError(
            f"--plan is for --policy local:FOLDER; {config.model.policy} is trained in minutes or"
            " not at all"
        )
    named = contestant(config.played)
    named.check()
    around = _AROUND_THE_PAGE + _SCREENSHOT * named.images * named.asking.prompting.screenshots
    longest = MAX_TOKENS + around + min(config.prompting.max_tokens, 512)
    lengths = Lengths(longest, MAX_TOKENS // 3 + around, _REPLY)
    tokens = config.round_tokens
    passes = PASSES if tokens is None else 1
    rows = config.steps if tokens is None else max(1, tokens // lengths.usual)
    course = config.fit.course(config.weights.lora, tokens=tokens or 0, epochs=passes)
    base = find_base(resolve_unchanged(named.place))
    if named.images and not sees_images(AutoConfig.from_pretrained(base)):
        raise UsageError(
            f"{base} looks at no images, and --images, or the preset, shows it some; give"
            " --no-images --observation text, or name a model that looks"
        )
    facts = _plan(
        base, course, lengths, config.weights.objective, config.run.concurrency, not config.plan
    )
    spent = rows * passes * lengths.usual
    updates = max(1, rows * passes // course.batch(rows))
    return [
        ("rows a round", f"{config.steps:,} at most, of {longest:,} tokens at most"),
        ("tokens a round", f"{spent:,} at most, in {updates:,} updates"),
        *facts,
        ("training", _time(base, course, lengths, spent * config.rounds, "all rounds of an arm")),
    ]


def plan_units(name: str, settings: TrainSettings, units: "Sequence[TrainingUnit]") -> Facts:
    """Return what a training on these units takes. Raises `SetupError` for what cannot fit."""
    from webagent.training.language.plan import Lengths

    rows = [row for unit in units for row in unit.rows]
    taught = sum(sum(map(bool, row.weights)) for row in rows)
    tokens = sum(len(row.ids) for row in rows)
    longest = max(len(row.ids) for row in rows)
    lengths = Lengths(longest, max(1, tokens // len(rows)), max(1, taught // len(rows)))
    course = settings.course
    facts = _plan(name, course, lengths, settings.objective, 1, not settings.plan)
    spent = min(settings.tokens or tokens * course.epochs, tokens * course.epochs)
    updates = max(1, spent * len(units) // tokens // course.batch(len(units)))
    return [
        ("rows", f"{len(rows):,} of {lengths.usual:,} tokens, the longest of {longest:,}"),
        ("tokens", f"{spent:,} in {updates:,} updates"),
        *facts,
        ("training", _time(name, course, lengths, spent, "")),
    ]


def _plan(
    name: str,
    course: "TrainConfig",
    lengths: "Lengths",
    objective: str,
    at_once: int,
    must_fit: bool,
) -> Facts:
    import torch

    from webagent.training.language.plan import find_misfit, format_plan, plan_memory

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    refers = objective in _REFERRING
    plan = plan_memory(name, course, lengths, device=device, rows=at_once, has_reference=refers)
    misfit = find_misfit(
        name, course, lengths, plan, device=device, rows=at_once, has_reference=refers
    )
    if misfit and must_fit:
        raise SetupError(misfit)
    return [*format_plan(plan, course, lengths), *([("but", misfit)] if misfit else [])]


def _time(name: str, course: "TrainConfig", lengths: "Lengths", tokens: int, of: str) -> str:
    import torch

    from webagent.training.language.plan import estimate_hours, measure_speed, plan_memory

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    speed = measure_speed(device, torch.bfloat16 if course.bf16 else torch.float32)
    plan = plan_memory(name, course, lengths, device=device)
    hours = estimate_hours(plan, tokens, speed, course)
    return f"about {hours:,.1f} hours {of} ({speed / 1e12:,.2f} TFLOPS measured here)"


def print_plan(facts: Facts) -> CommandResult:
    """Print what was planned."""
    for name, value in facts:
        print(f"{name:<32} {value}")
    return CommandResult({"plan": dict(facts)})
