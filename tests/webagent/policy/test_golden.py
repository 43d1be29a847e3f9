"""With every switch off the prompts are what they were before there were any, byte for byte."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.webagent.policy.scenes import (
    BLIND,
    HOME,
    RESULTS,
    SEARCHED,
    START,
    asked,
    step,
    under_way,
    written,
)
from webagent.observation.variants import VARIANTS
from webagent.records import Observation, Trajectory

GOLDEN = Path(__file__).parent / "golden"
LONG = under_way(*(step(HOME, "wait(1)", f"thought {n}") for n in range(45)))
PICTURED = replace(RESULTS, screenshot="shot", outcome="no effect")
SCENES: dict[str, tuple[Trajectory, Observation, dict[str, object]]] = {
    "start": (START, HOME, {}),
    "searched": (SEARCHED, RESULTS, {}),
    "no-effect": (SEARCHED, PICTURED, {"images": str.encode}),
    "blind": (SEARCHED, PICTURED, {"images": str.encode, "capabilities": BLIND}),
    "pruned": (SEARCHED, RESULTS, {"variant": VARIANTS["pruned"]}),
    "long": (LONG, HOME, {}),
    "repaired": (START, HOME, {"replies": ["hm", "Action: click(2)"]}),
}


@pytest.mark.parametrize("name", SCENES)
async def test_without_switches_a_prompt_is_what_it_always_was(name: str) -> None:
    trajectory, page, options = SCENES[name]
    _, requests = await asked(trajectory, page, **options)  # type: ignore[arg-type]

    assert written(requests[-1].messages) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
