"""Exactly what each judge is shown of two recorded episodes, kept as files that people read."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from apps.imports.webvoyager import read_episode
from evaluators.judge import VARIANTS, JudgementReport, build_judge
from webagent.errors import StoreError
from webagent.models.canned import CannedModel, CannedRequest
from webagent.models.model import Capabilities
from webagent.records import Trajectory

GOLDEN = Path(__file__).parent / "golden"
EPISODES = ("taskArXiv--11", "taskGitHub--0")
SCREENSHOTS = {"taskArXiv--11": 7, "taskGitHub--0": 5}

KEY_POINTS = {
    "taskArXiv--11": (
        "1. [answer] whether a multi-language abstract is needed for submissions not in English\n"
        "2. [answer] the separator between several abstracts"
    ),
    "taskGitHub--0": (
        "1. [state] repositories are searched for 'climate change data visualization'\n"
        "2. [state] the results are sorted by most stars\n"
        "3. [answer] the project with the most stars"
    ),
}
FINDINGS = {
    "taskArXiv--11": [
        (1, "page 7", "Preparation of a multilingual abstract", "met"),
        (2, "nowhere", "", "cannot tell"),
    ],
    "taskGitHub--0": [
        (1, "page 5", 'button "climate change data visualization"', "met"),
        (2, "page 5", "Sort by: Most stars", "met"),
        (3, "page 5", "resource-watch/resource-watch … 63 stars", "met"),
    ],
}
COMPARISONS = {
    "taskArXiv--11": [(1, "agrees", "Line")],
    "taskGitHub--0": [(3, "agrees", "resource-watch/resource-watch")],
}
QUESTIONS = (
    "<reasoning>The list is sorted and read.</reasoning><success>Successful</success>"
    "<side>No</side><optimal>4. Completely Optimal</optimal><loop>No</loop>"
)


class Pictures:
    """Screenshots by their references, in memory."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def add(self, image: bytes, suffix: str) -> str:
        """Keeps one."""
        reference = f"{hashlib.sha256(image).hexdigest()}.{suffix}"
        self.held[reference] = image
        return reference

    def get(self, reference: str) -> bytes:
        """Looks one up."""
        if reference not in self.held:
            raise StoreError(f"no image {reference}")
        return self.held[reference]


def replies(variant: str, episode: str, *, is_rated: bool = False) -> list[str]:
    """What the model says, question by question."""
    if variant == "evidence":
        found = [
            {"point": number, "where": where, "quote": quote, "verdict": verdict}
            for number, where, quote, verdict in FINDINGS[episode]
        ]
        compared = [
            {"point": number, "agreement": agreement, "stated": stated}
            for number, agreement, stated in COMPARISONS[episode]
        ]
        said = [json.dumps({"findings": found}), json.dumps({"comparisons": compared})]
        return [KEY_POINTS[episode], *said]
    if variant == "webjudge":
        points = KEY_POINTS[episode].replace("[answer] ", "").replace("[state] ", "")
        count = SCREENSHOTS[episode]
        scores = [f"Reasoning: page {n}.\nScore: {1 if n < 4 else n - 2}" for n in range(1, count)]
        return [
            points,
            *scores,
            "Reasoning: the end.\nScore: 5",
            'Thoughts: all.\nStatus: "success"',
        ]
    return [QUESTIONS if variant == "agentrewardbench" else "It shows. SUCCESS"]


def written(requests: list[CannedRequest]) -> str:
    """The requests as people read them."""
    parts = []
    for number, request in enumerate(requests, start=1):
        parts.append(
            f"=== request {number}: n={request.n} temperature={request.temperature:g}"
            f" max_tokens={request.max_tokens}"
        )
        for message in request.messages:
            images = [hashlib.sha256(image).hexdigest()[:16] for image in message.images]
            parts.append(f"--- {message.role}\n{message.text}")
            parts.extend(f"[image {digest}]" for digest in images)
    return "\n".join(parts) + "\n"


async def examined(
    variant: str, folder: Path, *, can_look: bool = True
) -> tuple[JudgementReport, list[CannedRequest]]:
    """The judgement of one recorded episode, and what was asked for it."""
    pictures = Pictures()
    episode: Trajectory = read_episode(folder, pictures.add)
    model = CannedModel(replies(variant, folder.name), capabilities=Capabilities(images=can_look))
    judge = build_judge(variant, model, pictures.get)
    return await judge.examine(episode), model.requests


def compare(name: str, text: str) -> None:
    """The text is that of the golden file; with the variable set it becomes it."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("WEBAGENT_RENEW_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path} is missing; see {GOLDEN / 'README.md'}"
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize("variant", sorted(VARIANTS))
async def test_a_judge_is_shown_what_its_golden_file_holds(
    variant: str, episode: str, recorded_episodes: Path
) -> None:
    report, requests = await examined(variant, recorded_episodes / "webvoyager" / episode)

    assert len(requests) == len(replies(variant, episode)), report.reason
    compare(f"{variant}-{episode}", written(requests))


@pytest.mark.parametrize("variant", ["evidence", "agentrewardbench", "webvoyager"])
async def test_a_model_of_text_is_shown_the_texts_instead(
    variant: str, recorded_episodes: Path
) -> None:
    folder = recorded_episodes / "webvoyager" / "taskGitHub--0"
    report, requests = await examined(variant, folder, can_look=False)

    assert report.value == 1.0, report.reason
    assert not any(message.images for request in requests for message in request.messages)
    compare(f"{variant}-texts-taskGitHub--0", written(requests))


async def test_the_recorded_success_is_found_by_its_evidence(recorded_episodes: Path) -> None:
    folder = recorded_episodes / "webvoyager"
    success, _ = await examined("evidence", folder / "taskGitHub--0")
    unsure, _ = await examined("evidence", folder / "taskArXiv--11")

    assert success.value == 1.0, success.reason
    assert success.claim_check == "agrees"
    assert [point.is_looked_up for point in success.votes[0].points] == [True, True, True]
    assert unsure.value is None
    assert unsure.votes[0].points[1].verdict == "cannot tell"


def test_no_golden_file_is_left_over() -> None:
    expected = {f"{variant}-{episode}.txt" for variant in VARIANTS for episode in EPISODES}
    expected |= {
        f"{variant}-texts-taskGitHub--0.txt"
        for variant in ("evidence", "agentrewardbench", "webvoyager")
    }
    assert {path.name for path in GOLDEN.glob("*.txt")} == expected
