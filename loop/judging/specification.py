"""Evaluators by name, as `cascade(rules, reward:FOLDER, judge)`, made, frozen and verified."""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.rules import Means, checks_hold
from evaluators.combine import CountedModel, EvaluatorTally, cascade, unsure_abstains, vote
from evaluators.evaluator import FunctionEvaluator, Verdict
from evaluators.frozen import FrozenJudge, add_frozen, freeze, read_frozen
from evaluators.judge import judge_variant
from loop.own_code import load_own_judge
from webagent.agent.actor import language_model
from webagent.errors import SetupError, UsageError
from webagent.models.model import Model
from webagent.models.spending import Ledger, MeteredModel
from webagent.models.weight_notes import check_role, read_role
from webagent.records import Trajectory

if TYPE_CHECKING:
    from evaluators.reward.language import LanguageReward
    from loop.policies import NamedPolicy

FORMS = (
    *("rules", "consulted", "judge:VARIANT", "reward:FOLDER", "chance:FOLDER"),
    *("vote(A, B, …)", "vote[2,1](A, B)", "cascade(A, B, …)", "cascade[2](A, B, …)"),
    *("unsure[0.2,0.8](A)", "python:FILE.py:NAME"),
)
_LEARNED = ("reward", "chance")
_ASKING = ("judge", "consulted")
_ATOMS = ("rules", *_ASKING, *_LEARNED, "python")
_COMBINED = ("vote", "cascade", "unsure")
_HEAD = re.compile(r"\s*([\w-]+)\s*(?:\[([^\]]*)\])?\s*\(")


@asynccontextmanager
async def open_judge_model(
    named: "NamedPolicy | None", ledger: Ledger
) -> AsyncIterator[Model | None]:
    """Yield the model that judges ask, its requests booked; None where nobody asks one."""
    if named is None:
        yield None
        return
    model = CountedModel(MeteredModel(named.language_model(), ledger, "judge"))
    try:
        yield model
    finally:
        await model.close()


@dataclass(frozen=True, slots=True)
class EvaluatorSpec:
    """An evaluator as it was named, not made yet."""

    kind: str
    argument: str = ""
    """What stands after the colon."""
    numbers: tuple[float, ...] = ()
    """What stands in square brackets."""
    parts: tuple["EvaluatorSpec", ...] = ()

    def leaves(self) -> tuple["EvaluatorSpec", ...]:
        """Itself, or those it is made of."""
        return tuple(leaf for part in self.parts for leaf in part.leaves()) or (self,)

    @property
    def asks_a_model(self) -> bool:
        """Whether a language model is needed."""
        return any(leaf.kind in _ASKING for leaf in self.leaves())

    @property
    def learned(self) -> tuple["EvaluatorSpec", ...]:
        """The parts that have weights."""
        return tuple(leaf for leaf in self.leaves() if leaf.kind in _LEARNED)


