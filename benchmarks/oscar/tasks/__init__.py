"""Tasks on the shop and its dashboard, checked by what they leave in its database."""

from collections.abc import Mapping
from importlib import import_module
from random import Random
from typing import Any

from benchmarks.catalogue import Options
from benchmarks.oscar.tasks.template import CHANGES, TEMPLATES
from tasks.suite import Suite, UnknownTask
from tasks.task import Task

__all__ = ["suite"]

VERSION = 1
SITE = "oscar@1"
ADDRESS = "http://shop.test"
_MODULES = ("questions", "shopping", "accounts", "dashboard", "infeasible")
for _module in _MODULES:  # importing a module registers its templates, in this order
    import_module(f"benchmarks.oscar.tasks.{_module}")

_SPARE = 4
"""Steps that the shortest tasks have besides twice those of their solution."""


def suite(options: Options, subset: str = "") -> Suite:
    """All templates; `subset` is a group: `customer`, `staff` or `infeasible`."""
    staff = {name for name, template in TEMPLATES.items() if template.login == "staff"}
    impossible = {name for name, each in TEMPLATES.items() if "infeasible" in each.skills}
    groups = {
        "customer": tuple(name for name in TEMPLATES if name not in staff),
        "staff": tuple(name for name in TEMPLATES if name in staff),
        "infeasible": tuple(name for name in TEMPLATES if name in impossible),
    }
    return Suite(
        id=f"oscar@{VERSION}",
        names=groups[subset] if subset else tuple(TEMPLATES),
        make=_make,
        groups=groups,
    )


def _make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
    if name not in TEMPLATES:
        raise UnknownTask(name, tuple(TEMPLATES))
    template = TEMPLATES[name]
    case = template.write(Random(f"{name} {seed}"))
    return Task(
        id=f"oscar/{name}@{VERSION}",
        start_url=ADDRESS + template.start,
        goal=case.goal,
        seed=seed,
        max_steps=2 * template.steps + _SPARE,
        checks=case.checks,
        records=(CHANGES,),
        queries=case.queries,
        site=SITE,
        login=template.login,
        template=name,
        skills=template.skills,
    )
