"""Judges fixed by their content in a run folder, and checked to be what they were."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluators.frozen import FrozenJudge, add_frozen, freeze, read_frozen
from loop.judging.specification import Making, read_spec
from webagent.errors import SetupError

FILE = "frozen.json"


def freeze_into(run: Path, making: Making, text: str) -> list[FrozenJudge]:
    """Keep which judge this is, and the weights of its learned parts; the records.

    Raises `SetupError` where the run has it frozen with other content.
    """
    records = _records(making, text)
    add_frozen(run / FILE, records)
    return records


def frozen_specs(run: Path) -> list[str]:
    """How the frozen judges are asked for. Raises `SetupError` when the run has none."""
    found = [judge.spec for judge in read_frozen(run / FILE) if judge.spec]
    if not found:
        raise SetupError(f"{run / FILE} names no judge that webagent judge --freeze has frozen")
    return list(dict.fromkeys(found))


def verify_in(run: Path, making: Making, texts: Sequence[str]) -> list[FrozenJudge]:
    """Make the judges again and hold them against their records. Raises `SetupError`."""
    kept = read_frozen(run / FILE)
    for text in texts:
        before = [judge for judge in kept if judge.spec == text]
        for then, now in zip(before, _records(making, text), strict=True):
            if then != now:
                raise SetupError(
                    f"the judge {text!r} is not the frozen one: expected {_told(then)}, found"
                    f" {_told(now)}; restore it or start a new run, as their scores cannot be"
                    " compared"
                )
    return [judge for judge in kept if judge.spec in texts]


def _records(making: Making, text: str) -> list[FrozenJudge]:
    """The whole, then each learned part with its weights, as they are what training may not touch.

    A learned model by itself is one record.
    """
    spec = read_spec(text)
    learned = [
        replace(freeze(making.evaluator(leaf), Path(leaf.argument)), spec=text)
        for leaf in spec.learned
    ]
    whole = replace(freeze(making.evaluator(spec)), spec=text)
    return learned if spec.learned == (spec,) else [whole, *learned]


def _told(judge: FrozenJudge) -> str:
    weights = f" with the weights {judge.weights[:12]}" if judge.weights else ""
    return f"{judge.evaluator!r}{weights}"
