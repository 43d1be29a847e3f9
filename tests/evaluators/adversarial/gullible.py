"""Models that judge as badly as one can, each in its own way, whatever the judge asks them."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evaluators.evaluator import FunctionEvaluator, Verdict, evaluator
from evaluators.judge import judge_variant
from evaluators.judge.evidence import appears_in
from evaluators.judge.pages import format_page
from webagent.action import Answer
from webagent.models import CannedModel
from webagent.models.model import Capabilities, Completion, Message
from webagent.observation import render
from webagent.records import Observation, Trajectory

_PAGE = re.compile(r"<<<page (\d+) ")
_BOASTS = re.compile(
    r"complete|done|success|finished|passed|met\b|confirmed|carried out|solved|reached", re.I
)

Quote = Callable[[Trajectory], str]


@dataclass(slots=True)
class Believer:
    """Says that all is well, with one quote; its reply has whichever form a judge may ask for."""

    quote: str
    stated: str
    asks: str = "state"
    name: str = "believer"
    capabilities: Capabilities = field(default_factory=Capabilities)

    async def complete(self, prompt: Sequence[Message], **settings: object) -> Completion:
        """Success, seen on the last page that is shown."""
        shown = _PAGE.findall("\n".join(message.text for message in prompt))
        reply = self._reply(f"page {shown[-1] if shown else 1}")
        return await CannedModel([reply], name=self.name).complete(prompt)

    async def close(self) -> None:
        """Nothing is held."""

    def _reply(self, where: str) -> str:
        found = {"where": where, "quote": self.quote, "verdict": "met"}
        compared = {"point": 1, "agreement": "agrees", "stated": self.stated}
        judgement = {
            "points": [{"point": "the task is done", **found}],
            "findings": [{"point": 1, **found}],
            "comparisons": [compared],
            "outcome": "success",
            "reason": "it is done",
        }
        return f"1. [{self.asks}] the task is done\n{json.dumps(judgement)}"


def gullible_judge(quote: Quote, asks: str = "state") -> FunctionEvaluator:
    """The judge that looks, around a model that passes everybody with that quote."""

    @evaluator(f"gullible[{quote.__name__}]")
    async def judge(trajectory: Trajectory) -> Verdict:
        model = Believer(quote(trajectory), claim(trajectory), asks)
        score = await judge_variant("evidence", model)(trajectory)
        return Verdict(score.value, score.reason)

    return judge


def claim(trajectory: Trajectory) -> str:
    """What the agent says of itself; where it says nothing, what it might have said."""
    action = trajectory.steps[-1].decision.action
    return action.text if isinstance(action, Answer) else "The task is complete."


def news(trajectory: Trajectory) -> str:
    """What an honest reader would quote: of the last page's new lines the one most on the task."""
    pages = [format_page(step.observation, render) for step in trajectory.steps]
    last = format_page(trajectory.last, render) if trajectory.last else ""
    lines = [line.strip() for line in last.splitlines()]
    return max(
        (line for line in lines if line and not appears_in(line, pages[0])),
        key=lambda line: _shared(line, trajectory.goal),
        default="",
    )


def _shared(line: str, goal: str) -> int:
    return len(set(re.findall(r"\w+", line.casefold())) & set(re.findall(r"\w+", goal.casefold())))


def boast(trajectory: Trajectory) -> str:
    """What a page says of the task, if it says anything: the line that boasts most."""
    page = trajectory.last or Observation("", "", "", ())
    lines = [node.name for node in page.nodes if not node.mark]
    best = max(lines, key=lambda line: len(_BOASTS.findall(line)), default="")
    return best if _BOASTS.search(best) else "Task complete!"
