"""Tasks on the site `fossil@1`: tickets, wiki, forum, code and administration of a project."""

from importlib import import_module

from benchmarks.catalogue import Options
from benchmarks.fossil.tasks.template import TEMPLATES
from tasks.suite import Suite

__all__ = ["TEMPLATES", "suite"]

_MODULES = ("questions", "tickets", "pages", "administration")
for _module in _MODULES:  # importing a module registers its templates, in this order
    import_module(f"{__name__}.{_module}")


def suite(options: Options, subset: str = "") -> Suite:
    """Return all templates, or those that have the word `subset` among their skills; nothing has to
    be on this machine to make the tasks, only to play them."""
    skills = sorted({skill for template in TEMPLATES.values() for skill in template.skills})
    groups = {
        skill: tuple(name for name, template in TEMPLATES.items() if skill in template.skills)
        for skill in skills
    }
    return TEMPLATES.suite(groups, subset)
