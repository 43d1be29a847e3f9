"""A judge that looks, under its name: a finished episode in, a verdict with its grounds out."""

import hashlib
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any

from evaluators.evaluator import Judged, Verdict
from evaluators.judge.conduct import claim_of
from evaluators.judge.court import Court, Hearing, seed_of
from evaluators.judge.examination import Examination, KeyPoint, Spending
from evaluators.judge.keypoints import Key, KeyPoints
from evaluators.judge.ruling import Ruling, check_claim, contradiction
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.variants import VARIANTS, Variant, told
from webagent.errors import ModelError, SetupError, unknown_name
from webagent.models.model import Model
from webagent.models.prompt import load_prompt
from webagent.models.replies import UnusableError
from webagent.records import Observation, Trajectory

Images = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Examiner:
    """One variant with its model, which says not only its verdict but what it found."""

    id: str
    variant: Variant
    court: Court
    key_points: KeyPoints
    prompt_hash: str

    async def examine(self, trajectory: Trajectory) -> Examination:
        """The judgement with its grounds and its cost.

        Abstains, with the reason, when there is nothing to see, when a reply cannot be used twice,
        when the votes do not agree, and when the model fails or is late: an outage is never a
        failure of the agent. Raises `ValueError` when the episode is under way.
        """
        if trajectory.ending is None:
            raise ValueError(f"episode {trajectory.id} is under way; only a finished one is judged")
        hearing = Hearing(self.court, seed_of(trajectory.id))
        if trajectory.ending.is_infrastructure:
            nothing = Ruling(abstains=f"nothing to judge: {trajectory.ending}")
            return self._recorded(trajectory, nothing, hearing)
        try:
            ruling = await self.variant.judge(hearing, trajectory, self.key_points)
        except ModelError as error:
            ruling = Ruling(abstains=f"the judge's model failed: {error}")
        except UnusableError as error:
            ruling = Ruling(abstains=f"the judge's reply could not be used: {error}")
        return self._recorded(trajectory, ruling, hearing)

    def judged(self, keep: Callable[[Examination], None] | None = None) -> Judged:
        """The evaluator; `keep` is given each examination as it is made."""

        async def judgement(trajectory: Trajectory) -> Verdict:
            examination = await self.examine(trajectory)
            if keep is not None:
                keep(examination)
            return examination.verdict

        return Judged(self.id, self.court.settings.score, judgement)

    def _recorded(self, trajectory: Trajectory, ruling: Ruling, hearing: Hearing) -> Examination:
        value, reason = ruling.verdict()
        claim = claim_of(trajectory)
        against = contradiction(claim, value, ruling.votes)
        return Examination(
            judge=self.id,
            episode=trajectory.id,
            value=value,
            reason="; ".join(filter(None, [against, reason, *hearing.notes])),
            key_points=ruling.key_points,
            shown=ruling.shown,
            votes=ruling.votes,
            claim=claim.stance,
            claim_check=check_claim(claim, value),
            notes=tuple(hearing.notes),
            prompt_hash=self.prompt_hash,
            spent=reduce(lambda spent, call: spent.after(*call), hearing.calls, Spending()),
        )


def judge_variant(
    name: str,
    model: Model,
    images: Images | None = None,
    *,
    keep: Callable[[Examination], None] | None = None,
    **settings: Any,
) -> Judged:
    """The evaluator of that name in `VARIANTS`; settings are those of `JudgeSettings` it takes.

    `images` looks a screenshot up by its reference, as a store's `images.get`. Raises `SetupError`
    for a name or a setting that the variant does not know.
    """
    return examiner(name, model, images, **settings).judged(keep)


def examiner(
    name: str,
    model: Model,
    images: Images | None = None,
    *,
    key_points: Mapping[str, Sequence[str | KeyPoint]] | None = None,
    kept: MutableMapping[Key, tuple[KeyPoint, ...]] | None = None,
    render: Callable[[Observation], str] | None = None,
    **settings: Any,
) -> Examiner:
    """The variant with its grounds, as `judge_variant`.

    `key_points` gives points by the task's text, `kept` is where found ones are kept for other
    judges or another time; `render` writes a page in another form.
    """
    if name not in VARIANTS:
        raise unknown_name("judge", name, VARIANTS)
    variant = VARIANTS[name]
    chosen = replace(variant.settings, **_taken(name, variant, settings))
    prompts = [load_prompt(path).hash for path in variant.prompts]
    prompt_hash = _joined([*prompts, *(path.read_text("utf-8") for path in variant.lexicons)])
    given = dict(key_points or {})
    parts = [model.name, told(variant, chosen)]
    if not (images is not None and model.capabilities.images):
        parts.append("without screenshots")
    if given:
        parts.append(f"points {_joined([str(sorted(given.items()))])[:8]}")
    return Examiner(
        id=f"{name}[{'; '.join(parts)}]@1#{prompt_hash}",
        variant=variant,
        court=Court(model, chosen, images, render),
        key_points=KeyPoints(variant.rules, given, {} if kept is None else kept),
        prompt_hash=prompt_hash,
    )


def looking_judge(
    model: Model,
    images: Images | None = None,
    settings: JudgeSettings | None = None,
    *,
    render: Callable[[Observation], str] | None = None,
    keep: Callable[[Examination], None] | None = None,
) -> Judged:
    """The variant `evidence` with its settings in one record."""
    takes = VARIANTS["evidence"].takes
    chosen = settings or JudgeSettings()
    named = {each.name: getattr(chosen, each.name) for each in fields(chosen) if each.name in takes}
    return examiner("evidence", model, images, render=render, **named).judged(keep)


def _taken(name: str, variant: Variant, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    for each in settings:
        if each not in variant.takes:
            raise unknown_name(f"setting of the judge {name}", each, variant.takes)
    if settings.get("votes", 1) < 1 or settings.get("pages", 1) < 1:
        raise SetupError(f"the judge {name} needs at least one page and one vote, found {settings}")
    return settings


def _joined(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
