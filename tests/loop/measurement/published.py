"""Tasks on the shop in the files of every published benchmark, and all of them as one suite."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.catalogue import Options, find_benchmark
from tasks.suite import Suite
from tasks.task import Task
from tests.loop.measurement.shop import SHOP

ARENA: dict[str, Any] = {
    "sites": ["shopping"],
    "start_url": "__SHOPPING__/",
    "require_login": False,
    "storage_state": None,
    "geolocation": None,
    "instantiation_dict": {},
    "require_reset": False,
}
CART = {
    "url": "__SHOPPING__/cart",
    "locator": "document.querySelector('#cart').innerText",
    "required_contents": {"exact_match": "brass lamp"},
}


def arena(number: int, intent: str, **evaluation: Any) -> dict[str, Any]:
    """A task of WebArena's form."""
    base = {"reference_answers": None, "reference_url": "", "program_html": [], "string_note": ""}
    return {
        **ARENA,
        "task_id": number,
        "intent": intent,
        "intent_template": intent,
        "intent_template_id": number,
        "eval": {**base, **evaluation},
    }


WEBARENA = [
    arena(
        1,
        "What does the brass lamp cost?",
        eval_types=["string_match"],
        reference_answers={"exact_match": "12.50"},
    ),
    arena(
        2,
        "Open the lamps.",
        eval_types=["url_match"],
        reference_url="__SHOPPING__/lamps",
        url_note="GOLD in PRED",
    ),
    arena(3, "Buy the lamp.", eval_types=["program_html"], program_html=[CART]),
]
VISUAL = [
    {
        **arena(
            number,
            "Have a lamp like this on the page.",
            eval_types=["page_image_query"],
            page_image_query=[
                {
                    "eval_image_url": f"__SHOPPING__/{page}",
                    "eval_image_class": ".photo",
                    "eval_fuzzy_image_match": "__SHOPPING__/lamp.png",
                }
            ],
        ),
        "image": "__SHOPPING__/lamp.png",
    }
    for number, page in ((4, "wishlist"), (5, "other"))
]
CHORE = [
    {
        **arena(
            10001,
            "Count the lamps.",
            eval_types=["string_match"],
            reference_answers={"must_include": ["lamps: 17"]},
        ),
        "start_url_lite": "__SHOPPING__/",
        "required_obs": "any",
        "type_main": "calc",
        "type_sub": "calc",
        "description": "",
    }
]
VERIFIED = [
    {
        "sites": ["shopping"],
        "task_id": 21,
        "intent_template_id": 1,
        "start_urls": ["__SHOPPING__/lamps"],
        "intent": "Buy the lamp.",
        "revision": 2,
        "eval": [
            {
                "evaluator": "AgentResponseEvaluator",
                "results_schema": {"type": "null"},
                "expected": {"task_type": "mutate", "status": "SUCCESS", "retrieved_data": None},
            },
            {
                "evaluator": "NetworkEventEvaluator",
                "expected": {
                    "url": "__SHOPPING__/cart/add",
                    "http_method": "POST",
                    "post_data": {"item": "7"},
                },
            },
        ],
    }
]
KEY_NODES = [
    {
        "index": 40,
        "task": "Search for lamps and open the first.",
        "reference_task_length": 2,
        "evaluation": [
            {
                "match_function_name": "url_exactly_match",
                "content": {"key": "q", "reference_answer": "lamp", "url": f"{SHOP}/search?q=lamp"},
            },
            {
                "match_function_name": "element_path_exactly_match",
                "method": "selector",
                "content": {
                    "key": "",
                    "netloc": "shop",
                    "reference_answer": "#first",
                    "url": f"{SHOP}/search?q=lamp",
                },
            },
        ],
    }
]
ONLINE = [
    {
        "task_id": "aa11",
        "confirmed_task": "Open the lamps.",
        "website": f"{SHOP}/",
        "reference_length": 1,
        "level": "easy",
    }
]
VOYAGER = {"web_name": "Shop", "id": "Shop--0", "ques": "Which lamp is there?", "web": f"{SHOP}/"}
REFERENCES = {"Shop": {"notice": "", "answers": [{"id": 0, "type": "possible", "ans": "<lamp>"}]}}
GAIA = {
    "task_id": "g1",
    "Level": 1,
    "Final answer": "17",
    "id": "level1-0",
    "web": f"{SHOP}/",
    "ques": "How many lamps are there?",
}
FILES: dict[str, dict[str, Any]] = {
    "webarena": {"test.raw.json": WEBARENA},
    "visualwebarena": {
        "test_classifieds.raw.json": [],
        "test_reddit.raw.json": [],
        "test_shopping.raw.json": VISUAL,
    },
    "webchorearena": {"test_webchore.raw.json": CHORE},
    "webarena-verified": {"webarena-verified.json": VERIFIED},
    "mind2web-live": {"mind2web-live_test_20241024.json": KEY_NODES},
    "online-mind2web": {"Online_Mind2Web_06042025.json": ONLINE},
    "webvoyager": {"WebVoyager_data.jsonl": VOYAGER, "reference_answer.json": REFERENCES},
    "gaia-web": {"GAIA_web.jsonl": GAIA},
}


def write(folder: Path) -> Path:
    """The task files, those of each benchmark in a folder of its name."""
    for benchmark, files in FILES.items():
        (folder / benchmark).mkdir(parents=True)
        for name, content in files.items():
            (folder / benchmark / name).write_text(json.dumps(content))
    return folder


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue: what each benchmark's own loader makes of its files."""
    made: dict[str, Task] = {}
    for benchmark in FILES:
        assert options.files is not None
        files = options.files / benchmark
        has_sites = benchmark.startswith(("webarena", "visual", "webchore"))
        own = replace(options, files=files, addresses=options.addresses if has_sites else {})
        loaded = find_benchmark(benchmark).load(own)
        made |= {name: loaded.task(name, 0, "test") for name in loaded.names}

    def make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        return replace(made[name], seed=seed)

    return Suite("samples@1", tuple(made), make, is_seeded=False)
