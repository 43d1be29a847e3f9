"""The same cases through the official scorer and through our rules, side by side."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.rules import Means, checks_hold
from benchmarks.task_files import FileEntry
from benchmarks.webarena.evaluation import Checking
from tasks.task import Json, Task
from tests.benchmarks.webarena.official import environment
from webagent.action import Answer
from webagent.models.model import Capabilities, Completion, Reply
from webagent.records import Decision, Ending, Observation, Step, Trajectory

SHOWN = re.compile(
    r"(?:The reference answer|Why it cannot be done):\n\n(.*)\n\nThe (?:answer to mark|reason that"
    r" was given):\n\n<<<\w+ (\w+)\n(.*)\n\w+ \2>>>",
    re.DOTALL,
)


class Comparing:
    """A model that says whether the reference stands in what was said, as the child's does.

    Of a picture it says its caption.
    """

    name = "comparing"
    capabilities = Capabilities(images=True)

    def __init__(self, captions: Mapping[bytes, str] | None = None) -> None:
        self._captions = captions or {}

    async def complete(self, prompt: Any, **_: Any) -> Completion:
        """`correct` and `same` or their opposites, or the caption."""
        text = prompt[1].text
        if prompt[1].images:
            return Completion((Reply(self._captions[prompt[1].images[0]]),), self.name)
        match = SHOWN.search(text)
        assert match, text
        words = ("incorrect", "correct") if "answer to mark" in text else ("different", "same")
        return Completion((Reply(words[match[1].lower() in match[3].lower()]),), self.name)

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class Case:
    """A task's `eval` with one kind of check, and what it is applied to."""

    task: int
    config: dict[str, Any]
    answer: str = ""
    url: str = "http://page.test/"
    content: Any = ""
    throws: bool = False
    pictures: tuple[str, ...] = ()
    captions: Mapping[str, str] = field(default_factory=dict)
    """Picture to what a model sees in it."""

    def for_child(self) -> dict[str, Any]:
        """What the official scorer is given."""
        return {
            "config": self.config,
            "answer": self.answer,
            "url": self.url,
            "content": self.content,
            "throws": self.throws,
            "pictures": self.pictures,
            "captions": [self.captions[name] for name in self.pictures] if self.captions else None,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """A case on which the two are not of one mind."""

    case: Case
    official: float | str
    ours: float | None
    reason: str


async def compared(package, dialect, setup, cases, folder):
    """Differences, how many official scores were 1, and what the scorer raised, how often."""
    scores = environment.run(package, [case.for_child() for case in cases], folder)
    differences = []
    for case, official in zip(cases, scores, strict=True):
        if isinstance(official, float):
            value, reason = await ours(dialect, setup, case, folder)
            if value != official:
                differences.append(Difference(case, official, value, reason))
    raised = Counter(score for score in scores if isinstance(score, str))
    return differences, sum(score == 1.0 for score in scores), raised


async def ours(dialect, setup, case, folder):
    """What our rules say of the case."""
    checking = Checking(dialect, setup, FileEntry(case.config["eval"], f"task {case.task}"))
    checks = checking.checks()
    probes = tuple(checking.probing.probes)
    task = Task("case@1", "", case.config["intent"], probes=probes, checks=checks)
    page = Observation("", case.url, "", ())
    evidence = {check.evidence: captured(case) for check in checks if "." not in check.evidence}
    episode = Trajectory(
        "case",
        task,
        steps=(Step(page, Decision(Answer(case.answer))),),
        last=page,
        ending=Ending.ANSWERED,
        evidence=evidence,
    )
    captions = {(folder / name).read_bytes(): said for name, said in case.captions.items()}
    means = Means(Comparing(captions), lambda name: (folder / Path(name).name).read_bytes())
    score = await checks_hold(means=means)(episode)
    return score.value, score.reason


def captured(case: Case) -> Json:
    """What the probe's script gives for what the locator gives; see `arena.scripts`."""
    if "page_image_query" in case.config["eval"]:
        return [*case.pictures]
    locator = case.config["eval"]["program_html"][0]["locator"].strip()
    content: Json = case.content
    if locator.startswith(("document.", "[...document.")):
        if case.throws:
            return ""
        if isinstance(content, int | float) and not isinstance(content, bool):
            return str(content)
        return "None" if content is None else content
    if locator.startswith("lambda:"):
        return False if case.throws or not content else content
    return content


def targets(evaluation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Its page checks, one at a time, where they count."""
    if "program_html" in evaluation["eval_types"]:
        yield from evaluation["program_html"]
