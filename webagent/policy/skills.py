"""Skills in parameter space: LoRA adapters of one base, found by the goals they learnt from.

After "Skill Expansion and Composition in Parameter Space" (Liu et al. 2025, arXiv 2502.05932): each
skill is an adapter, and several act together as a weighted sum of what they change of the base.
There a network learns the weights from the state; here they are the likeness of goals.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from tasks.task import Task
from webagent.errors import SetupError
from webagent.files import describe_invalid, write_whole
from webagent.models.model import Capabilities, Completion, Constraint, Message, Model, Tokens
from webagent.policy.knowledge import site_of
from webagent.records import Trajectory

if TYPE_CHECKING:
    from webagent.models.local import LocalModel

INDEX = "skills.json"
PREFIX = "skill-"
"""Of the names of adapters, so that none is that of a layer."""
_TOGETHER = 3
"""Adapters in a weighted sum, at most."""
_GOALS = 50
"""Goals noted of an adapter, at most, of different templates."""
Grouping: TypeAlias = Literal["skill", "site"]
Composition: TypeAlias = Literal["nearest", "weighted"]


@dataclass(frozen=True, slots=True)
class SkillAdapter:
    """What one adapter learnt from."""

    name: str
    """The skill or the site."""
    folder: str
    """Where its weights lie, in the folder of the index."""
    goals: tuple[str, ...]
    """One goal of each template; a new goal is compared with them."""
    sites: tuple[str, ...]
    rows: int
    tokens: int
    """That the training went through."""


@dataclass(frozen=True, slots=True)
class SkillIndex:
    """The adapters of a folder."""

    base: str
    """Folder or hub name of the model they were trained on."""
    by: Grouping
    """What there is an adapter for. By site, one of the episode's site comes before any other."""
    adapters: tuple[SkillAdapter, ...]
    composition: Composition = "nearest"
    """How adapters act: the likest alone, or the likest ones weighted by their likeness."""
    least: float = 0.4
    """Likeness of the likest goal, 0 to 1, below which the base acts alone."""

    def save(self, folder: Path) -> None:
        """Write it into the folder of the adapters."""
        write_whole(folder / INDEX, json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, folder: Path) -> "SkillIndex":
        """Return what `save` wrote or a person made of it. Raises `SetupError`."""
        from pydantic import TypeAdapter, ValidationError

        file = folder / INDEX
        try:
            found = TypeAdapter(cls).validate_json(file.read_bytes())
        except ValidationError as error:
            raise SetupError(f"{file}: {describe_invalid(error)}; correct it") from error
        except OSError as error:
            raise SetupError(f"{file} cannot be read: {error.strerror}") from error
        if not found.adapters:
            raise SetupError(f"{file} names no adapter; train again, or load {found.base} alone")
        if twice := [n for n, k in Counter(one.folder for one in found.adapters).items() if k > 1]:
            raise SetupError(f"{file} names the folder {twice[0]!r} twice; delete one entry")
        for one in found.adapters:
            if not re.fullmatch(r"[\w-]+", one.folder):
                raise SetupError(f"{file}: {one.folder!r} is no name of a folder beside it")
            if not (folder / one.folder / "adapter_config.json").is_file():
                raise SetupError(
                    f"{file} names the adapter {one.name!r}, but {folder / one.folder} holds none;"
                    " put it back, or delete the entry"
                )
            if not one.goals and not one.sites:
                raise SetupError(f"{file}: {one.name!r} has no goal and no site to be found by")
        return found

    def rank(self, goal: str, site: str) -> list[tuple[float, SkillAdapter]]:
        """Return the adapters with the likeness of their goals, the likest first."""
        # Loads numpy, which a live task without skills starts without.
        from webagent.memory.goals import compare_goals, read_goal

        asked = read_goal(goal)
        found = []
        for one in self.adapters:
            alike = max((compare_goals(read_goal(each), asked) for each in one.goals), default=0.0)
            is_here = self.by == "site" and site in one.sites
            found.append((1.0 if is_here else alike, one))
        return sorted(found, key=lambda pair: -pair[0])

    def weigh(self, goal: str, site: str) -> dict[str, float]:
        """Return the folders of the adapters that act, with weights that sum up to 1 in twentieths;
        empty where not even the likest is like enough."""
        likest = self.rank(goal, site)[: _TOGETHER if self.composition == "weighted" else 1]
        total = sum(alike for alike, _ in likest)
        if not total or likest[0][0] < self.least:
            return {}
        parts = {one.folder: round(20 * alike / total) / 20 for alike, one in likest}
        return {folder: part for folder, part in parts.items() if part}