@dataclass(frozen=True, slots=True)
class EvaluatorBuilder:
    """What evaluators are made with."""

    model: Model | None = None
    """Of the judges; there has to be one where a judge is named."""
    images: Callable[[str], bytes] | None = None
    seconds: float | None = None
    """That a member of a vote or cascade may take."""
    tallies: dict[str, EvaluatorTally] = field(default_factory=dict)
    """By the ids of votes and cascades; filled as those are made."""
    kept: Mapping[str, EvaluatorTally] = field(default_factory=dict)
    """Tallies of earlier sessions, to go on with."""

    def evaluator(self, spec: EvaluatorSpec) -> FunctionEvaluator:
        """It, ready to score. Raises `SetupError` or `ModelError` for what cannot be made."""
        parts = [self.evaluator(part) for part in spec.parts]
        match spec.kind:
            case "rules":
                return checks_hold(spec.argument or "success", Means(images=self.images))
            case "consulted":
                means = Means(self._require_model("consulted rules ask"), self.images)
                return checks_hold(spec.argument or "success", means)
            case "judge":
                return build_judge(spec.argument, self._require_model("a judge asks"), self.images)
            case "reward":
                return _load_reward(Path(spec.argument)).evaluator()
            case "chance":
                return judge_by_chance(_load_reward(Path(spec.argument)))
            case "python":
                return load_own_judge(spec.argument)
            case "unsure":
                return unsure_abstains(parts[0], *spec.numbers)
            case "vote":
                weights = spec.numbers or None
                return self._tallied(
                    lambda tally: vote(*parts, weights=weights, tally=tally, seconds=self.seconds)
                )
            case _:
                agree = int(spec.numbers[0]) if spec.numbers else 1
                return self._tallied(
                    lambda tally: cascade(*parts, agree=agree, tally=tally, seconds=self.seconds)
                )

    def _tallied(self, make: Callable[[EvaluatorTally], FunctionEvaluator]) -> FunctionEvaluator:
        """It with the tally that was kept under its name."""
        name = make(EvaluatorTally()).id
        return make(self.tallies.setdefault(name, self.kept.get(name) or EvaluatorTally()))

    def _require_model(self, who: str) -> Model:
        if self.model is None:
            raise UsageError(
                f"{who} a model; name it with --model for an endpoint, or with --policy"
                " local:FOLDER"
            )
        return self.model


def build_judge(
    variant: str, model: Model, images: Callable[[str], bytes] | None = None
) -> FunctionEvaluator:
    """The judge that looks, by the name of its variant. Raises `SetupError` for another."""
    return judge_variant(variant or "evidence", model, images)


def name_evaluator(judged: FunctionEvaluator) -> str:
    """What an evaluator is called here: its id, and its score where that is not success."""
    return judged.id if judged.score == "success" else f"{judged.id} ({judged.score})"


def parse_evaluator(text: str) -> EvaluatorSpec:
    """The evaluator that a text asks for. Raises `SetupError` saying what is wrong with it."""
    spec, rest = _parse(text, text)
    if rest.strip():
        raise UsageError(f"in the evaluator {text!r} {rest.strip()!r} is not expected")
    return spec


def _parse(text: str, whole: str) -> tuple[EvaluatorSpec, str]:
    """The first evaluator in a text, and what follows it."""
    head = _HEAD.match(text)
    if head is not None and head[1] in _COMBINED:
        return _parse_combined(head[1], head[2], text[head.end() :], whole)
    atom = re.match(r"[^,()]*", text)
    name = atom[0].strip() if atom else ""
    kind, _, argument = name.partition(":")
    if kind not in _ATOMS:
        raise UsageError(
            f"in {whole!r}: {name!r} is not an evaluator; expected one of {', '.join(FORMS)}"
        )
    if kind in _LEARNED and not argument:
        raise UsageError(f"in {whole!r}: {kind} names no folder; give it as {kind}:FOLDER")
    return EvaluatorSpec(kind, argument), text[len(atom[0]) if atom else 0 :]


def _parse_combined(
    kind: str, bracket: str | None, text: str, whole: str
) -> tuple[EvaluatorSpec, str]:
    parts = []
    while True:
        part, text = _parse(text, whole)
        parts.append(part)
        text = text.lstrip()
        if text[:1] not in (",", ")"):
            raise UsageError(f"in the evaluator {whole!r} a bracket is not closed")
        is_end, text = text[0] == ")", text[1:]
        if is_end:
            break
    try:
        numbers = tuple(float(part) for part in (bracket or "").split(",") if part.strip())
    except ValueError:
        raise UsageError(f"in the evaluator {whole!r}: [{bracket}] must be numbers") from None
    spec = EvaluatorSpec(kind, "", numbers, tuple(parts))
    count = len(parts)
    usable = {
        "vote": not numbers or (len(numbers) == count and min(numbers) > 0),
        "cascade": not numbers
        or (len(numbers) == 1 and numbers[0].is_integer() and 1 <= numbers[0] <= count),
        "unsure": count == 1 and len(numbers) == 2 and numbers[0] < numbers[1],
    }
    if not usable[spec.kind]:
        expected = {
            "vote": "a positive weight for each voter, as vote[2,1](A, B)",
            "cascade": "how many have to agree, no more than there are, as cascade[2](A, B, C)",
            "unsure": "the range of values that say nothing, as unsure[0.2,0.8](A)",
        }[spec.kind]
        raise UsageError(f"in the evaluator {whole!r}: expected {expected}")
    return spec, text


