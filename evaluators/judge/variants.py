"""The judges by name: what each takes, what it reads its prompts from, and how it judges."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from pathlib import Path

from evaluators.judge import evidence, hearsay, keypoints, published, relevance
from evaluators.judge.court import Hearing
from evaluators.judge.keypoints import KeyPoints
from evaluators.judge.ruling import Ruling
from evaluators.judge.settings import JudgeSettings
from webagent.records import Trajectory

Judging = Callable[[Hearing, Trajectory, KeyPoints], Awaitable[Ruling]]

_ALWAYS = frozenset(
    ("show", "page_tokens", "votes", "temperature", "max_tokens", "timeout", "score")
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to judge."""

    summary: str
    judge: Judging
    prompts: tuple[Path, ...]
    settings: JudgeSettings
    takes: frozenset[str]
    """Names of the settings that mean something to it."""
    rules: str = "evidence"
    """Section of the key points' prompt."""
    lexicons: tuple[Path, ...] = ()
    """Words that decide what it accepts; they are part of its id as its prompts are."""


VARIANTS = {
    "evidence": Variant(
        "key points, the pages that bear on each, quotes looked up, the answer compared afterwards",
        evidence.judge_by_evidence,
        (evidence.PROMPT, keypoints.PROMPT, relevance.PROMPT, evidence.COMPARE),
        JudgeSettings(),
        _ALWAYS | {"pages", "screenshots", "relevance", "threshold"},
        lexicons=(hearsay.LEXICON,),
    ),
    "webvoyager": Variant(
        "task, final answer, last screenshots (WebVoyager)",
        published.judge_as_webvoyager,
        (published.PROMPT,),
        JudgeSettings(pages=15, max_tokens=1000),
        _ALWAYS | {"pages", "answer_needed"},
    ),
    "pae": Variant(
        "task, final answer, last three screenshots, stricter (Proposer-Agent-Evaluator)",
        published.judge_as_pae,
        (published.PROMPT,),
        JudgeSettings(pages=3, max_tokens=1000),
        _ALWAYS | {"pages", "answer_needed"},
    ),
    "webjudge": Variant(
        "key points, screenshots that score enough, actions; no answer (Online-Mind2Web)",
        published.judge_as_webjudge,
        (published.PROMPT, keypoints.PROMPT, relevance.PROMPT),
        JudgeSettings(pages=50),
        _ALWAYS | {"pages", "threshold"},
        rules="webjudge",
    ),
    "agentrewardbench": Variant(
        "goal, actions with reasoning, last screenshot or tree; four answers (AgentRewardBench)",
        published.judge_as_agentrewardbench,
        (published.PROMPT,),
        JudgeSettings(page_tokens=16_000, max_tokens=1024),
        _ALWAYS,
    ),
}


def told(variant: Variant, settings: JudgeSettings) -> str:
    """The settings that decide a verdict, as they stand in the judge's id."""
    names = [each.name for each in fields(settings) if each.name in variant.takes]
    return " ".join(
        f"{name}={getattr(settings, name)}" for name in names if name not in ("timeout", "score")
    )
