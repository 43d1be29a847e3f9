"""Tasks on the shop and its dashboard, checked by what they leave in its database."""

from importlib import import_module

from benchmarks.catalogue import Options
from benchmarks.oscar.tasks.template import TEMPLATES
from tasks.suite import Suite

__all__ = ["TEMPLATES", "suite"]

_MODULES = ("questions", "shopping", "accounts", "dashboard")
for _module in _MODULES:  # importing a module registers its templates, in this order
    import_module(f"{__name__}.{_module}")


def suite(options: Options, subset: str = "") -> Suite:
    """Return all templates; `subset` is a group: `customer`, `staff` or `infeasible`."""
    staff = [each.name for each in TEMPLATES.values() if each.login == "staff"]
    groups = {
        "customer": tuple(name for name in TEMPLATES if name not in staff),
        "staff": tuple(staff),
        "infeasible": tuple(n for n, each in TEMPLATES.items() if "infeasible" in each.skills),
    }
    return TEMPLATES.suite(groups, subset)