def _load_reward(folder: Path) -> "LanguageReward":
    """Return the reward model in a folder."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; name one that reward weights were saved to")
    if read_role(folder) == "judge":
        raise UsageError(
            f"{folder} holds a judge of built-in size, which this version does not have; train a"
            " language model with webagent train RUN --role reward"
        )
    check_role(folder, ["reward"], f"reward:{folder}")
    if (folder / "calibration.json").exists():
        raise UsageError(
            f"{folder} has a calibration.json, but reward models are no longer calibrated: delete"
            " it, and episodes pass at a probability of one half"
        )
    from evaluators.reward.language import LanguageReward

    return LanguageReward(language_model(str(folder), ["reward"]))


def judge_by_chance(model: "LanguageReward") -> FunctionEvaluator:
    """Return its probability as it is, for measuring calibration and so that `unsure` has a
    range."""

    async def judge(trajectory: Trajectory) -> Verdict:
        chance = await model.probability(trajectory)
        return Verdict(chance, f"P(success) = {chance:.3f}")

    return FunctionEvaluator(f"chance({model.evaluator().id})", "success", judge)


FILE = "frozen.json"


def freeze_judge(run: Path, making: EvaluatorBuilder, text: str) -> list[FrozenJudge]:
    """Keep which judge this is, and the weights of its learned parts; the records.

    Raises `SetupError` where the run has it frozen with other content.
    """
    records = _freeze_parts(making, text)
    add_frozen(run / FILE, records)
    return records


def read_frozen_specs(run: Path) -> list[str]:
    """How the frozen judges are named. Raises `SetupError` when the run has none."""
    found = [judge.spec for judge in read_frozen(run / FILE) if judge.spec]
    if not found:
        raise SetupError(f"{run / FILE} names no judge that webagent judge --freeze has frozen")
    return list(dict.fromkeys(found))


def verify_judges(run: Path, making: EvaluatorBuilder, texts: Sequence[str]) -> list[FrozenJudge]:
    """Make the judges again and hold them against their records. Raises `SetupError`."""
    kept = read_frozen(run / FILE)
    for text in texts:
        before = [judge for judge in kept if judge.spec == text]
        for then, now in zip(before, _freeze_parts(making, text), strict=True):
            if then != now:
                raise SetupError(
                    f"the judge {text!r} is not the frozen one: expected"
                    f" {_describe_frozen(then)}, found {_describe_frozen(now)}; restore it or start"
                    " a new run, as their scores cannot be compared"
                )
    return [judge for judge in kept if judge.spec in texts]


def _freeze_parts(making: EvaluatorBuilder, text: str) -> list[FrozenJudge]:
    """The whole, then each learned part with its weights, as they are what training may not touch.

    A learned model by itself is one record.
    """
    spec = parse_evaluator(text)
    learned = [
        replace(freeze(making.evaluator(leaf), Path(leaf.argument)), spec=text)
        for leaf in spec.learned
    ]
    whole = replace(freeze(making.evaluator(spec)), spec=text)
    return learned if spec.learned == (spec,) else [whole, *learned]


def _describe_frozen(judge: FrozenJudge) -> str:
    weights = f" with the weights {judge.weights[:12]}" if judge.weights else ""
    return f"{judge.evaluator!r}{weights}"
