"""A suite: named tasks, and seeds of which those for training are never those for measuring."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from tasks.task import Task

SPLITS = ("train", "development", "test")
"""In the order of their seeds: each has a range of its own, so that none can meet another."""
SEEDS_PER_SPLIT = 1_000_000

MakeTask = Callable[[str, int, Mapping[str, Any]], Task]


class UnknownTask(LookupError):
    """No task has this name; the message says which come close."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        close = get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"did you mean {', '.join(close)}?" if close else f"known: {', '.join(known[:20])}"
        super().__init__(f"unknown task {name!r}; {hint}")


def seed_of(split: str, index: int) -> int:
    """Return the index-th seed of a split. Raises `ValueError` outside the split's range."""
    if split not in SPLITS:
        raise ValueError(f"no split called {split!r}; there are {', '.join(SPLITS)}")
    if not 0 <= index < SEEDS_PER_SPLIT:
        raise ValueError(f"a split has seeds 0 to {SEEDS_PER_SPLIT - 1}, found {index}")
    return SPLITS.index(split) * SEEDS_PER_SPLIT + index


def split_of(seed: int) -> str:
    """Return the split a seed belongs to; empty for a seed of none."""
    place = seed // SEEDS_PER_SPLIT
    return SPLITS[place] if 0 <= place < len(SPLITS) else ""


@dataclass(frozen=True, slots=True)
class Suite:
    """A benchmark: its task names and how one of them is made."""

    id: str
    """Name and version, as `miniwob@1`; a change of what counts is a new version."""
    names: tuple[str, ...]
    make: MakeTask = field(repr=False)
    """Name, seed and generator settings to task; raises `UnknownTask`."""
    easier_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    """By task name: settings under which its generator makes easier pages."""
    harder_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    """By task name: settings under which its generator makes harder pages."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """Names for several tasks at once; `all` is every one."""
    is_seeded: bool = True
    """Whether a task differs from seed to seed; where not, every seed is the same task."""

    def select(self, names: Sequence[str]) -> tuple[str, ...]:
        """Task names, with those of groups written out, each once. Raises `UnknownTask`."""
        groups = {**self.groups, "all": self.names}
        chosen = dict.fromkeys(name for each in names for name in groups.get(each, (each,)))
        known = frozenset(self.names)
        for name in chosen:
            if name not in known:
                raise UnknownTask(name, (*self.names, *groups))
        return tuple(chosen)

    def task(
        self, name: str, index: int, split: str = "train", settings: Mapping[str, Any] | None = None
    ) -> Task:
        """Return the index-th task of this name in a split."""
        return self.make(name, seed_of(split, index), settings or {})

    def tasks(self, split: str, count: int, names: Sequence[str] = ()) -> list[Task]:
        """`count` tasks of each name, of all names when none are given."""
        return [
            self.task(name, index, split) for name in names or self.names for index in range(count)
        ]

    def easier(self, name: str) -> Mapping[str, Any]:
        """Settings that make this task easier; empty where the benchmark knows none."""
        return self.easier_settings.get(name, {})

    def harder(self, name: str) -> Mapping[str, Any]:
        """Settings that make this task harder; empty where the benchmark knows none."""
        return self.harder_settings.get(name, {})
