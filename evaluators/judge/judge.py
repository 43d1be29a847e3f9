"""Judges by name: a finished trajectory in, a verdict with its report out."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from pathlib import Path
from typing import Any

from evaluators.evaluator import FunctionEvaluator, Verdict
from evaluators.judge import evidence, keypoints, published
from evaluators.judge.keypoints import Key, KeyPointFinder
from evaluators.judge.pages import LEXICON, find_claim
from evaluators.judge.report import (
    JudgementReport,
    JudgeOutcome,
    KeyPoint,
    Spending,
    check_claim,
    explain_contradiction,
)
from evaluators.judge.session import JudgeContext, JudgeSession, VariantSettings, seed_of
from webagent.errors import ModelError, SetupError, unknown_name
from webagent.models.model import Model
from webagent.models.prompt import load_prompt
from webagent.models.replies import UnusableError
from webagent.records import Observation, Trajectory

_ALWAYS = frozenset(("show", "page_tokens", "votes", "temperature", "max_tokens"))


@dataclass(frozen=True, slots=True)
class JudgeVariant:
    """One way to judge."""

    summary: str
    judge: Callable[[JudgeSession, Trajectory, KeyPointFinder], Awaitable[JudgeOutcome]]
    prompts: tuple[Path, ...]
    settings: VariantSettings
    takes: frozenset[str]
    """Names of the settings that mean something to it."""
    rules: str = "evidence"
    """Section of the key points' prompt."""
    lexicons: tuple[Path, ...] = ()
    """Words that decide what it accepts; they are part of its id as its prompts are."""


VARIANTS = {
    "evidence": JudgeVariant(
        "key points, the pages that bear on each, quotes looked up, the answer compared afterwards",
        evidence.judge_by_evidence,
        (evidence.PROMPT, keypoints.PROMPT, keypoints.RELEVANCE_PROMPT, evidence.COMPARE),
        VariantSettings(),
        _ALWAYS | {"pages", "screenshots", "relevance", "threshold"},
        lexicons=(LEXICON,),
    ),
    "webvoyager": JudgeVariant(
        "task, final answer, last screenshots (WebVoyager)",
        published.judge_as_webvoyager,
        (published.PROMPT,),
        VariantSettings(pages=15, max_tokens=1000),
        _ALWAYS | {"pages", "answer_needed"},
    ),
    "pae": JudgeVariant(
        "task, final answer, last three screenshots, stricter (Proposer-Agent-Evaluator)",
        published.judge_as_pae,
        (published.PROMPT,),
        VariantSettings(pages=3, max_tokens=1000),
        _ALWAYS | {"pages", "answer_needed"},
    ),
    "webjudge": JudgeVariant(
        "key points, screenshots that score enough, actions; no answer (Online-Mind2Web)",
        published.judge_as_webjudge,
        (published.PROMPT, keypoints.PROMPT, keypoints.RELEVANCE_PROMPT),
        VariantSettings(pages=50),
        _ALWAYS | {"pages", "threshold"},
        rules="webjudge",
    ),
    "agentrewardbench": JudgeVariant(
        "goal, actions with reasoning, last screenshot or tree; four answers (AgentRewardBench)",
        published.judge_as_agentrewardbench,
        (published.PROMPT,),
        VariantSettings(page_tokens=16_000, max_tokens=1024),
        _ALWAYS,
    ),
}