def name_skill(task: Task, by: Grouping) -> str:
    """Return what an episode of the task belongs to: its first skill, or its template where it
    names none; or its site."""
    if by == "site":
        return site_of_task(task)
    return next(iter(task.skills), task.template or task.name)


def site_of_task(task: Task) -> str:
    """Return the site of a task: the application that is started, else the address."""
    return task.site or site_of(task.start_url)


def describe_sources(
    name: str, folder: str, episodes: Sequence[Trajectory], rows: int, tokens: int
) -> SkillAdapter:
    """Return the entry of an adapter that learnt from these episodes."""
    from webagent.memory.goals import read_goal

    goals = {read_goal(text).template: text for one in episodes if (text := _goal_of(one))}
    sites = sorted({site_of_task(one.task) for one in episodes})
    return SkillAdapter(name, folder, tuple(goals.values())[:_GOALS], tuple(sites), rows, tokens)


def _goal_of(episode: Trajectory) -> str:
    return episode.goal or episode.task.goal


class SkillModel:
    """A base with the adapters of an index, of which `suit` puts those on that a goal takes.

    Without it the base replies. The name of the weights, as decisions keep it, says who acted.
    """

    def __init__(self, model: "LocalModel", index: SkillIndex) -> None:
        self.model, self.index = model, index
        self._weigh = lru_cache(1024)(index.weigh)

    @property
    def name(self) -> str:
        """As the base's."""
        return self.model.name

    @property
    def capabilities(self) -> Capabilities:
        """As the base's."""
        return self.model.capabilities

    async def complete(
        self,
        prompt: Sequence[Message] | Tokens,
        *,
        n: int = 1,
        temperature: float = 0.0,
        seed: int | None = None,
        max_tokens: int = 1024,
        constraint: Constraint | None = None,
    ) -> Completion:
        """Return the base's replies."""
        return await self.model.complete(
            prompt,
            n=n,
            temperature=temperature,
            seed=seed,
            max_tokens=max_tokens,
            constraint=constraint,
        )

    def suit(self, goal: str, site: str, url: str) -> Model:
        """Return the base with the adapters for a goal; bare where none is like enough."""
        weights = self._weigh(goal, site or site_of(url))
        named = {f"{PREFIX}{folder}": part for folder, part in weights.items()}
        if len(named) < 2:
            return self.model.on_adapter(next(iter(named), None))
        return self.model.on_adapter(self.model.combine_adapters(named))

    async def close(self) -> None:
        """Give back the base."""
        await self.model.close()


def describe_skills(folder: str, episodes: Iterable[Trajectory]) -> str:
    """Return a sentence on which adapters acted; empty where the weights are no skills."""
    if not folder or not Path(folder, INDEX).is_file():
        return ""
    counts = Counter(_who_acted(one) for one in episodes if one.steps)
    told = ", ".join(f"{who} {count:,}" for who, count in counts.most_common())
    return f"skills, by the episodes they acted in: {told or 'none'}"


def _who_acted(episode: Trajectory) -> str:
    """Return the adapters of the first step, from the name of its weights."""
    adapter = episode.steps[0].decision.weights.partition("+")[2].partition("@")[0]
    return adapter.replace(PREFIX, "") or "the base alone"
