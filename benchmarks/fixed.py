"""Suites of tasks that are the same for every seed, as published task files hold them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.catalogue import AddressError
from benchmarks.task_file import UnreadableTasks
from tasks.suite import Suite, UnknownTask
from tasks.task import Task


def suite_of(
    identity: str, tasks: Iterable[Task], missing: Mapping[str, Sequence[str]] | None = None
) -> Suite:
    """The suite of these tasks; its groups are their skills.

    `missing` has, by task name, the sites whose addresses a task lacks: it is listed, and making it
    raises `AddressError`. Raises `UnreadableTasks` for two tasks of one name.
    """
    known: dict[str, Task] = {}
    for task in tasks:
        if known.setdefault(task.name, task) is not task:
            raise UnreadableTasks(f"{identity}: two tasks are called {task.name!r}; expected one")
    lacking = missing or {}

    def make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        if name not in known:
            raise UnknownTask(name, list(known))
        if settings:
            raise ValueError(f"{known[name].id} has no settings; found {', '.join(settings)}")
        if lacking.get(name):
            raise AddressError(_needs(known[name].id, lacking[name]))
        return replace(known[name], seed=seed)

    return Suite(identity, tuple(known), make, groups=_groups(known), is_seeded=False)


def checked(addresses: Mapping[str, str], sites: Sequence[str], benchmark: str) -> dict[str, str]:
    """The addresses, without a slash at the end. Raises `AddressError` for one that is none."""
    for site, address in addresses.items():
        if site not in sites:
            known = ", ".join(sites)
            raise AddressError(
                f"{benchmark} has no site {site!r} to give an address; it has {known}"
            )
        if not address.startswith(("http://", "https://")):
            raise AddressError(
                f"the address of {site} is {address!r}; expected one as http://HOST:PORT"
            )
    return {site: address.rstrip("/") for site, address in addresses.items()}


def _needs(identity: str, sites: Sequence[str]) -> str:
    return (
        f"{identity} needs the address of {', '.join(sites)}, which you host yourself; give it "
        f"among the addresses, as {sites[0]}=http://HOST:PORT (docs/benchmarks.md)"
    )


def _groups(tasks: Mapping[str, Task]) -> dict[str, tuple[str, ...]]:
    words = dict.fromkeys(skill for task in tasks.values() for skill in task.skills)
    return {
        word: tuple(name for name, task in tasks.items() if word in task.skills) for word in words
    }
