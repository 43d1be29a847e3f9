"""A fixed suite on one page: three tasks of two templates, one of which cannot be done."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.catalogue import Options
from tasks.suite import Suite
from tasks.task import Task, TaskCheck
from webagent.records import Ending

PAGE = "<title>Toy</title><button onclick=\"document.title = 'Pressed'\">Press</button>"
NAMES = ("press", "press-again", "impossible")


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue; `files` is the page. With the subset `seeded` tasks differ by seed."""
    pressed = TaskCheck("title", "equals", "Pressed")
    base = Task(
        "toy/press@1",
        options.files.resolve().as_uri(),
        "Press the button.",
        max_steps=4,
        evidence={"title": "document.title"},
        checks=(pressed,),
        template="press",
    )
    made = {
        "press": base,
        "press-again": replace(base, id="toy/press-again@1"),
        "impossible": replace(
            base,
            id="toy/impossible@1",
            goal="Press the other button.",
            checks=(TaskCheck("episode.ending", "equals", str(Ending.GAVE_UP)),),
            template="impossible",
            skills=("infeasible",),
        ),
    }

    def make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        return replace(made[name], seed=seed)

    return Suite("toy@1", NAMES, make, is_seeded=subset == "seeded")
