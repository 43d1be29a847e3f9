"""Task templates: tasks whose values and wording are drawn from the seed.

The wordings lie beside the templates in a TOML file, so that they can be read, compared and added
to without the code: `NAME = [wording, ...]`, with the values in braces.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from tasks.suite import Suite, UnknownTask
from tasks.task import Check, PageHooks, Probe, Task


@dataclass(frozen=True, slots=True)
class EndState:
    """Checks with what they look at."""

    checks: tuple[Check, ...]
    queries: Mapping[str, str] = field(default_factory=dict)
    """Asked of the site's database."""
    probes: tuple[Probe, ...] = ()

    def __add__(self, other: "EndState") -> "EndState":
        return EndState(
            (*self.checks, *other.checks),
            {**self.queries, **other.queries},
            (*self.probes, *other.probes),
        )


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """One task of a template: the values of its goal, and how anyone can tell that it was done."""

    values: Mapping[str, object]
    end_state: EndState
    start: str = ""
    """Path of the page that it begins on; empty: that of the template."""


DrawTask: TypeAlias = Callable[[Random], TaskDraft]
"""Draws the values of a task."""


@dataclass(frozen=True, slots=True)
class TaskTemplate:
    """Tasks that differ in their values and their wording only."""

    name: str
    draw: DrawTask
    wordings: tuple[str, ...]
    login: str
    steps: int
    """What the scripted solution takes, at most."""
    skills: tuple[str, ...]


class TemplateSet(Mapping[str, TaskTemplate]):
    """The templates of a benchmark by name, in the order of their definition."""

    def __init__(
        self,
        suite_id: str,
        address: str,
        wordings: Path,
        *,
        start: Callable[[str], str] = lambda login: "/",
        hooks: PageHooks | None = None,
        spare_steps: int = 2,
    ) -> None:
        """`suite_id`, as `oscar@1`, is the site's too; `start` gives the path on which tasks of a
        login begin; tasks are given `spare_steps` more than twice the steps of their solution."""
        self._suite_id = suite_id
        self._address = address
        self._wordings = tomllib.loads(wordings.read_text(encoding="utf-8"))
        self._start = start
        self._hooks = hooks or PageHooks()
        self._spare_steps = spare_steps
        self._templates: dict[str, TaskTemplate] = {}

    def __getitem__(self, name: str) -> TaskTemplate:
        return self._templates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._templates)

    def __len__(self) -> int:
        return len(self._templates)

    def template(
        self, name: str, login: str, steps: int, skills: str
    ) -> Callable[[DrawTask], DrawTask]:
        """Register a function that draws the tasks of this name; `skills` has spaces between."""

        def register(draw: DrawTask) -> DrawTask:
            if name in self._templates:
                raise ValueError(f"two templates are called {name}")
            wordings = tuple(self._wordings[name])
            self._templates[name] = TaskTemplate(
                name, draw, wordings, login, steps, tuple(skills.split())
            )
            return draw

        return register

    def make(self, name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        """Make the task of a seed: the same words, values and checks every time. Raises
        `UnknownTask`."""
        if name not in self._templates:
            raise UnknownTask(name, tuple(self._templates))
        template, random = self._templates[name], Random(f"{name} {seed}")
        drawn = template.draw(random)
        benchmark, _, version = self._suite_id.partition("@")
        return Task(
            id=f"{benchmark}/{name}@{version}",
            start_url=self._address + (drawn.start or self._start(template.login)),
            # Drawn last: seeds keep their values where a wording is added.
            goal=random.choice(template.wordings).format_map(drawn.values),
            seed=seed,
            max_steps=2 * template.steps + self._spare_steps,
            hooks=self._hooks,
            checks=drawn.end_state.checks,
            probes=drawn.end_state.probes,
            records=("changes",),
            site=self._suite_id,
            login=template.login,
            queries=drawn.end_state.queries,
            template=name,
            skills=template.skills,
        )

    def suite(self, groups: Mapping[str, tuple[str, ...]], subset: str = "") -> Suite:
        """Return the suite of all templates, or of those in the group `subset`."""
        names = groups.get(subset, ()) if subset else tuple(self._templates)
        inside = {group: tuple(n for n in names if n in found) for group, found in groups.items()}
        return Suite(
            id=self._suite_id,
            names=names,
            make=self.make,
            groups={group: found for group, found in inside.items() if found},
        )
