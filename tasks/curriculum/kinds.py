"""Kinds: what tasks have in common, for balance and for what one says of another."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tasks.suite import Suite


@dataclass(frozen=True, slots=True)
class Kind:
    """Where a task is done and what it takes."""

    site: str = ""
    """Empty where pages are wherever their addresses say."""
    skills: tuple[str, ...] = ()
    is_demonstrated: bool = False
    """Whether the policy was trained on demonstrations of it."""


def kinds_of(
    suite: Suite, names: Sequence[str], demonstrated: Collection[str] = ()
) -> dict[str, Kind]:
    """The kind of each task, as the first task of its name has it."""
    first = {name: suite.task(name, 0) for name in names}
    return {
        name: Kind(task.site, task.skills, name in demonstrated) for name, task in first.items()
    }


def members(kinds: Mapping[str, Kind]) -> dict[str, list[str]]:
    """The names under each site and each skill, as `site fossil@1` and `skill search`."""
    found: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        groups = [f"site {kind.site}"] if kind.site else []
        for group in [*groups, *(f"skill {skill}" for skill in kind.skills)]:
            found.setdefault(group, []).append(name)
    return found


def alike(kinds: Mapping[str, Kind]) -> dict[str, list[list[str]]]:
    """For each task the groups of others that say most of it: with the same skill, else on the
    same site, else of all; demonstrated ones and others apart."""
    found = {}
    for name, kind in kinds.items():
        peers = [n for n, k in kinds.items() if k.is_demonstrated == kind.is_demonstrated]
        others = [n for n in peers if n != name]
        by_skill = [[n for n in others if skill in kinds[n].skills] for skill in kind.skills]
        on_site = [n for n in others if kinds[n].site == kind.site]
        groups = [group for group in by_skill if group] or [on_site or others]
        found[name] = [group for group in groups if group]
    return found
