"""Task templates: tasks whose values and wording are sampled from the seed.

The wordings lie beside the templates in a TOML file, so that they can be read, compared and added
to without the code: `NAME = [wording, ...]`, with the values in braces. Beside it, `choices.toml`
has what such values are sampled from, and `paraphrases.toml` other wordings that nothing is ever
learnt from.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from tasks.suite import Suite, UnknownTask, split_of
from tasks.task import PageHooks, Probe, Task, TaskCheck
from webagent.errors import UsageError

PARAPHRASED = "paraphrased"
"""The subset whose goals are said in wordings that are for measuring alone."""
UNQUOTED = "unquoted"
"""The same, with about half of the values without quotation marks."""
_QUOTED = re.compile(r'"([^"]*)"')
_TWO_ENDS = re.compile(r"(?<!\.)([.!?])\.(?=\s|$)")
"""A value's full stop and the sentence's own, of which people write one."""


@dataclass(frozen=True, slots=True)
class EndState:
    """Checks with what they look at."""

    checks: tuple[TaskCheck, ...]
    queries: Mapping[str, str] = field(default_factory=dict)
    """Asked of the site's database."""
    probes: tuple[Probe, ...] = ()

    def __add__(self, other: "EndState") -> "EndState":
        return EndState(
            (*self.checks, *other.checks),
            {**self.queries, **other.queries},
            (*self.probes, *other.probes),
        )


def given_up() -> EndState:
    """The agent has said that it cannot be done, and has changed nothing."""
    ending = TaskCheck("episode.ending", "equals", "gave up")
    return EndState((ending, TaskCheck("changes", "unchanged", [])))


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
        self._wordings = _read_toml(wordings)
        self._others = wordings.with_name("paraphrases.toml")
        self.choices = _read_toml(wordings.with_name("choices.toml"))
        """By name, what is not on the site and tasks are made of."""
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
        """Make a seed's task: always the same words, values and checks. Raises `UnknownTask`."""
        if name not in self._templates:
            raise UnknownTask(name, tuple(self._templates))
        template, random = self._templates[name], Random(f"{name} {seed}")
        sampled = template.draw(random)
        benchmark, _, version = self._suite_id.partition("@")
        return Task(
            id=f"{benchmark}/{name}@{version}",
            start_url=self._address + (sampled.start or self._start(template.login)),
            # Drawn last: seeds keep their values where a wording is added.
            goal=random.choice(template.wordings).format_map(sampled.values),
            seed=seed,
            max_steps=2 * template.steps + self._spare_steps,
            hooks=self._hooks,
            checks=sampled.end_state.checks,
            probes=sampled.end_state.probes,
            records=("changes",),
            site=self._suite_id,
            login=template.login,
            queries=sampled.end_state.queries,
            template=name,
            skills=template.skills,
        )

    def paraphrase(self, name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        """Make the task of a seed with the same values and checks, its goal said in a wording that
        nothing is learnt from; seeds take turns. Raises `UsageError` for a training seed."""
        task = self.make(name, seed, settings)
        if split_of(seed) == "train":
            raise UsageError(
                f"the wordings of {self._paraphrased} are for evaluation only, and seed {seed} is"
                " for training; give --split development or test, and learn on"
                f" {self._suite_id.partition('@')[0]}"
            )
        values = self._templates[name].draw(Random(f"{name} {seed}")).values
        wordings = _read_toml(self._others)[name]
        return replace(
            task,
            id=task.id.replace("/", f"-{PARAPHRASED}/", 1),
            goal=wordings[seed % len(wordings)].format_map(values),
        )

    def unquote(self, name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        """Make the paraphrased task of a seed with about half of its values as people write them,
        without quotation marks. Raises `UsageError` for a training seed."""
        task, random = self.paraphrase(name, seed, settings), Random(f"{name} {seed} marks")
        return replace(
            task,
            id=task.id.replace(f"-{PARAPHRASED}/", f"-{UNQUOTED}/", 1),
            goal=_TWO_ENDS.sub(
                r"\1", _QUOTED.sub(lambda each: each[random.random() < 0.5], task.goal)
            ),
        )

    @property
    def _paraphrased(self) -> str:
        return self._suite_id.replace("@", f"-{PARAPHRASED}@")

    def suite(self, groups: Mapping[str, tuple[str, ...]], subset: str = "") -> Suite:
        """Return the suite of all templates, of those in the group `subset`, or of all in other
        words for `paraphrased`, there with fewer marks for `unquoted`."""
        if subset == UNQUOTED:
            suite_id = self._suite_id.replace("@", f"-{UNQUOTED}@")
            return Suite(suite_id, tuple(self._templates), self.unquote, groups=groups)
        if subset == PARAPHRASED:
            return Suite(self._paraphrased, tuple(self._templates), self.paraphrase, groups=groups)
        names = groups.get(subset, ()) if subset else tuple(self._templates)
        inside = {group: tuple(n for n in names if n in found) for group, found in groups.items()}
        return Suite(
            id=self._suite_id,
            names=names,
            make=self.make,
            groups={group: found for group, found in inside.items() if found},
        )


@cache
def _read_toml(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))