Images = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """One variant with its model, which says not only its verdict but what it found."""

    id: str
    variant: JudgeVariant
    context: JudgeContext
    key_points: KeyPointFinder
    prompt_hash: str

    async def examine(self, trajectory: Trajectory) -> JudgementReport:
        """Return the verdict with its evidence and its cost.

        Abstains, with the reason, when there is nothing to see, when a reply cannot be used twice,
        when the votes do not agree, and when the model fails: an outage is never a
        failure of the agent. Raises `ValueError` when the episode is under way.
        """
        if trajectory.ending is None:
            raise ValueError(
                f"episode {trajectory.id} is in progress; only a finished one is judged"
            )
        session = JudgeSession(self.context, seed_of(trajectory.id))
        try:
            if trajectory.ending.is_infrastructure:
                outcome = JudgeOutcome(abstains=f"nothing to judge: {trajectory.ending}")
            else:
                outcome = await self.variant.judge(session, trajectory, self.key_points)
        except ModelError as error:
            outcome = JudgeOutcome(abstains=f"the judge's model failed: {error}")
        except UnusableError as error:
            outcome = JudgeOutcome(abstains=f"the judge's reply could not be used: {error}")
        value, reason = outcome.verdict()
        claim = find_claim(trajectory)
        contradiction = explain_contradiction(claim, value, outcome.votes)
        return JudgementReport(
            judge=self.id,
            episode=trajectory.id,
            value=value,
            reason="; ".join(filter(None, [contradiction, reason, *session.notes])),
            key_points=outcome.key_points,
            shown=outcome.shown,
            votes=outcome.votes,
            claim=claim.stance,
            claim_check=check_claim(claim, value),
            notes=tuple(session.notes),
            prompt_hash=self.prompt_hash,
            spent=reduce(lambda spent, call: spent.after(*call), session.calls, Spending()),
        )

    def evaluator(self, keep: Callable[[JudgementReport], None] | None = None) -> FunctionEvaluator:
        """Return the evaluator; `keep` is given each report as it is made."""

        async def judgement(trajectory: Trajectory) -> Verdict:
            report = await self.examine(trajectory)
            if keep is not None:
                keep(report)
            return report.verdict

        return FunctionEvaluator(self.id, "success", judgement)


def judge_variant(
    name: str,
    model: Model,
    images: Images | None = None,
    *,
    keep: Callable[[JudgementReport], None] | None = None,
    **settings: Any,
) -> FunctionEvaluator:
    """Return the evaluator of that name in `VARIANTS`, with those of `VariantSettings` it takes.

    `images` looks a screenshot up by its reference, as a store's `images.get`. Raises `SetupError`
    for a name or a setting that the variant does not know.
    """
    return build_judge(name, model, images, **settings).evaluator(keep)


def build_judge(
    name: str,
    model: Model,
    images: Images | None = None,
    *,
    key_points: Mapping[str, Sequence[str | KeyPoint]] | None = None,
    kept: MutableMapping[Key, tuple[KeyPoint, ...]] | None = None,
    render: Callable[[Observation], str] | None = None,
    **settings: Any,
) -> ModelJudge:
    """Return the variant as a judge that reports what it found; settings as for `judge_variant`.

    `key_points` gives points by the task's text, `kept` is where found ones are kept for other
    judges or another time; `render` writes a page in another form.
    """
    if name not in VARIANTS:
        raise unknown_name("judge", name, VARIANTS)
    variant = VARIANTS[name]
    unknown = [each for each in settings if each not in variant.takes]
    if unknown:
        raise unknown_name(f"setting of the judge {name}", unknown[0], variant.takes)
    if settings.get("votes", 1) < 1 or settings.get("pages", 1) < 1:
        raise SetupError(f"the judge {name} needs at least one page and one vote, found {settings}")
    chosen = replace(variant.settings, **settings)
    prompts = [load_prompt(path).hash for path in variant.prompts]
    prompt_hash = _hash_parts([*prompts, *(path.read_text("utf-8") for path in variant.lexicons)])
    given = dict(key_points or {})
    # The settings that decide a verdict are part of the id.
    names = [each.name for each in fields(chosen) if each.name in variant.takes]
    parts = [model.name, " ".join(f"{each}={getattr(chosen, each)}" for each in names)]
    if not (images is not None and model.capabilities.images):
        parts.append("without screenshots")
    if given:
        parts.append(f"points {_hash_parts([str(sorted(given.items()))])[:8]}")
    return ModelJudge(
        id=f"{name}[{'; '.join(parts)}]@1#{prompt_hash}",
        variant=variant,
        context=JudgeContext(model, chosen, images, render),
        key_points=KeyPointFinder(variant.rules, given, {} if kept is None else kept),
        prompt_hash=prompt_hash,
    )


def _hash_parts(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
