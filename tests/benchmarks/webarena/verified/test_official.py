"""The rules, which give the package one check at a time, beside the package with its own tasks."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.rules import RULES
from benchmarks.webarena import webarena_verified
from benchmarks.webarena.rules.verified import network_events

SITES = {
    "shopping": ["http://localhost:7770"],
    "shopping_admin": ["http://localhost:7780/admin"],
    "reddit": ["http://localhost:9999"],
    "gitlab": ["http://localhost:8023"],
    "wikipedia": ["http://localhost:8888/wikipedia_en_all_maxi_2022-05/A/User:Kiwix/Landing"],
    "map": ["http://localhost:3000"],
    "homepage": ["http://localhost:4399"],
}
SOMETHING = [
    {
        "request": {"method": "GET", "url": "http://localhost:7780/admin", "headers": []},
        "response": {"status": 200, "headers": [], "cookies": [], "content": {}},
    }
]
HERE = Path(__file__).parent
PUBLISHED = json.loads((HERE / "published.json").read_text(encoding="utf-8"))

pytestmark = [pytest.mark.very_slow, pytest.mark.usefixtures("scorer")]


@pytest.fixture(scope="module")
def dataset(scorer: Path) -> Path:
    """The published tasks."""
    where = "import webarena_verified as w; print(w.__path__[0])"
    done = subprocess.run([scorer, "-c", where], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip()) / "assets" / "dataset"


def official(scorer: Path, jobs: list[Any]) -> list[list[float]]:
    """The official score of each evaluator for each job."""
    done = subprocess.run(
        [scorer, str(HERE / "scorer.py"), json.dumps(SITES)],
        input="\n".join(map(json.dumps, jobs)),
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def ours(dataset: Path, jobs: list[Any]) -> list[list[float | None]]:
    """The value of each check for each job."""
    made = webarena_verified.tasks(SITES, dataset / "webarena-verified.json")
    checks = {int(task.name): task.checks for task in made}
    scores = []
    for job in jobs:
        events = network_events({"log": {"entries": job["entries"]}})
        found = {"episode.answer": job["answer"], "network": events}
        scores.append(
            [
                RULES[check.rule](found[check.evidence], check.expected).value
                for check in checks[job["task"]]
            ]
        )
    return scores


def differences(scorer: Path, jobs: list[Any], here: list[list[float | None]]) -> list[str]:
    """Every job that the two score differently."""
    theirs = official(scorer, jobs)
    assert len(theirs) == len(here) == len(jobs)
    return [
        f"{json.dumps(job)[:1000]}: official {one}, ours {other}"
        for job, one, other in zip(jobs, theirs, here, strict=True)
        if one != other
    ]


def variant(task: int, data: Any) -> dict[str, Any]:
    answer = {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": data}
    return {"task": task, "answer": json.dumps(answer), "entries": SOMETHING}


def test_the_packages_own_answer_variants_are_scored_as_it_scores_them(scorer, dataset):
    kinds = [kind for _, kind, _, _ in PUBLISHED["variants"]]
    jobs = [variant(task, data) for task, _, _, data in PUBLISHED["variants"]]

    assert (kinds.count("valid"), kinds.count("invalid")) == (336, 63)
    assert differences(scorer, jobs, ours(dataset, jobs)) == []


def test_the_demo_logs_are_scored_as_the_package_scores_them(scorer, dataset):
    jobs = [
        {"task": int(task), "answer": log["answer"], "entries": SOMETHING}
        for task, log in PUBLISHED["demo"].items()
    ]

    scores = ours(dataset, jobs)

    assert [job["task"] for job in jobs] == [107, 108]
    assert scores == [[0.0], [1.0]]
    assert differences(scorer, jobs, scores) == []


def test_all_published_tasks_load_and_the_hard_ones_can_be_chosen(dataset):
    file = dataset / "webarena-verified.json"
    hard = webarena_verified.hard_subset(dataset / "subsets" / "webarena-verified-hard.json")

    assert len(webarena_verified.tasks(SITES, file)) == 812
    assert len(webarena_verified.tasks(SITES, file, only=hard)) == len(hard) == 258


def test_every_published_check_can_be_read(dataset):
    file = dataset / "webarena-verified.json"
    nothing = {"episode.answer": "", "network": []}
    unreadable = set()
    for task in webarena_verified.tasks(SITES, file):
        for check in task.checks:
            verdict = RULES[check.rule](nothing[check.evidence], check.expected)
            assert verdict.value in (0.0, 1.0)
            if "cannot be read" in verdict.reason:
                unreadable.add(task.name)

    assert unreadable == {"699", "700", "811"}
