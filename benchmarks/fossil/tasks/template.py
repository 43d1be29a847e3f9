"""Templates of tasks: words and values drawn from a seed, with what shows that it was done."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from benchmarks.fossil.tasks.outcome import Outcome
from tasks.task import PageHooks, Task

VERSION = 1
ADDRESS = "http://fossil.test"
_HOOKS = PageHooks(ignore=".tl-canvas, .tl-canvas *")
"""The dots and lines beside a timeline, of which there are hundreds, are no part of any task."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One task of a template: the words, the end state, and where it begins."""

    goal: str
    outcome: Outcome
    start: str = "/"


Ask: TypeAlias = Callable[[Random], Asked]


@dataclass(frozen=True, slots=True)
class Template:
    """Tasks that differ in their values only."""

    name: str
    ask: Ask
    login: str
    steps: int
    """Actions of the scripted solution, the longest one where they differ."""
    skills: tuple[str, ...]

    def task(self, seed: int) -> Task:
        """The task of a seed: the same words, values and checks every time."""
        asked = self.ask(Random(f"{self.name} {seed}"))
        return Task(
            id=f"fossil/{self.name}@{VERSION}",
            start_url=ADDRESS + asked.start,
            goal=asked.goal,
            seed=seed,
            max_steps=2 * self.steps + 2,
            hooks=_HOOKS,
            checks=asked.outcome.checks,
            probes=asked.outcome.probes,
            records=("changes",),
            site="fossil@1",
            login=self.login,
            queries=asked.outcome.queries,
            template=self.name,
            skills=self.skills,
        )


TEMPLATES: dict[str, Template] = {}
"""By name, in the order of their definition."""


def template(name: str, login: str, steps: int, skills: str) -> Callable[[Ask], Ask]:
    """Register a function that draws a task as the template of this name."""

    def register(ask: Ask) -> Ask:
        if name in TEMPLATES:
            raise ValueError(f"two templates are called {name}")
        TEMPLATES[name] = Template(name, ask, login, steps, tuple(skills.split()))
        return ask

    return register


def worded(draw: Random, *ways: str, **values: str) -> str:
    """One of several ways to say the same, with the values in their places."""
    return draw.choice(ways).format_map(_Quoted(values))


class _Quoted(dict[str, str]):
    """Values as they are, and between quotation marks where `{q_name}` asks for that."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.update({f"q_{name}": f'"{value}"' for name, value in values.items()})
