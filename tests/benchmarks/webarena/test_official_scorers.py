"""Our rules beside the official scorers, on answers, addresses and pages made by the thousand."""

import json
import logging
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.webarena import visualwebarena, webarena
from benchmarks.webarena.schema import ScorerRules, Setup
from tests.benchmarks.webarena.official import mutations
from tests.benchmarks.webarena.official.scored import Case, compared, targets

SITES = ("shopping", "reddit", "gitlab", "map", "wikipedia", "classifieds", "homepage")
SETUP = Setup(
    {site: f"http://127.0.0.1:{7770 + n}" for n, site in enumerate(SITES)}
    | {"shopping_admin": "http://127.0.0.1:7780/admin"}
)
BENCHMARKS = {
    "webarena": (webarena.SCORER_RULES, ("webarena/test.raw.json",)),
    "visualwebarena": (
        visualwebarena.SCORER_RULES,
        tuple(f"visualwebarena/test_{name}.raw.json" for name in visualwebarena.FILES),
    ),
}
LARGER = {
    # No task of the two has these in its answers, or not in this combination.
    "webarena": [],
    "visualwebarena": [
        {"required_values": [">= 12", "< 700 |OR| == 1,000".replace(",", "")]},
        {"required_values": ["<= 5"]},
        {"must_exclude": ["art", "ask science", "5"]},
        {"one_of": ["red", "'blue'"], "must_include": ["1.04"]},
        {"must_include": ["5 |OR| five", "u.s. |OR| cannot"]},
        {"exact_match": "'quoted'"},
    ],
}

pytestmark = [pytest.mark.very_slow, pytest.mark.timeout(900)]
log = logging.getLogger(__name__)


def tasks_of(benchmarks: Path, package: str) -> list[dict[str, Any]]:
    """The raw tasks, with the addresses of the sites in them."""
    tasks = []
    for name in BENCHMARKS[package][1]:
        raw = (benchmarks / name).read_text(encoding="utf-8")
        for site, address in SETUP.sites.items():
            raw = raw.replace(f"__{site.upper()}__", address)
        tasks += json.loads(raw)
    return tasks


def texts(value: Any) -> list[str]:
    """The texts of a reference, whatever its form."""
    return [value] if isinstance(value, str) else list(value)


def answer_cases(package: str, tasks: list[dict[str, Any]], rng: random.Random) -> Iterator[Case]:
    """Answers to every task that is answered."""
    asked = [task for task in tasks if "string_match" in task["eval"]["eval_types"]]
    asked += [
        {"task_id": -n, "intent": "count", "eval": {"reference_answers": answers}}
        for n, answers in enumerate(LARGER[package], start=1)
    ]
    references = [task["eval"]["reference_answers"] for task in asked]
    everything = [text for each in references for value in each.values() for text in texts(value)]
    for task, reference in zip(asked, references, strict=True):
        note = task["eval"].get("string_note", "")
        config = {
            "intent": task["intent"],
            "eval": {
                "eval_types": ["string_match"],
                "reference_answers": reference,
                "string_note": note,
            },
        }
        expected = [text for value in reference.values() for text in texts(value)]
        made = [*mutations.answers(expected, everything, rng), note, f"I could not: {note}"]
        for inequality in reference.get("required_values", []):
            made += [text for text in mutations.numbers([inequality]) if isinstance(text, str)]
        for answer in dict.fromkeys(made):
            yield Case(task["task_id"], config, answer=answer)


def url_cases(tasks: list[dict[str, Any]], rng: random.Random) -> Iterator[Case]:
    """Addresses for every task that ends at one."""
    asked = [task for task in tasks if "url_match" in task["eval"]["eval_types"]]
    everything = [task["eval"]["reference_url"] for task in asked]
    for task in asked:
        kept = {
            key: task["eval"][key] for key in ("reference_url", "url_note") if key in task["eval"]
        }
        config = {"intent": task["intent"], "eval": {"eval_types": ["url_match"], **kept}}
        for url in dict.fromkeys(mutations.addresses(kept["reference_url"], everything, rng)):
            yield Case(task["task_id"], config, url=url)


def page_cases(tasks: list[dict[str, Any]], rng: random.Random) -> Iterator[Case]:
    """Contents for every part of a page that is looked at."""
    checked = [(task, target) for task in tasks for target in targets(task["eval"])]
    everything = [
        text
        for _, target in checked
        for value in target["required_contents"].values()
        for text in texts(value)
    ]
    for task, target in checked:
        (key, value), *_ = target["required_contents"].items()
        made = [*mutations.contents(texts(value), everything, rng)]
        if key == "required_values":
            made = [*mutations.numbers(value), "", 0, "many"]
        elif "func:" in target["locator"] or not target["locator"].strip():
            made = [content for content in made if isinstance(content, str)]
        config = {
            "intent": task["intent"],
            "eval": {"eval_types": ["program_html"], "program_html": [target]},
        }
        for content in rng.sample(made, min(len(made), 10)):
            yield Case(task["task_id"], config, content=content)
        if not target["locator"].startswith("func:") and target["locator"].strip():
            yield Case(task["task_id"], config, throws=True)


def whole_cases(tasks: list[dict[str, Any]], rng: random.Random) -> Iterator[Case]:
    """Whole tasks: an answer, an address and a page, each right or wrong."""
    for task in tasks:
        evaluation = task["eval"]
        if "page_image_query" in evaluation["eval_types"]:
            continue
        reference = evaluation.get("reference_answers") or {}
        answer = ", ".join(text for value in reference.values() for text in texts(value))
        url = (evaluation.get("reference_url") or "http://page.test/").split(mutations.OR)[0]
        looked = [target["required_contents"] for target in targets(evaluation)]
        wanted = [texts(value) for each in looked for value in each.values()]
        held = [text.split(mutations.OR)[0] for value in wanted for text in value] or ["nothing"]
        for _ in range(4):
            yield Case(
                task["task_id"],
                {"intent": task["intent"], "eval": evaluation},
                answer=rng.choice((answer, answer, "no")),
                url=rng.choice((url, url, f"{url}/more", "http://page.test/")),
                content=rng.choice((" ".join(held), held[0], "nothing")) or "nothing",
            )


@pytest.mark.parametrize("package", BENCHMARKS)
@pytest.mark.parametrize(
    ("kind", "least"), [("answers", 5000), ("addresses", 4000), ("pages", 5000), ("whole", 2000)]
)
async def test_our_rules_say_what_the_official_scorer_says(
    package, kind, least, benchmarks, tmp_path
):
    tasks, rng = tasks_of(benchmarks, package), random.Random(7)
    made = {
        "answers": lambda: answer_cases(package, tasks, rng),
        "addresses": lambda: url_cases(tasks, rng),
        "pages": lambda: page_cases(tasks, rng),
        "whole": lambda: whole_cases(tasks, rng),
    }
    cases = [*made[kind]()]
    dialect: ScorerRules = BENCHMARKS[package][0]

    differences, ones, raised = await compared(package, dialect, SETUP, cases, tmp_path)

    log.info("%s %s: %d cases, %d score 1, raised %s", package, kind, len(cases), ones, raised)
    told = [f"{d.case.task}: {d.official} {d.ours} {d.reason[:300]}" for d in differences[:20]]
    assert not differences, f"{len(differences)} of {len(cases)}:\n" + "\n".join(told)
    assert len(cases) >= least
    assert 0.05 * len(cases) < ones < 0.9 * len(cases)
    assert raised.total() < 0.05 * len(cases)
    assert len(Counter(case.task for case in cases)) > 50
