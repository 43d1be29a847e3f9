"""Tasks on the site `fossil@1`: tickets, wiki, forum, code and administration of a project."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from benchmarks.catalogue import Options
from benchmarks.fossil.tasks.template import TEMPLATES, VERSION
from tasks.suite import Suite, UnknownTask
from tasks.task import Task

__all__ = ["TEMPLATES", "suite"]

_MODULES = ("questions", "tickets", "pages", "administration", "infeasible")

for _module in _MODULES:  # importing a module registers its templates, in this order
    import_module(f"{__name__}.{_module}")


def suite(options: Options, subset: str = "") -> Suite:
    """All templates, or those that have the word `subset` among their skills; nothing has to be
    on this machine to make the tasks, only to play them."""
    chosen = {
        name: template
        for name, template in TEMPLATES.items()
        if not subset or subset in template.skills
    }

    def make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        if name not in chosen:
            raise UnknownTask(name, list(chosen))
        return chosen[name].task(seed)

    skills = sorted({skill for template in chosen.values() for skill in template.skills})
    groups = {
        skill: tuple(name for name, template in chosen.items() if skill in template.skills)
        for skill in skills
    }
    return Suite(f"fossil@{VERSION}", tuple(chosen), make, groups=groups)
